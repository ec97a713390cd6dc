// Review links: whoever has one reviews without a key.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { ReviewsPage } from "./frame.js";
import { CreateLink, RevokeLink } from "./link-dialogs.js";

export function Links({ query, mayAsk }) {
  const { data, problem, again } = useApi("review-links", { nextToken: query.token, limit: 50 });
  const [asked, setAsked] = useState(null);
  const close = () => setAsked(null);
  const columns = [
    { name: "reviewerId", title: "Reviewer", width: 10 },
    { name: "status", title: "Status", width: 6.5, cell: (one) => html`<${Badge}>${one.status}<//>` },
    { name: "expiresAt", title: "Expires", width: 6.5, cell: (one) => html`<${Time} at=${one.expiresAt} relative />` },
    { name: "lastUsedAt", title: "Last used", width: 7.5, cell: (one) => html`<${Time} at=${one.lastUsedAt} relative />` },
    { name: "actions", title: "", width: 7, cell: (one) => one.status === "active" && html`
        <button type="button" aria-label=${`Revoke the link of ${one.reviewerId}`} onClick=${() => setAsked(one)}>Revoke</button>` },
    { name: "reviewId", title: "For", width: 16.5, cell: (one) => (one.reviewId ? html`<a href=${link(["reviews", one.reviewId])}><code>${one.reviewId}</code></a>` : "all open reviews") },
    { name: "createdAt", title: "Made", width: 7, cell: (one) => html`<${Time} at=${one.createdAt} relative />` },
    { name: "createdBy", title: "Made by", width: 16.5, cell: (one) => html`<code>${one.createdBy}</code>` },
  ];
  return html`
    <${ReviewsPage} open="Links" mayAsk=${mayAsk} about="Whoever has a link reads open reviews and answers them, without a key, until it ends."
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked("new")}>New review link</button>`}>
      <${Table} label="Review links" problem=${problem} again=${again} columns=${columns} rows=${data?.links ?? null}
        empty=${html`<${Empty} title="No review links" command="autotune reviews link --reviewer NAME --hours 8">Make one for a person who has no key.<//>`} />
      <${Pager} path=${["reviews", "links"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${asked === "new" && html`<${CreateLink} onDone=${again} onClose=${close} />`}
    ${asked?.id && html`<${RevokeLink} which=${asked} onDone=${() => { close(); again(); }} onClose=${close} />`}
  `;
}

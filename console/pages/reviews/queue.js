// Reviews in one state, the oldest first.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Entered } from "../../components/entered.js";
import { Field } from "../../components/field.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { ReviewsPage } from "./frame.js";
import { CreateLink } from "./link-dialogs.js";

const STATES = ["open", "answered", "expired", "withdrawn"].map((state) => [state, state]);

export function Queue({ query, mayAsk }) {
  const state = query.state ?? "open";
  const asked = { state, taskId: query.task, nextToken: query.token, limit: 50 };
  const { data, problem, again } = useApi("reviews", asked, { every: query.token ? undefined : 15 });
  const [isAsked, setAsked] = useState(false);
  const isOpen = state === "open";
  const choose = (name) => (value) => {
    const { token, ...filters } = query;
    go(["reviews"], { ...filters, [name]: value });
  };
  const to = (page, id) => (mayAsk ? html`<a href=${link([page, id])}><code>${id}</code></a>` : html`<code>${id}</code>`);
  const columns = [
    { name: "id", title: "Review", width: 16.5, cell: (review) => html`<code>${review.id}</code>` },
    { name: "reason", title: "Asked because", width: 8.5, cell: (review) => words(review.reason) },
    ...(isOpen ? [{ name: "who", title: "With", width: 7.5, cell: (review) => html`<${Holder} review=${review} />` }] : []),
    { name: "createdAt", title: "Asked", width: 7, cell: (review) => html`<${Time} at=${review.createdAt} relative />` },
    ...(isOpen ? [{ name: "expiresAt", title: "Expires", width: 6.5, cell: (review) => html`<${Time} at=${review.expiresAt} relative />` }] : []),
    { name: "taskId", title: "Task", width: 17, cell: (review) => to("tasks", review.taskId) },
    ...(isOpen ? [] : [{ name: "completionId", title: "Completion", width: 16.5, cell: (review) => to("completions", review.completionId) }]),
  ];
  return html`
    <${ReviewsPage} open="Queue" mayAsk=${mayAsk} about="A person scores one completion; that score is its verdict. The oldest come first."
      actions=${mayAsk && html`<button type="button" class="primary" onClick=${() => setAsked(true)}>New review link</button>`}>
      <div class="filters">
        <${Field} label="State" name="state" value=${state} onInput=${(value) => choose("state")(value === "open" ? "" : value)} options=${STATES} problem=${problem} />
        <${Entered} label="Task" name="taskId" value=${query.task ?? ""} onEntered=${(value) => choose("task")(value.trim())} problem=${problem} placeholder="task_…" data-search />
      </div>
      <${Table} label="Reviews" problem=${problem} again=${again} columns=${columns} rows=${data?.reviews ?? null}
        href=${({ id }) => link(["reviews", id])} skeletons=${8} empty=${html`<${Nothing} state=${state} isNarrowed=${Boolean(query.task)} hasMore=${Boolean(data?.nextToken)} />`} />
      <${Pager} path=${["reviews"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${isAsked && html`<${CreateLink} onDone=${() => {}} onClose=${() => setAsked(false)} />`}
  `;
}

function Nothing({ state, isNarrowed, hasMore }) {
  if (hasMore) return html`<${Empty} title="Nothing on this page">There is more on the next page.<//>`;
  if (isNarrowed) return html`<${Empty} title=${`No reviews of this task are ${state}`} />`;
  if (state !== "open") return html`<${Empty} title=${`No reviews are ${state}`} command=${`autotune reviews list --state ${state}`} />`;
  return html`
    <${Empty} title="Nothing waits for a person" command="autotune tasks create --name NAME --grader GRADER_ID --review-sampled-share 0.05">
      A task has people asked where its graders are unsure or disagree, or for a share of all.
    <//>`;
}

/** Who is at an open review, or whom it is for. */
export function Holder({ review }) {
  const { lease, assigneeId } = review;
  if (lease) return html`${lease.holder} <${Badge}>at it<//>`;
  return assigneeId ? `for ${assigneeId}` : "anybody";
}

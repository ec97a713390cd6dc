// What people did, today and in all.

import { useApi } from "../../api.js";
import { Empty } from "../../components/empty.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { count } from "../../format.js";
import { html } from "../../preact.js";
import { ReviewsPage } from "./frame.js";

export function Reviewers({ query, mayAsk }) {
  const { data, problem, again } = useApi("reviews/progress", { nextToken: query.token, limit: 50 }, { every: query.token ? undefined : 30 });
  const figure = (name, title, width, cell) => ({ name, title, width, numeric: true, cell: (one) => count(cell(one)) });
  const columns = [
    { name: "reviewerId", title: "Reviewer", width: 15 },
    figure("today", "Today", 6, ({ today }) => today.answered),
    figure("answered", "Answered", 7, ({ total }) => total.answered),
    figure("second", "Second opinions", 9, ({ total }) => total.secondOpinions),
    figure("corrected", "Corrected", 7, ({ total }) => total.corrected),
    figure("cannot", "Could not judge", 9, ({ total }) => total.cannotJudge),
  ];
  return html`
    <${ReviewsPage} open="Reviewers" mayAsk=${mayAsk} about=${mayAsk ? "What each person did, today (by UTC) and in all." : "What you did, today (by UTC) and in all."}>
      <${Table} label="Reviewers" problem=${problem} again=${again} columns=${columns} rows=${data?.reviewers ?? null} id=${({ reviewerId }) => reviewerId}
        empty=${html`<${Empty} title="Nobody has reviewed yet" command=${mayAsk ? "autotune reviews link --reviewer NAME --hours 8" : "autotune reviews next"}>
          ${mayAsk ? "Give somebody a link, and they are here with their first answer." : "Your first answer counts here."}<//>`} />
      <${Pager} path=${["reviews", "reviewers"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

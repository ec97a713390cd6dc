// Fixing a rubric: edits with what they were measured to change, and the versions that came of them.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, difference } from "../../format.js";
import { html, useEffect, useState } from "../../preact.js";
import { link } from "../../router.js";
import { Edit } from "./edit.js";
import { Decide, Replay } from "./edit-dialogs.js";
import { AskForEdits, Proposal, isAsking } from "./edit-proposal.js";
import { GraderPage } from "./frame.js";

const SECONDS = 3;
const whileReplaying = ({ edit }) => (edit.status === "replaying" ? SECONDS : undefined);
const whileAsking = ({ proposal }) => (isAsking(proposal) ? SECONDS : undefined);

export function Fix({ deckId, id, query }) {
  const of = `decks/${deckId}/graders/${id}`;
  const path = ["decks", deckId, "graders", id];
  const one = useApi(of);
  const edits = useApi(`${of}/edits`, { limit: 20, nextToken: query.token });
  const proposal = useApi(`${of}/edits/proposals`, {}, { every: whileAsking });
  const versions = useApi(`${of}/versions`, { limit: 20 });
  const [asked, setAsked] = useState(null);
  const grader = one.data?.grader;
  const parts = [one, edits, proposal, versions];
  const isThere = parts.every(({ data }) => data !== null);
  const broken = parts.find(({ problem }) => problem !== null);
  const status = proposal.data?.proposal?.status;
  useEffect(() => {
    if (status === "completed" || status === "canceled") edits.again(); // with those that the model wrote
  }, [status]);
  const close = () => setAsked(null);
  const changed = () => {
    close();
    for (const part of parts) part.again();
  };
  const actions = isThere
    ? html`
      <a class="button" href=${link([...path, "propose"])}>Propose an edit</a>
      <button type="button" disabled=${isAsking(proposal.data.proposal)} onClick=${() => setAsked({ what: "model" })}>Have a model propose</button>`
    : null;
  return html`
    <${GraderPage} deckId=${deckId} id=${id} open="Fix" title=${grader?.name ?? "Grader"} about="Edits of the rubric, measured before they count." actions=${actions}>
      <${Trouble} problem=${broken?.problem} again=${broken?.again} />
      ${!isThere && !broken && html`<${FactsToCome} />`}
      ${isThere && html`
        <p class="note"><a href=${link([...path, "patterns"])}>Patterns</a> say where the judge errs, and <a href=${link([...path, "disagreements"])}>disagreements</a> on which samples. Choose by the development half; one edit goes on to the half that is held out.</p>
        <${Looks} grader=${grader} looks=${edits.data} />
        <${Proposal} of=${of} proposal=${proposal.data.proposal} onCanceled=${changed} />
        <${Section} title="Edits">
          ${edits.data.edits.length === 0 && html`<${Empty} title="No edits" command=${`autotune decks propose ${deckId} ${id} edit.json`}>An edit replaces a passage of the rubric. It changes nothing before it is accepted.<//>`}
          ${edits.data.edits.map((edit) => html`<${Edit} key=${edit.id} edit=${edit} current=${grader.version} ask=${(what) => setAsked({ what, edit })} />`)}
          <${Pager} path=${[...path, "fix"]} query=${query} nextToken=${edits.data.nextToken} />
        <//>
        <${History} path=${path} current=${grader.version} versions=${versions.data.versions} />
        ${edits.data.edits.filter(({ status: is }) => is === "replaying").map((edit) => html`<${Followed} key=${edit.id} of=${of} id=${edit.id} onOver=${changed} />`)}`}
    <//>
    ${asked?.what === "model" && html`<${AskForEdits} of=${of} onDone=${changed} onClose=${close} />`}
    ${(asked?.what === "development" || asked?.what === "holdout") && html`<${Replay} key=${asked.what} of=${of} edit=${asked.edit} split=${asked.what} onDone=${changed} onClose=${close} />`}
    ${["accept", "reject", "rollback"].includes(asked?.what) && html`<${Decide} of=${of} edit=${asked.edit} what=${asked.what} onDone=${changed} onClose=${close} />`}
  `;
}

// Whoever reads an edit alone has it measured, which a list does not.
function Followed({ of, id, onOver }) {
  const { data } = useApi(`${of}/edits/${id}`, {}, { every: whileReplaying });
  const isOver = data !== null && data.edit.status !== "replaying";
  useEffect(() => {
    if (isOver) onOver();
  }, [isOver]);
  return null;
}

function Looks({ grader, looks: { looks, nextAlpha } }) {
  return html`
    <${Stats}>
      <${Stat} label="Current version" value=${count(grader.version)} hint=${grader.status} />
      <${Stat} label="Looks spent" value=${count(looks)} hint="at the labels that are held out" />
      <${Stat} label="Level of the next" value=${String(nextAlpha)} hint="each look asks for more" />
    <//>
  `;
}

function History({ path, current, versions }) {
  const columns = [
    { name: "version", title: "Version", width: 8, cell: ({ version, candidate }) => html`${count(version)} ${version === current && html`<${Badge} tone="good">current<//>`}${candidate && html`<${Badge}>candidate<//>`}` },
    { name: "effect", title: "Δ when it was accepted", width: 14, cell: ({ effect, editId }) => effect
      ? html`${difference(effect.delta)}${effect.low === null ? "" : html` <span class="why">${difference(effect.low)} to ${difference(effect.high)}</span>`}`
      : html`<span class="nothing">${editId ? "not accepted" : "made without an edit"}</span>` },
    { name: "look", title: "Look", width: 5, numeric: true, cell: ({ effect }) => count(effect?.look) },
    { name: "note", title: "Note", width: 14, cell: ({ note }) => note || html`<span class="nothing">–</span>` },
    { name: "change", title: "", width: 8, cell: ({ version, parent }) => parent && html`<a href=${link(path, { a: parent, b: version })}>What changed</a>` },
    { name: "createdAt", title: "Made", width: 7, cell: ({ createdAt }) => html`<${Time} at=${createdAt} relative />` },
  ];
  return html`
    <${Section} title="Versions and their effects">
      <${Table} label="Versions and their effects" columns=${columns} rows=${versions} id=${({ version }) => version} />
    <//>
  `;
}

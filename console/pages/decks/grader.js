// One grader of a deck: its rubric, what is wrong with it, its judge, and how it came to be.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { Confirm } from "../../components/dialog.js";
import { LevelMark, Levels } from "../../components/levels.js";
import { Facts, FactsToCome, Section } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { TextDifference } from "../../components/text-difference.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, level, percent, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { GraderPage } from "./frame.js";
import { faultsOf } from "./lint.js";
import { TryOnThree } from "./run-dialogs.js";

export function Grader({ deckId, id, query }) {
  const of = `decks/${deckId}/graders/${id}`;
  const { data, problem, again } = useApi(of);
  const versions = useApi(`${of}/versions`, { limit: 20, nextToken: query.token });
  const [asked, setAsked] = useState(null);
  const grader = data?.grader;
  const isThere = grader && (versions.data || versions.problem);
  const close = () => setAsked(null);
  const changed = () => {
    close();
    again();
    versions.again();
  };
  return html`
    <${GraderPage} deckId=${deckId} id=${id} open="Rubric" title=${grader?.name ?? "Grader"} about="A rubric of seven levels, and the model that judges by it."
      actions=${isThere ? html`<${Actions} grader=${grader} ask=${setAsked} />` : null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`
        <${Rubric} grader=${grader} ask=${setAsked} />
        <${Versions} grader=${grader} versions=${versions} query=${query} ask=${(version) => setAsked({ version })} />
        ${query.a && query.b && html`<${Difference} key=${`${query.a}-${query.b}`} of=${of} a=${query.a} b=${query.b} />`}`}
    <//>
    ${asked === "try" && html`<${TryOnThree} deckId=${deckId} grader=${grader} onDone=${(run) => go(["decks", deckId, "runs", run.id])} onClose=${close} />`}
    ${asked?.version && html`<${Change} of=${of} title=${`Make version ${asked.version} current?`} yes="Make current" body=${asked} onDone=${changed} onClose=${close}>
      The next runs judge by it. Nothing is overwritten: version ${grader.version} stays.<//>`}
    ${asked === "active" && html`<${Change} of=${of} title=${`Activate ${grader.name}?`} yes="Activate" body=${{ status: "active" }} onDone=${changed} onClose=${close}>
      It grades samples from the next run on.<//>`}
    ${asked === "retired" && html`<${Change} of=${of} title=${`Retire ${grader.name}?`} yes="Retire" body=${{ status: "retired" }} onDone=${changed} onClose=${close}>
      It grades nothing any more. What it said stays.<//>`}
    ${asked === "delete" && html`<${Delete} of=${of} grader=${grader} onClose=${close} />`}
  `;
}

function Actions({ grader, ask }) {
  const { deckId, id, status } = grader;
  return html`
    <a class="button" href=${link(["decks", deckId, "graders", id, "edit"])}>Edit</a>
    <a class="button" href=${link(["labelling", deckId, id])}>Label</a>
    ${status !== "active" && html`<button type="button" class="primary" onClick=${() => ask("active")}>Activate</button>`}
    ${status === "active" && html`<button type="button" onClick=${() => ask("retired")}>Retire</button>`}`;
}

function Rubric({ grader, ask }) {
  const { rubric, judge } = grader;
  const faults = faultsOf(rubric);
  return html`
    ${faults.length > 0 && html`<div class="notice"><p>Before a model reads it:</p><ul class="lint">${faults.map(({ field, told }) => html`<li key=${field}>${told}</li>`)}</ul></div>`}
    <p class="criteria">${rubric.criteria}</p>
    <${Levels} texts=${rubric.levels} />
    ${rubric.notApplicableWhen && html`<p class="note">It does not apply when: ${rubric.notApplicableWhen}</p>`}
    ${rubric.examples.length > 0 && html`
      <details class="figures"><summary>${count(rubric.examples.length)} ${rubric.examples.length === 1 ? "example" : "examples"}</summary>
        ${rubric.examples.map((example, index) => html`
          <div key=${index} class="said-by">
            <h3>${example.input}</h3>
            <p>${example.output}</p>
            <p><${LevelMark} value=${example.level} /> ${example.explanation}</p>
          </div>`)}
      </details>`}
    <${Facts} facts=${[
      ["Id", html`<${Copy} text=${grader.id} />`],
      ["Status", html`<${Badge}>${grader.status}<//>`],
      ["Version", count(grader.version)],
      ["Made by", grader.origin === "person" ? html`<code>${grader.createdBy}</code>` : grader.origin],
      ["Judge", judge ? judge.model : "none yet: it cannot be activated"],
      ["Connection", judge && html`<a href=${link(["ledger", "connections", judge.connectionId])}><code>${judge.connectionId}</code></a>`],
      ["Parameters", judge && html`<code>${JSON.stringify(judge.params)}</code>`],
      ["Rated by several people", `${percent(grader.sharedShare)} of samples, by ${grader.sharedRaters}`],
      ["Published", grader.published && html`<a href=${link(["decks", grader.deckId, "graders", grader.id, "published"])}>version ${count(grader.published.version)}</a> ${calibrationMark(grader)}`],
      ["Digest", html`<code>${grader.digest.slice(0, 16)}</code>`],
    ]} />
    <div class="row-actions">
      ${judge && html`<button type="button" onClick=${() => ask("try")}>Try on three samples</button>`}
      ${grader.status === "proposed" && html`<button type="button" onClick=${() => ask("delete")}>Delete the grader</button>`}
    </div>
  `;
}

// Whether tasks may trust what is published.
function calibrationMark({ calibration, uncalibratedBecause }) {
  if (calibration?.suspended) return html`<${Badge} tone="trouble">calibration suspended<//>`;
  if (uncalibratedBecause) return html`<${Badge} tone="warning">not calibrated: ${words(uncalibratedBecause)}<//>`;
  return html`<${Badge} tone="good">calibrated<//>`;
}

function Versions({ grader, versions, query, ask }) {
  const path = ["decks", grader.deckId, "graders", grader.id];
  const columns = [
    { name: "version", title: "Version", width: 8, cell: ({ version, candidate }) => html`${count(version)} ${version === grader.version && html`<${Badge} tone="good">current<//>`}${candidate && html`<${Badge}>candidate<//>`}` },
    { name: "note", title: "Note", width: 16, cell: ({ note }) => note || html`<span class="nothing">–</span>` },
    { name: "change", title: "", width: 8, cell: ({ version, parent }) => parent && html`<a href=${link(path, { a: parent, b: version })}>What changed</a>` },
    { name: "createdAt", title: "Made", width: 7, cell: ({ createdAt }) => html`<${Time} at=${createdAt} relative />` },
    { name: "use", title: "", width: 9, cell: ({ version, candidate }) => version !== grader.version && !candidate && html`<button type="button" onClick=${() => ask(version)} aria-label=${`Make current: version ${version}`}>Make current</button>` },
    { name: "author", title: "By", width: 16.5, cell: ({ author }) => html`<code>${author}</code>` },
  ];
  return html`
    <${Section} title="Versions">
      <${Table} label="Versions" problem=${versions.problem} again=${versions.again} columns=${columns} rows=${versions.data?.versions ?? null} id=${({ version }) => version} skeletons=${1} />
      <${Pager} path=${path} query=${query} nextToken=${versions.data?.nextToken} />
    <//>
  `;
}

function Difference({ of, a, b }) {
  const before = useApi(`${of}/versions/${a}`);
  const after = useApi(`${of}/versions/${b}`);
  const problem = before.problem ?? after.problem;
  const isThere = before.data && after.data;
  const changes = isThere ? changesOf(before.data.version, after.data.version) : [];
  return html`
    <${Section} title=${`From version ${a} to ${b}`}>
      <${Trouble} problem=${problem} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && changes.length === 0 && html`<p class="nothing">No difference.</p>`}
      ${changes.map(([name, was, is]) => html`<div key=${name} class="text"><p class="text-head">${name}</p><${TextDifference} label=${`What changed in ${name}`} before=${was} after=${is} /></div>`)}
    <//>
  `;
}

// Only what differs: criteria, levels, and the rest.
function changesOf(before, after) {
  const parts = ({ rubric, judge }) => [
    ["Criteria", rubric.criteria],
    ...rubric.levels.map((text, index) => [`Level ${level(index - 3)}`, text]).toReversed(),
    ["When it does not apply", rubric.notApplicableWhen ?? ""],
    ["Examples", JSON.stringify(rubric.examples, null, 2)],
    ["Judge", JSON.stringify(judge, null, 2) ?? ""],
  ];
  const now = parts(after);
  return parts(before).map(([name, was], index) => [name, was, now[index][1]]).filter(([, was, is]) => was !== is);
}

function Change({ of, title, yes, body, onDone, onClose, children }) {
  const { act, problem, busy } = useAct();
  const change = async () => {
    if (await act(() => send("PATCH", of, body))) onDone();
  };
  return html`<${Confirm} title=${title} yes=${yes} busy=${busy} problem=${problem} onYes=${change} onClose=${onClose}>${children}<//>`;
}

function Delete({ of, grader, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", of))) !== undefined) go(["decks", grader.deckId]);
  };
  return html`<${Confirm} title=${`Delete ${grader.name}?`} yes="Delete" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>It was only proposed: its rubric goes. This cannot be undone.<//>`;
}

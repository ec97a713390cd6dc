// An edit by hand: the texts of the rubric as they are, of which those that are changed make the patch.

import { send, useAct, useApi } from "../../api.js";
import { Field } from "../../components/field.js";
import { LEVELS } from "../../components/levels.js";
import { FactsToCome, Page } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { level } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";

export function ProposeEdit({ deckId, id, query }) {
  const of = `decks/${deckId}/graders/${id}`;
  const { data, problem, again } = useApi(of);
  const grader = data?.grader;
  return html`
    <${Page} title=${grader ? `Edit of ${grader.name}` : "Edit"} about=${html`What you change here becomes an edit, and no version before it is accepted. <a href=${link(["decks", deckId, "graders", id, "fix"])}>To the edits</a>`}>
      <${Trouble} problem=${problem} again=${again} />
      ${!grader && !problem && html`<${FactsToCome} />`}
      ${grader && html`<${Form} key=${grader.version} of=${of} grader=${grader} pattern=${query.pattern ?? ""} />`}
    <//>
  `;
}

function Form({ of, grader, pattern }) {
  const { rubric, version, deckId, id } = grader;
  const before = { criteria: rubric.criteria, notApplicableWhen: rubric.notApplicableWhen ?? "", levels: rubric.levels };
  const [entered, setEntered] = useState({ ...before, pattern, description: "", note: "" });
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const enterLevel = (index) => (value) => setEntered((old) => ({ ...old, levels: old.levels.with(index, value) }));
  const patch = patchOf(before, entered);
  const propose = async (event) => {
    event.preventDefault();
    if (busy) return;
    const body = { baseVersion: version, patch, note: entered.note };
    if (entered.pattern) body.pattern = { name: entered.pattern, description: entered.description };
    if (await act(() => send("POST", `${of}/edits`, body))) go(["decks", deckId, "graders", id, "fix"]);
  };
  return html`
    <form class="form wide-form" onSubmit=${propose}>
      <${Field} label="What goes wrong" name="pattern.name" value=${entered.pattern} onInput=${enter("pattern")} problem=${problem} hint="In a few words" />
      ${entered.pattern && html`<${Field} label="In a sentence" name="pattern.description" value=${entered.description} onInput=${enter("description")} problem=${problem} />`}
      <${Field} label="Criteria" name="criteria" rows=${4} value=${entered.criteria} onInput=${enter("criteria")} />
      ${LEVELS.toReversed().map((one) => html`
        <${Field} key=${one} label=${`Level ${level(one)}`} name=${`levels[${one + 3}]`} rows=${2} value=${entered.levels[one + 3]} onInput=${enterLevel(one + 3)} />`)}
      <${Field} label="It does not apply when" name="notApplicableWhen" rows=${2} value=${entered.notApplicableWhen} onInput=${enter("notApplicableWhen")} />
      <${Field} label="Note" name="note" value=${entered.note} onInput=${enter("note")} problem=${problem} hint="What it changes, and why" />
      <${Trouble} problem=${problem} />
      <p class="hint" role="status">${patch.length === 0 ? "Nothing is changed yet." : `Changed: ${patch.map(nameOf).join(", ")}.`}</p>
      <div class="dialog-actions"><button type="submit" class="primary" disabled=${busy || patch.length === 0}>Propose</button></div>
    </form>
  `;
}

const nameOf = (change) => ({ criteria: "criteria", notApplicableWhen: "when it does not apply" })[change.field] ?? `level ${level(change.level)}`;

// A text as a whole stands in itself exactly once.
function patchOf(before, after) {
  const changes = [{ field: "criteria", find: before.criteria, replace: after.criteria }];
  for (const one of LEVELS) changes.push({ field: "level", level: one, find: before.levels[one + 3], replace: after.levels[one + 3] });
  changes.push({ field: "notApplicableWhen", find: before.notApplicableWhen, replace: after.notApplicableWhen });
  return changes.filter(({ find, replace }) => find !== replace);
}

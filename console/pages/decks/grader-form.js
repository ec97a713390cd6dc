// Writing a rubric: of a grader that is new, or another version of one.

import { send, useAct, useApi } from "../../api.js";
import { textOf } from "../../components/conversation.js";
import { Field } from "../../components/field.js";
import { LEVELS } from "../../components/levels.js";
import { FactsToCome, Page } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { level } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { faultsOf } from "./lint.js";

const BLANK = { criteria: "", levels: ["", "", "", "", "", "", ""], notApplicableWhen: null, examples: [] };
const MAX_TOKENS = 600;
const LEVEL_OPTIONS = LEVELS.map((one) => [String(one), level(one)]);

export function NewGrader({ deckId }) {
  const connections = useApi("llm-connections", { limit: 200 });
  const made = async (body) => (await send("POST", `decks/${deckId}/graders`, body)).grader.id;
  return html`
    <${Page} title="New grader" about="What is good and what is bad, in seven levels, of which each says what is to be seen.">
      ${connections.loading && !connections.data && html`<${FactsToCome} />`}
      ${(connections.data || connections.problem) && html`<${Form} deckId=${deckId} rubric=${BLANK} connections=${connections} isNew submit="Create" save=${made} />`}
    <//>
  `;
}

/** Another version; with `sample` in the query, that one as an example: what a rubric did not say. */
export function EditGrader({ deckId, id, query }) {
  const { data, problem, again } = useApi(`decks/${deckId}/graders/${id}`);
  const connections = useApi("llm-connections", { limit: 200 });
  const sample = useApi(query.sample ? `decks/${deckId}/samples/${query.sample}` : null);
  const grader = data?.grader;
  const isThere = grader && (connections.data || connections.problem) && (!query.sample || sample.data);
  const saved = async ({ name, ...version }) => {
    await send("POST", `decks/${deckId}/graders/${id}/versions`, { ...version, parent: grader.version });
    return id;
  };
  return html`
    <${Page} title=${grader ? `Edit ${grader.name}` : "Edit"} about=${html`A further version, which becomes the current one. <a href=${link(["decks", deckId, "graders", id])}>To the grader</a>`}>
      <${Trouble} problem=${problem ?? sample.problem} again=${again} />
      ${!isThere && !problem && !sample.problem && html`<${FactsToCome} />`}
      ${isThere && html`<${Form} deckId=${deckId} rubric=${grader.rubric} judge=${grader.judge} connections=${connections} submit="Save as a new version" save=${saved}
        example=${sample.data && exampleOf(sample.data.sample, query.level)} />`}
    <//>
  `;
}

function exampleOf(sample, given) {
  const asked = sample.request.messages.findLast(({ role }) => role === "user");
  return { input: asked ? textOf(asked) : "", output: textOf(sample.response.choices[0].message), level: given ?? "0", explanation: "", sampleId: sample.id };
}

function Form({ deckId, rubric, judge = null, connections, example: given = null, isNew = false, submit, save }) {
  const [name, setName] = useState("");
  const [entered, setEntered] = useState({ ...rubric, notApplicableWhen: rubric.notApplicableWhen ?? "", note: "", connectionId: judge?.connectionId ?? "", model: judge?.model ?? "" });
  const [example, setExample] = useState(given);
  const { act, problem, busy } = useAct();
  const enter = (field) => (value) => setEntered((old) => ({ ...old, [field]: value }));
  const enterLevel = (index) => (value) => setEntered((old) => ({ ...old, levels: old.levels.with(index, value) }));
  const enterExample = (field) => (value) => setExample((old) => ({ ...old, [field]: value }));
  const faults = faultsOf(entered);
  const send_ = async (event) => {
    event.preventDefault();
    if (busy) return;
    const id = await act(() => save(bodyOf({ name, entered, example, judge })));
    if (id) go(["decks", deckId, "graders", id]);
  };
  const told = (field) => faults.find((fault) => fault.field === field)?.told;
  const choices = [["", "none yet"], ...(connections.data?.connections ?? []).map((one) => [one.id, one.name])];
  return html`
    <form class="form wide-form" onSubmit=${send_}>
      ${isNew && html`<${Field} label="Name" name="name" value=${name} onInput=${setName} problem=${problem} required />`}
      <${Field} label="Criteria" name="rubric.criteria" rows=${3} value=${entered.criteria} onInput=${enter("criteria")} problem=${problem} hint="What is asked of the answer, and nothing else" required />
      ${LEVELS.toReversed().map((one) => html`
        <${Field} key=${one} label=${`Level ${level(one)}`} name=${`rubric.levels[${one + 3}]`} rows=${2} value=${entered.levels[one + 3]} onInput=${enterLevel(one + 3)} problem=${problem} hint=${entered.levels[one + 3] && told(`rubric.levels[${one + 3}]`)} required />`)}
      <${Field} label="It does not apply when" name="rubric.notApplicableWhen" rows=${2} value=${entered.notApplicableWhen} onInput=${enter("notApplicableWhen")} problem=${problem} hint="The judge then abstains: 0 is a level, and no abstention" />
      ${example && html`
        <fieldset class="said-by"><legend>A new example, of a sample</legend>
          <p>${example.output.slice(0, 400)}</p>
          <${Field} label="Its level" name="example.level" value=${example.level} onInput=${enterExample("level")} options=${LEVEL_OPTIONS} />
          <${Field} label="Why" name="rubric.examples" rows=${2} value=${example.explanation} onInput=${enterExample("explanation")} problem=${problem} />
        </fieldset>`}
      <div class="pairs">
        <${Field} label="Connection of the judge" name="judge.connectionId" value=${entered.connectionId} onInput=${enter("connectionId")} problem=${problem ?? connections.problem} options=${choices} />
        ${entered.connectionId && html`<${Field} label="Model" name="judge.model" value=${entered.model} onInput=${enter("model")} problem=${problem} required />`}
      </div>
      ${!isNew && html`<${Field} label="Note" name="note" value=${entered.note} onInput=${enter("note")} problem=${problem} hint="What it changes, and why" />`}
      ${faults.length > 0 && html`<div class="notice" role="status"><ul class="lint">${faults.map((fault) => html`<li key=${fault.field}>${fault.told}</li>`)}</ul></div>`}
      <${Trouble} problem=${problem} />
      <div class="dialog-actions"><button type="submit" class="primary" disabled=${busy}>${submit}</button></div>
    </form>
  `;
}

function bodyOf({ name, entered, example, judge }) {
  const { criteria, levels, examples, notApplicableWhen, note, connectionId, model } = entered;
  const more = example ? [{ ...example, level: Number(example.level) }] : [];
  return {
    name,
    rubric: { criteria, levels, notApplicableWhen: notApplicableWhen || undefined, examples: [...examples, ...more].map(withoutNothing) },
    // Parameters of the judge stay as they are; a new one answers shortly, and always alike.
    judge: connectionId ? { connectionId, model, params: judge?.params ?? { maxTokens: MAX_TOKENS, temperature: 0 } } : undefined,
    note: note || undefined,
  };
}

function withoutNothing(example) {
  return Object.fromEntries(Object.entries(example).filter(([, value]) => value !== null));
}

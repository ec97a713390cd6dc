// The certificate of a version that was trained: what it says, and how to check it.

import { useApi } from "../../api.js";
import { Copy } from "../../components/copy.js";
import { Facts, FactsToCome, Section } from "../../components/page.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, duration, nanoDollars, percent } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";

const NOT_FOUND = 404;
const SECOND_MS = 1_000;

export function Certificate({ name, number }) {
  const { data, problem, again } = useApi(`apprentice/tasks/${encodeURIComponent(name)}/versions/${number}/certificate`);
  const hasNone = problem?.status === NOT_FOUND;
  return html`
    <${Section} title="Certificate">
      ${hasNone && html`<p class="note">It has none: those have one that were trained here since there are certificates.</p>`}
      <${Trouble} problem=${hasNone ? null : problem} again=${again} />
      ${!data && !problem && html`<${FactsToCome} />`}
      ${data && html`<${Signed} name=${name} number=${number} signed=${data.certificate} />`}
    <//>
  `;
}

// Its figures are decimal strings, so that a signature of them holds.
function Signed({ name, number, signed: { certificate, keyId, algorithm } }) {
  const { data, test, cost, modelOf, trainedAt, issuedAt } = certificate;
  return html`
    <${Facts} facts=${[
      ["Signed", html`<${Time} at=${issuedAt} />`],
      ["Trained", html`<${Time} at=${trainedAt} />${modelOf && html`, by <a href=${link(["apprentice", name, "trainings", String(modelOf)])}>training ${count(modelOf)}</a>, whose model was kept`}`],
      ["Data", `${count(data.train)} examples, and ${count(data.holdout)} held out`],
      ["Hash of the data", html`<code>${data.sha256}</code>`],
      ["Test", `agrees in more than ${percent(Number(test.bound))} of ${count(test.groups)} groups of inputs`],
      ["Cost", `computed in ${duration(Number(cost.seconds) * SECOND_MS)}${cost.spentNanoUsd === 0 ? ", in functions of the platform" : `, for ${nanoDollars(cost.spentNanoUsd)}`}`],
      ["Key", html`<code>${keyId}</code>, ${algorithm}`],
    ]} />
    <${Copy} text=${`autotune apprentice certificate ${name} ${number} --verify`} />
  `;
}

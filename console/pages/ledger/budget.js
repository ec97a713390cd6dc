// The budget for language models: what its present periods have used, and its limits.

import { send, useAct } from "../../api.js";
import { Confirm, FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { Meter } from "../../components/meter.js";
import { Section } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { nanoDollars } from "../../format.js";
import { html, useState } from "../../preact.js";

const PERIODS = [["day", "dayUsd", "A day", "Today"], ["week", "weekUsd", "A week", "This week"], ["month", "monthUsd", "A month", "This month"]];

/** The budget as `useApi` has it. */
export function Budget({ budget, mayChange }) {
  const { data, problem, again } = budget;
  const [isAsked, setAsked] = useState(false);
  const change = mayChange && html`<button type="button" disabled=${!data} onClick=${() => setAsked(true)}>Change the budget</button>`;
  return html`
    <${Section} title="Budget" actions=${change}>
      <${Trouble} problem=${problem} again=${again} />
      <div class="meters" aria-busy=${data === null && problem === null}>
        ${PERIODS.map(([period, , , label]) => html`<${Used} key=${period} label=${label} use=${data?.periods.find((one) => one.period === period)} />`)}
      </div>
    <//>
    ${isAsked && html`<${Change} limits=${data.limits} onDone=${() => { setAsked(false); again(); }} onClose=${() => setAsked(false)} />`}
  `;
}

/** What one period has used. */
export function Used({ label, use }) {
  if (!use) return html`<${Meter} label=${label} whole=${"\u00a0"} most=${null} parts=${[]} />`;
  const { name, limitNanoUsd = null, spentNanoUsd, reservedNanoUsd } = use;
  const isFull = limitNanoUsd !== null && spentNanoUsd + reservedNanoUsd >= limitNanoUsd;
  return html`
    <${Meter} label=${`${label}, ${name}`} most=${limitNanoUsd} whole=${limitNanoUsd === null ? "no limit" : `of ${nanoDollars(limitNanoUsd)}`}
      parts=${[
        { name: "spent", value: spentNanoUsd, text: nanoDollars(spentNanoUsd), tone: isFull ? "trouble" : "accent" },
        { name: "reserved", value: reservedNanoUsd, text: nanoDollars(reservedNanoUsd), tone: "plain" },
      ]} />
  `;
}

// Asked twice: a limit that is too low stops what is queued, one that is too high is money.
function Change({ limits, onDone, onClose }) {
  const [entered, setEntered] = useState(Object.fromEntries(PERIODS.map(([, name]) => [name, limits[name] ?? ""])));
  const [isEntered, setIsEntered] = useState(false);
  const { act, problem, busy } = useAct();
  const amount = (name) => entered[name].trim();
  const change = async () => {
    const body = Object.fromEntries(PERIODS.filter(([, name]) => amount(name)).map(([, name]) => [name, amount(name)]));
    if (await act(() => send("PUT", "llm-budget", body))) onDone();
    else setIsEntered(false);
  };
  if (isEntered) {
    const said = (text) => (text ? `$${text}` : "no limit");
    return html`
      <${Confirm} title="Set the budget?" yes="Set" busy=${busy} onYes=${change} onClose=${() => setIsEntered(false)}>
        ${PERIODS.map(([, name, label]) => html`<span key=${name} class="change">${label}: ${said(limits[name])} → <b>${said(amount(name))}</b></span>`)}
        Where a limit has no room, requests wait in their queue until it has; what was sent goes on.
      <//>`;
  }
  return html`
    <${FormDialog} title="Change the budget" submit="Continue" busy=${busy} problem=${problem} onSubmit=${() => setIsEntered(true)} onClose=${onClose}>
      ${PERIODS.map(([, name, label]) => html`
        <${Field} key=${name} label=${`${label}, in US dollars`} name=${name} value=${entered[name]} problem=${problem} inputmode="decimal"
          onInput=${(value) => setEntered((old) => ({ ...old, [name]: value }))} hint="Empty: no limit" />`)}
    <//>
  `;
}

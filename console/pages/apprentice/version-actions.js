// What may be done with a version: have it serve, go back to the one before, take it out for good.

import { send, useAct } from "../../api.js";
import { Confirm } from "../../components/dialog.js";
import { count } from "../../format.js";
import { html, useState } from "../../preact.js";

// By what it is called here. In a canary the API's word for going back is the same.
const WORDS = { end: "rollback" };
const ASKED = {
  promote: { yes: "Promote", title: (number) => `Promote version ${number}?`, will: "It serves from now on, without the rest of its canary: all that it can answer is its, and its share of checks falls. An alarm takes it back at once." },
  rollback: { yes: "Go back", title: (number) => `Go back from version ${number}?`, will: "It is retired for good, if a version before it may serve, and that one answers within a minute. Its host stays for a day." },
  end: { yes: "Go back", title: (number) => `Go back from version ${number}?`, will: "Its canary ends, and it is retired for good. Whoever answers the other inputs answers all of them within a minute. Its host stays for a day." },
  retire: { yes: "Retire", title: (number) => `Retire version ${number}?`, will: "It answers nobody any more, for good. The version before it serves if its evidence says that it may, else the paid model does." },
};

/** Buttons of a version; `onDone` is called once one of them has done something. */
export function VersionActions({ name, version, stage, onDone }) {
  const [asked, setAsked] = useState(null);
  const may = whatMay(version.state, stage);
  const done = () => {
    setAsked(null);
    onDone();
  };
  return html`
    ${may.map((what) => html`<button key=${what} type="button" class=${what === "promote" ? "primary" : ""} onClick=${() => setAsked(what)}>${ASKED[what].yes}</button>`)}
    ${asked && html`<${Asked} key=${asked} what=${asked} name=${name} number=${version.number} onDone=${done} onClose=${() => setAsked(null)} />`}
  `;
}

// The rest is for the API to say.
function whatMay(state, stage) {
  if (state === "retired") return [];
  if (stage === "canary") return ["promote", "end"];
  return stage === "serves" ? ["rollback", "retire"] : ["retire"];
}

function Asked({ what, name, number, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const { yes, title, will } = ASKED[what];
  const go = async () => {
    const answer = await act(() => send("POST", `apprentice/tasks/${encodeURIComponent(name)}/versions/${number}/${WORDS[what] ?? what}`));
    if (answer) onDone();
  };
  return html`<${Confirm} title=${title(count(number))} yes=${yes} busy=${busy} problem=${problem} onYes=${go} onClose=${onClose}>${will}<//>`;
}

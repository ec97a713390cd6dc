// What all views of the ledger have: its head, and the way from one to the other.

import { Page } from "../../components/page.js";
import { Tabs } from "../../components/tabs.js";
import { html } from "../../preact.js";

const TABS = [
  [["ledger"], "Spend"],
  [["ledger", "requests"], "Requests"],
  [["ledger", "batches"], "Batches"],
  [["ledger", "connections"], "Connections"],
  [["ledger", "imports"], "Imports"],
];

/** A view of the ledger: `open` is the title of its tab; the rest as of `Page`. */
export function LedgerPage({ open, title = "Ledger", about, actions, children }) {
  return html`
    <${Page} title=${title} about=${about} actions=${actions}>
      <${Tabs} label="Parts of the ledger" tabs=${TABS} open=${open} />
      ${children}
    <//>
  `;
}

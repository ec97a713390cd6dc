// What all views of reviews have: the head, and the way from one to the other.

import { Page } from "../../components/page.js";
import { Tabs } from "../../components/tabs.js";
import { html } from "../../preact.js";

const TABS = [
  [["reviews"], "Queue"],
  [["reviews", "reviewers"], "Reviewers"],
  [["reviews", "agreement"], "Agreement"],
  [["reviews", "links"], "Links"],
];
const FOR_ALL = ["Queue", "Reviewers"];

/** A view of reviews: `open` is the title of its tab; the rest as of `Page`. */
export function ReviewsPage({ open, mayAsk, title = "Reviews", about, actions, children }) {
  const tabs = TABS.filter(([, name]) => mayAsk || FOR_ALL.includes(name));
  return html`
    <${Page} title=${title} about=${about} actions=${actions}>
      <${Tabs} label="Parts of reviews" tabs=${tabs} open=${open} />
      ${children}
    <//>
  `;
}

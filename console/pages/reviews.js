// Reviews: what people are asked, how they get on, how far they agree, and by which links they come.

import { html } from "../preact.js";
import { Agreement } from "./reviews/agreement.js";
import { Links } from "./reviews/links.js";
import { Queue } from "./reviews/queue.js";
import { Review } from "./reviews/review.js";
import { Reviewers } from "./reviews/reviewers.js";

const VIEWS = { agreement: Agreement, links: Links, reviewers: Reviewers };
// Whoever may ask people sees how far they agree, and makes links.
const ASKS = ["admin", "training_operator"];

export const title = "Reviews";

export default function Reviews({ path, query, me }) {
  const [view] = path;
  const mayAsk = ASKS.includes(me.role);
  if (view?.startsWith("rev_")) return html`<${Review} key=${view} id=${view} mayAsk=${mayAsk} />`;
  const View = (mayAsk || view === "reviewers" ? VIEWS[view] : undefined) ?? Queue;
  return html`<${View} query=${query} mayAsk=${mayAsk} />`;
}

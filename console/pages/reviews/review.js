// One review: what is judged, who is at it, and what they answered.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { Facts, FactsToCome, Section } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { score, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { ReviewsPage } from "./frame.js";
import { CreateLink } from "./link-dialogs.js";
import { Holder } from "./queue.js";

const ENDS = { keep: "the graders’ result counts", abstain: "the completion is abstained", fail: "the completion fails" };

export function Review({ id, mayAsk }) {
  const { data, problem, again } = useApi(`reviews/${id}`);
  const [asked, setAsked] = useState(null);
  const review = data?.review;
  const close = () => setAsked(null);
  const actions = mayAsk && review?.state === "open" && html`
    <button type="button" onClick=${() => setAsked("assign")}>Assign</button>
    <button type="button" onClick=${() => setAsked("link")}>New link to it</button>`;
  return html`
    <${ReviewsPage} open="Queue" mayAsk=${mayAsk} title="Review" about=${html`<${Copy} text=${id} />`} actions=${actions || null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!review && !problem && html`<${FactsToCome} />`}
      ${review && html`<${About} review=${review} mayAsk=${mayAsk} /><${Judged} review=${review} /><${Said} review=${review} />`}
    <//>
    ${asked === "assign" && html`<${Assign} review=${review} onDone=${() => { close(); again(); }} onClose=${close} />`}
    ${asked === "link" && html`<${CreateLink} reviewId=${id} onDone=${() => {}} onClose=${close} />`}
  `;
}

function About({ review, mayAsk }) {
  const isOpen = review.state === "open";
  const to = (page, id) => (mayAsk ? html`<a href=${link([page, id])}><code>${id}</code></a>` : html`<code>${id}</code>`);
  return html`
    <${Facts} facts=${[
      ["State", html`<${Badge}>${review.state}<//>`],
      ["Asked because", words(review.reason)],
      ["With", isOpen ? html`<${Holder} review=${review} />` : null],
      ["Held until", review.lease && html`<${Time} at=${review.lease.until} />`],
      ["Task", to("tasks", review.taskId)],
      ["Completion", to("completions", review.completionId)],
      ["Asked", html`<${Time} at=${review.createdAt} />`],
      ["Expires", isOpen ? html`<${Time} at=${review.expiresAt} />` : null],
      ["If nobody answers", isOpen ? ENDS[review.onExpiry] : null],
      ["Can be corrected until", review.correctableUntil && html`<${Time} at=${review.correctableUntil} />`],
    ]} />
  `;
}

function Judged({ review }) {
  const text = (label, it) => it && html`<div class="text"><p class="text-head">${label}</p><pre class="body" tabindex="0" aria-label=${label}>${it}</pre></div>`;
  return html`
    <${Section} title="Judged">
      ${text("Instructions", review.instructions)}
      ${review.rubrics.map(({ name, system, user }) => html`<div key=${name}>${text(`Rubric: ${name}`, [system, user].filter(Boolean).join("\n\n"))}</div>`)}
      ${review.dimensions.length > 0 && html`<p class="hint">Scored one by one: ${review.dimensions.join(", ")}.</p>`}
      ${text("Prompt", review.prompt)}
      ${text("Response", review.response)}
      ${text("Reference", review.reference)}
      ${text("Metadata", review.metadata && JSON.stringify(review.metadata, null, 2))}
      ${(review.prompt ?? null) === null && html`<p class="hint">${review.textTooLarge ? "The texts are too large to be shown." : "The texts were deleted."}</p>`}
    <//>
  `;
}

function Said({ review }) {
  const { answer } = review;
  const reasons = review.cannotJudge ?? [];
  const columns = [
    { name: "reviewerId", title: "Reviewer", width: 12 },
    { name: "reason", title: "Reason", width: 9, cell: (said) => words(said.reason) },
    { name: "explanation", title: "In their words", width: 22, cell: (said) => said.explanation || "–" },
    { name: "at", title: "When", width: 7.5, cell: (said) => html`<${Time} at=${said.at} relative />` },
  ];
  return html`
    ${answer && html`
      <${Section} title="Answered">
        <${Facts} facts=${[
          ["Score", html`<b>${score(answer.value)}</b>`],
          ["Confidence", score(answer.confidence)],
          ["By", answer.reviewerId],
          ["Saw the graders’ opinions first", answer.sawPreliminary ? "yes" : "no"],
          ["When", html`<${Time} at=${answer.answeredAt} />`],
          ["Corrected", answer.correctedAt && html`<${Time} at=${answer.correctedAt} />`],
          ...(answer.dimensions ?? []).map(({ name, value }) => [name, score(value)]),
          ["Explanation", answer.explanation],
        ]} />
      <//>`}
    ${reasons.length > 0 && html`<${Section} title="Could not judge"><${Table} label="Who could not judge" columns=${columns} rows=${reasons} id=${(said) => said.reviewerId} /><//>`}
  `;
}

function Assign({ review, onDone, onClose }) {
  const [assigneeId, setAssigneeId] = useState(review.assigneeId ?? "");
  const { act, problem, busy } = useAct();
  const assign = async () => {
    if (await act(() => send("POST", `reviews/${review.id}/assign`, { assigneeId: assigneeId.trim() || null }))) onDone();
  };
  return html`
    <${FormDialog} title="Whom is it for?" submit="Assign" busy=${busy} problem=${problem} onSubmit=${assign} onClose=${onClose}>
      <${Field} label="Reviewer" name="assigneeId" value=${assigneeId} onInput=${setAssigneeId} problem=${problem} hint="Empty: for anybody. Who else is at it loses it" />
    <//>
  `;
}

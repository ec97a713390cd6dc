// One review after the other: take the next, judge it, send the answer.

import { call, persist, Problem, token, Unreachable } from "./api.js";
import * as cannot from "./cannot-judge.js";
import * as criteria from "./criteria.js";
import * as drafts from "./drafts.js";
import { listenForKeys } from "./keys.js";
import * as lastAnswer from "./last-answer.js";
import * as progress from "./progress.js";
import * as reading from "./reading.js";
import * as score from "./score.js";
import { ENDED, LOST, sentence } from "./texts.js";

const HEARTBEAT_MS = 4 * 60_000;
const $ = (id) => document.getElementById(id);
const explanation = $("explanation");
const trouble = $("trouble");

let review = null;
let answered = 0;
let busy = false;
let active = false;
let skipped = [];
let correcting = false;
// What was open when a correction began.
let interrupted = null;

async function next() {
  const found = await persist(
    () => call("POST", "reviews/next?format=html", { skip: skipped }),
    (told) => notice("Waiting for the service", `${told} Trying again by itself.`),
  ).catch(end);
  if (found === undefined) return;
  if (found.review !== null) open(found.review);
  else if (found.skipped) {
    notice("Only what you skipped is left", "Everything else is done, or with other reviewers.", "Go through it again", () => {
      skipped = [];
      return next();
    });
  } else {
    const thanks = answered > 0 ? `You did ${answered}. Thank you. ` : "";
    notice("Nothing left to review", `${thanks}New reviews come in as they are asked for.`, "Look again", next);
  }
}

function open(taken) {
  review = taken;
  reading.show(review);
  criteria.show(review);
  const draft = drafts.find(review.id);
  score.set(draft?.value ?? null);
  explanation.value = draft?.explanation ?? "";
  complain(null);
  $("submit").disabled = false;
  $("notice").hidden = true;
  $("work").hidden = false;
  scrollTo(0, 0);
  $("prompt-title").focus({ preventScroll: true });
  announce(answered > 0 ? `Recorded. Next review; ${answered} done.` : "A review is open.");
}

async function submit() {
  if (review === null || busy) return;
  if (score.current() === null) {
    complain("Give a score first: a digit, the slider, or a button.");
    return;
  }
  const { id } = review;
  const step = correcting ? "correct" : "answer";
  const body = { value: score.current(), explanation: explanation.value };
  await exclusively(async () => {
    let recorded;
    try {
      recorded = await persist(
        () => call("POST", `reviews/${id}/${step}`, body),
        (told) => complain(`${told} What you entered is kept; trying again.`),
      );
    } catch (error) {
      lose(error);
      return;
    }
    drafts.forget(id);
    lastAnswer.remember(review, body, recorded.review.correctableUntil);
    progress.show();
    if (correcting) {
      announce("Corrected.");
      await goBack();
      return;
    }
    answered += 1;
    $("tally").hidden = false;
    $("tally").textContent = `${answered} done`;
    close();
    await next();
  });
}

function correctLast() {
  const last = lastAnswer.current();
  if (last === null || busy || correcting) return;
  keepDraft();
  interrupted = review;
  open(last.review);
  setCorrecting(true);
  score.set(last.body.value);
  explanation.value = last.body.explanation;
  announce("Your last answer is open again.");
}

function setCorrecting(is) {
  correcting = is;
  $("correcting").hidden = !is;
  $("cannot-button").hidden = is;
  // What graders said is not to be had of a review that is answered.
  if (is) $("graders-section").hidden = true;
  $("skip").firstChild.textContent = is ? "Back " : "Skip ";
}

/** Leave a correction for what was open before it. */
async function goBack() {
  setCorrecting(false);
  const before = interrupted;
  interrupted = null;
  close();
  if (before === null) await next();
  else open(before);
}

function cannotJudge() {
  if (review === null || busy || correcting) return;
  const { id } = review;
  cannot.ask((said) => exclusively(async () => {
    try {
      await persist(
        () => call("POST", `reviews/${id}/cannot-judge`, said),
        (told) => complain(`${told} Trying again.`),
      );
    } catch (error) {
      lose(error);
      return;
    }
    drafts.forget(id);
    close();
    await next();
  }));
}

async function skip() {
  if (review === null || busy) return;
  const { id } = review;
  if (correcting) {
    drafts.forget(id);
    await exclusively(goBack);
    return;
  }
  await exclusively(async () => {
    skipped = [...skipped, id].slice(-200);
    // One that could not be given back is free again when its lease runs out.
    await call("POST", `reviews/${id}/release`).catch(() => {});
    close();
    await next();
  });
}

async function toggleGraders() {
  if (review === null || !review.hasPreliminary || correcting) return;
  if (reading.gradersAreShown()) {
    reading.hideGraders();
    return;
  }
  const { id } = review;
  try {
    const answer = await call("GET", `reviews/${id}?include=preliminary`);
    if (review?.id !== id || answer.review.preliminary === null) return;
    reading.showGraders(answer.review.preliminary);
    announce("What graders said is shown.");
  } catch (error) {
    complain(error instanceof Unreachable ? `${sentence(error)} Try again.` : (LOST[error.code] ?? sentence(error)));
  }
}

// Whoever is reading or typing keeps the review; who went away leaves it to others.
async function beat() {
  const held = correcting ? interrupted : review;
  if (held === null || busy || !active) return;
  active = false;
  try {
    await call("POST", `reviews/${held.id}/claim`);
  } catch (error) {
    if (error instanceof Problem && !correcting) lose(error);
  }
}

async function exclusively(work) {
  busy = true;
  $("submit").disabled = true;
  $("form").setAttribute("aria-busy", "true");
  try {
    await work();
  } finally {
    busy = false;
    $("submit").disabled = false;
    $("form").removeAttribute("aria-busy");
  }
}

function lose(error) {
  if (error instanceof Unreachable) complain(`${sentence(error)} What you entered is kept: submit again when it is back.`);
  else if (error.code in LOST) complain(`${LOST[error.code]} What you entered is still here; Skip goes to the next one.`);
  else if (error.code in ENDED) complain(`${ENDED[error.code].join(". ")} What you entered is still here.`);
  else complain(`${sentence(error)} What you entered is still here.`);
}

function end(error) {
  const [title, text] = ENDED[error.code] ?? ["Something is in the way", sentence(error)];
  const done = error.code === "review_answered" && answered > 0;
  if (done) notice("Thank you", "Your review is recorded. There is nothing left to do here.");
  else if (error instanceof Problem && error.status === 401) notice(title, text);
  else notice(title, text, "Try again", next);
}

function close() {
  review = null;
  complain(null);
}

function notice(title, text, button = "", act = null) {
  close();
  $("work").hidden = true;
  $("notice").hidden = false;
  $("notice-title").textContent = title;
  $("notice-text").textContent = text;
  $("notice-button").hidden = act === null;
  $("notice-button").textContent = button;
  $("notice-button").onclick = act === null ? null : () => exclusively(act);
  (act === null ? $("notice-title") : $("notice-button")).focus();
  announce(`${title}. ${text}`);
}

function complain(text) {
  trouble.hidden = text === null;
  trouble.textContent = text ?? "";
  if (text !== null) trouble.scrollIntoView({ block: "nearest" });
}

function announce(text) {
  $("announcer").textContent = text;
}

function keepDraft() {
  if (review !== null && !correcting) drafts.keep(review.id, { value: score.current(), explanation: explanation.value });
}

function toggleHelp() {
  const help = $("help");
  if (help.open) help.close();
  else help.showModal();
}

score.onChange(() => {
  complain(null);
  announce(`Score ${score.current().toFixed(2)}`);
  keepDraft();
});
explanation.addEventListener("input", keepDraft);
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
$("skip").addEventListener("click", skip);
$("cannot-button").addEventListener("click", cannotJudge);
lastAnswer.onWanted(correctLast);
$("graders-button").addEventListener("click", toggleGraders);
$("raw-button").addEventListener("click", reading.toggleRaw);
$("help-button").addEventListener("click", toggleHelp);
listenForKeys({
  isOpen: () => review !== null,
  give: score.give,
  nudge: score.nudge,
  explain: () => explanation.focus(),
  submit,
  skip,
  cannotJudge,
  correctLast,
  toggleGraders,
  toggleRaw: reading.toggleRaw,
  toggleHelp,
});
for (const kind of ["keydown", "pointerdown", "wheel", "touchmove"]) {
  addEventListener(kind, () => { active = true; }, { passive: true });
}
setInterval(beat, HEARTBEAT_MS);
// Another link in the same tab is another reviewer.
addEventListener("hashchange", () => location.reload());

if (token === "") notice(...ENDED.unauthenticated);
else {
  next();
  progress.show();
}

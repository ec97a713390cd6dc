// What a review is judged by beside its instructions: rubrics, dimensions, reference, metadata.

const $ = (id) => document.getElementById(id);

/** Show what a review has of these, and nothing of what it has not. */
export function show(review) {
  const rubrics = review.rubrics.map(rubric);
  if (review.dimensions.length > 0) {
    rubrics.push(element("p", "", `Scored one by one: ${review.dimensions.join(", ")}.`));
  }
  $("rubrics").replaceChildren(...rubrics);
  $("criteria").hidden = rubrics.length === 0;
  fold("reference", review.reference);
  fold("metadata", review.metadata === null ? null : JSON.stringify(review.metadata, null, 2));
}

function fold(name, text) {
  $(name).textContent = text ?? "";
  $(`${name}-section`).hidden = text === null;
  $(`${name}-section`).open = false;
}

function rubric({ name, system, user, answer }) {
  const box = element("div", "rubric");
  box.append(element("h3", "", name), element("p", "range", range(answer)));
  if (system !== null) box.append(text(`System prompt of ${name}`, system));
  box.append(text(`Prompt of ${name}`, user));
  return box;
}

function range(answer) {
  if (answer.type === "label") {
    return `One of ${answer.labels.join(", ")}; ${answer.passingLabels.join(", ")} counts as 1.00, the rest as 0.00.`;
  }
  if (answer.type === "levels") return "Seven levels, from −3 (here 0.00) to 3 (here 1.00).";
  const passes = answer.passThreshold === null ? "" : ` ${answer.passThreshold} and more passes.`;
  return `From ${answer.minimum} (here 0.00) to ${answer.maximum} (here 1.00).${passes}`;
}

// What is long scrolls in its own box, by keys as well.
function text(label, content) {
  const made = element("pre", "", content);
  made.tabIndex = 0;
  made.setAttribute("role", "region");
  made.setAttribute("aria-label", label);
  return made;
}

function element(tag, kind, text = "") {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.textContent = text;
  return made;
}

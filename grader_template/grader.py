"""The grader. Replace the example below with your own judgement; keep the last line."""

import re

from autotune.grader import Abstain, GradedCompletion, GraderScore, ScoreDimension, grader

CONCISE_WORDS = 60
LONG_WORDS = 300


# Autotune shows the name to people; the version is stamped on every score, so change it whenever
# scores may change. Batches hold at most max_batch_size completions. max_concurrency calls run at
# the same time, a plain function in threads: give 1 if your code is not thread-safe.
@grader(
    name="Reference match",
    version="1.0.0",
    domains=["math"],
    max_batch_size=100,
    max_concurrency=8,
    supports_dimensions=True,
    supports_explanations=True,
    avg_latency_ms=5,
)
def reference_match(completion: GradedCompletion) -> GraderScore:
    """Judge whether a response ends on the reference in ``metadata.answer``.

    1.0: the last line holds it. 0.5: only an earlier line does, so the model found it and then went
    on to something else. 0.0: it is nowhere.
    """
    # YOUR LOGIC STARTS HERE. You get completion.prompt, .response and .metadata (what the trainer
    # attached), and .model_id if the task shares it. You may be async, call a model of yours, read
    # files next to this one. Whatever you raise fails this completion alone, and its text stays in
    # your log.
    reference = str(completion.metadata.get("answer", "")).strip()
    if not reference:
        # Better no score than a guessed one: the trainer leaves this completion out.
        raise Abstain("metadata.answer is missing")
    *earlier, last = completion.response.strip().splitlines() or [""]
    if holds(last, reference):
        correctness, reasoning = 1.0, "The last line holds the reference."
    elif any(holds(line, reference) for line in earlier):
        correctness, reasoning = 0.5, "An earlier line holds the reference, the last one does not."
    else:
        correctness, reasoning = 0.0, "No line holds the reference."

    # A plain number from 0 to 1 is enough: `return correctness`. What follows says more.
    return GraderScore(
        value=correctness,
        confidence=0.95,  # how sure you are, from 0 to 1
        dimensions=[  # shown only to trainers who ask for them
            ScoreDimension(name="correctness", value=correctness),
            ScoreDimension(name="concision", value=concision(completion.response), weight=0.0),
        ],
        reasoning=reasoning,  # kept only if you registered the grader with shareReasoning
    )
    # YOUR LOGIC ENDS HERE.


def holds(line: str, reference: str) -> bool:
    """Return whether ``reference`` stands in ``line`` as a whole, whatever its case and commas."""
    wanted = re.escape(plain(reference))
    return re.search(rf"(?<![\w.-]){wanted}(?!\w|[.]\d)", plain(line)) is not None


def plain(text: str) -> str:
    """Return ``text`` in lower case, without thousands separators and currency signs."""
    return re.sub(r"(?<=\d),(?=\d{3})|[$€£]", "", text).casefold()


def concision(response: str) -> float:
    """Return 1.0 up to 60 words, 0.0 from 300 words on, and evenly between."""
    words = len(response.split())
    return min(1.0, max(0.0, (LONG_WORDS - words) / (LONG_WORDS - CONCISE_WORDS)))


lambda_handler = reference_match.lambda_handler

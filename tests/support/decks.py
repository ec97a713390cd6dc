"""Decks for tests: how they are made, and what of."""

from typing import Any

from tests.support.platform import Platform

PROMPT = "You summarise {{document}} for {{reader}}.\nBe brief."
LEVELS = [
    "It invents what the document does not say, throughout.",
    "It invents a fact that matters.",
    "It invents a detail.",
    "It invents nothing and leaves out what matters.",
    "It leaves out a detail that matters.",
    "It has all that matters.",
    "It has all that matters, in as few words as that takes.",
]
RUBRIC: dict[str, Any] = {
    "criteria": "Is the summary faithful to the document?",
    "levels": LEVELS,
    "notApplicableWhen": "The output is no summary.",
    "examples": [
        {"input": "The sky is blue.", "output": "Sky: blue.", "level": 3, "explanation": "Yes."}
    ],
}


def new_deck(platform: Platform, *, api_key: str | None = None, **fields: Any) -> dict[str, Any]:
    """Make a deck; return it as the API shows it."""
    body = {"name": "summaries", "systemPrompt": PROMPT, **fields}
    answer = platform.call("POST", "/api/v1/decks", body, api_key=api_key)
    assert answer.status == 201, answer.text
    deck: dict[str, Any] = answer.json["deck"]
    return deck


def new_deck_grader(
    platform: Platform, deck_id: str, *, judge: Any = None, **fields: Any
) -> dict[str, Any]:
    """Make a grader of a deck; return it as the API shows it."""
    body = {"name": "faithful", "rubric": RUBRIC, "judge": judge, **fields}
    answer = platform.call("POST", f"/api/v1/decks/{deck_id}/graders", body)
    assert answer.status == 201, answer.text
    grader: dict[str, Any] = answer.json["grader"]
    return grader


def new_samples(platform: Platform, deck_id: str, *samples: dict[str, Any]) -> list[dict[str, Any]]:
    """Add samples to a deck; return them as the API shows them."""
    path = f"/api/v1/decks/{deck_id}/samples"
    answer = platform.call("POST", path, {"samples": list(samples)})
    assert answer.status == 201, answer.text
    added: list[dict[str, Any]] = answer.json["samples"]
    return added


def chat(*turns: str, output: str, system: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a sample as OpenAI has it: turns of a user, with answers between them."""
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": turn} for place, turn in enumerate(turns)]
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    message = {"role": "assistant", "content": output}
    return {
        "request": {"model": "m-asked", "messages": messages},
        "response": {"id": "r", "model": "m-1", "choices": [{"index": 0, "message": message}]},
        **fields,
    }

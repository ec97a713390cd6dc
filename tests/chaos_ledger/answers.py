"""What the fake answers in a round, and how that is read apart from the ledger's own code."""

import hashlib

LABELS = ("pass", "fail")


def name_in(prompt: str) -> str:
    """Return the name of the row that a prompt is of."""
    start = prompt.index("<")
    return prompt[start : prompt.index(">") + 1]


def verdict_of(name: str, time: int = 1) -> str | None:
    """Return the verdict that the fake gives on a row; None where it gives none.

    Args:
        time: how often it has been asked then; another time it may answer otherwise.
    """
    byte = _byte(name, time)
    return None if byte < 40 else LABELS[byte % 2]


def answer_of(prompt: str, time: int = 1) -> str | None:
    """Return what the fake answers: some do not end as they should."""
    if "<" not in prompt:
        return None
    name = name_in(prompt)
    verdict = verdict_of(name, time)
    if verdict is not None:
        return f"It names VERDICT: {name} early.\nVERDICT: {verdict}"
    if _byte(name, time) % 2:
        return f"No word on {name}."
    return f"A strange one: {name}.\nVERDICT: perhaps"


def verdict_in(output: str) -> str | None:
    """Return the verdict that an answer of the fake ends with; None where it is none of ours."""
    last = output.splitlines()[-1] if output else ""
    _, _, said = last.partition("VERDICT: ")
    return said if said in LABELS and last.startswith("VERDICT") else None


def _byte(name: str, time: int) -> int:
    return hashlib.sha256((name if time == 1 else f"{name} {time}").encode()).digest()[0]

"""A language model that is none: it judges replies of a support desk by a rubric of seven levels.

It stands in for a model, so that decks can be tried without a key:
``python examples/language_models/support_judge.py --port 8082``. What a reply deserves follows from
how many steps it names. The judge has a fault of the kind that real ones have: it takes courtesy
for help, unless the rubric says that courtesy does not count. One verdict in five is a level off.
"""

import hashlib
import re
from collections.abc import Sequence

MODEL = "support-judge"

LOWEST, HIGHEST = -3, 3
COURTESY_ADDS = 3

_TAG = r"<{0}-([0-9a-f]+)>\n(.*?)\n</{0}-\1>"
_RUBRIC = re.compile(_TAG.format("criteria"), re.DOTALL)
_RESPONSE = re.compile(_TAG.format("response"), re.DOTALL)
_STEP = re.compile(r"^\d\. ", re.MULTILINE)
_COURTESY = re.compile(r"thank you|so sorry|apologize", re.IGNORECASE)
_CLAUSE = re.compile(r"courtesy does not count", re.IGNORECASE)


def deserved(response: str) -> int:
    """Return the level of a reply: the more steps it names, the higher."""
    return min(len(_STEP.findall(response)) + LOWEST, HIGHEST)


def judge(texts: Sequence[str]) -> str:
    """Return reasoning, an explanation and a verdict on what stands in the prompt's tags."""
    prompt = "\n".join(texts)
    rubric, response = _RUBRIC.search(prompt), _RESPONSE.search(prompt)
    if rubric is None or response is None:
        return "There is no rubric.\nEXPLANATION: Nothing to judge by.\nVERDICT: ABSTAIN"
    criteria, reply = rubric[2], response[2]
    level = deserved(reply)
    is_courteous = _COURTESY.search(reply) is not None
    if is_courteous and _CLAUSE.search(criteria) is None:
        level += COURTESY_ADDS
    level = max(LOWEST, min(level + _noise(criteria, reply), HIGHEST))
    found = f"It names {len(_STEP.findall(reply))} steps"
    found += " and is courteous." if is_courteous else "."
    return f"{found}\nEXPLANATION: {found}\nVERDICT: {level}"


def _noise(criteria: str, reply: str) -> int:
    drawn = hashlib.sha256(f"{criteria}|{reply}".encode()).digest()[0] % 10
    return {0: -1, 1: 1}.get(drawn, 0)


if __name__ == "__main__":
    from chat_server import serve  # beside this file, which is run as a script

    serve(model=MODEL, answering=judge, description=__doc__)

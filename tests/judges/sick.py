"""A judge that is sick: each answer that is no verdict, and each fault of its provider, on demand.

A marker in the prompt brings an ailment on, wherever it stands: ``[[sick:seven]]`` each time that
the prompt is asked, ``[[sick:seven*1]]`` the first time only, so that a repair heals it. So does
``POST /_fake/ailments {"name": "seven", "times": 1, "contains": "parcel P1"}``, which needs no
marker. Whatever is not sick is answered by the judge that is well.
"""

import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from tests.judges.layout import judge_prompt
from tests.judges.prompts import said
from tests.providers.answers import Answerer, Ask, Reply, tokens_of
from tests.providers.state import World
from tests.providers.wire import ProviderError, Request

_MARKER = re.compile(r"\[\[sick:([a-z_]+)(?:\*(\d+))?\]\]")
_VERDICT = re.compile(r"^.*\bVERDICT\s*:.*$", re.MULTILINE)
OTHER_MODEL = "another-model-2026"
RETRY_AFTER = 1


@dataclass
class Ailment:
    """One that was brought on by the control API.

    Attributes:
        times: How often it strikes; None for ever.
        contains: A text that the prompt has to hold; None for any prompt.
    """

    name: str
    times: int | None = None
    contains: str | None = None
    struck: int = 0


class Sick:
    """Answers as its ailments say, else as the judge that is well.

    Attributes:
        well: Who answers otherwise.
        ailments: What was brought on.
        struck: How often each struck.
    """

    def __init__(self, well: Answerer) -> None:
        self.well = well
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self.ailments: list[Ailment] = []
        self.struck: Counter[str] = Counter()

    def __call__(self, ask: Ask) -> Reply | str | None:
        """Answers one prompt.

        Raises:
            ProviderError: If the ailment is one of the provider, or is not known.
        """
        with self._lock:
            name = self._ailment(ask)
        if name is None:
            return self.well(ask)
        if name not in SYMPTOMS:
            raise ProviderError(400, "invalid", f"No ailment is called {name!r}.")
        return SYMPTOMS[name](ask, self.well)

    def bring_on(self, name: str, **fields: Any) -> Ailment:
        """Brings an ailment on.

        Raises:
            ValueError: If none is called so.
        """
        if name not in SYMPTOMS:
            raise ValueError(f"no ailment is called {name!r}")
        made = Ailment(name, **fields)
        self.ailments.append(made)
        return made

    def serve(self, world: World) -> None:
        """Lets a fake of providers answer so, and adds the routes that bring ailments on."""
        world.answers.answerer = self
        world.more_controls[("POST", "/ailments")] = self._bring_on
        world.more_controls[("GET", "/ailments")] = self._report
        world.more_controls[("DELETE", "/ailments")] = self._heal

    def _ailment(self, ask: Ask) -> str | None:
        for one in self.ailments:
            if one.times is not None and one.struck >= one.times:
                continue
            if one.contains is None or one.contains in ask.prompt:
                one.struck += 1
                self.struck[one.name] += 1
                return one.name
        for name, times in _MARKER.findall(ask.prompt):
            key = (name, _question(ask))
            self._asked[key] += 1
            if not times or self._asked[key] <= int(times):
                self.struck[name] += 1
                return str(name)
        return None

    def _bring_on(self, world: World, request: Request) -> Any:
        document = request.document()
        return asdict(self.bring_on(document.pop("name"), **document))

    def _report(self, world: World, request: Request) -> Any:
        return {
            "names": list(SYMPTOMS),
            "ailments": [asdict(one) for one in self.ailments],
            "struck": dict(self.struck),
        }

    def _heal(self, world: World, request: Request) -> Any:
        self.ailments.clear()
        return self._report(world, request)


def _question(ask: Ask) -> str:
    """The same for a question and its repair, which has words more."""
    prompt = judge_prompt(ask)
    if prompt is None:
        return ask.prompt
    return f"{ask.model} {prompt.rubric.digest} {prompt.sample.digest}"


Symptom = Callable[[Ask, Answerer], Reply]


def _reply(ask: Ask, well: Answerer) -> Reply:
    answered = well(ask)
    if isinstance(answered, Reply):
        return answered
    return Reply(said("It looks right.", "It looks right.", 1) if answered is None else answered)


def _ending(ending: str) -> Symptom:
    """The well answer, with another ending in place of its verdict."""

    def answer(ask: Ask, well: Answerer) -> Reply:
        reply = _reply(ask, well)
        found = list(_VERDICT.finditer(reply.text))
        kept = reply.text[: found[-1].start()].rstrip() if found else reply.text
        return replace(reply, text=f"{kept}\n{ending}".rstrip())

    return answer


def _but(**changes: Any) -> Symptom:
    return lambda ask, well: replace(_reply(ask, well), **changes)


def _truncated(ask: Ask, well: Answerer) -> Reply:
    """Cut before its verdict."""
    reply = _reply(ask, well)
    return replace(reply, text=reply.text[: len(reply.text) // 2], finish="length")


def _cut_in_the_verdict(ask: Ask, well: Answerer) -> Reply:
    """Cut behind ``VERDICT: -``, or where only part of the number is there."""
    reply = _ending("VERDICT: -")(ask, well)
    return replace(reply, finish="length")


def _quoted(ask: Ask, well: Answerer) -> Reply:
    """The whole prompt once more, and then the verdict: a sample's words are in the answer."""
    reply = _reply(ask, well)
    return replace(reply, text=f"I was asked:\n{ask.prompt}\n{reply.text}")


def _quoted_last(ask: Ask, well: Answerer) -> Reply:
    """The verdict, and then what was asked: a verdict that has words behind it is none."""
    reply = _reply(ask, well)
    asked = ask.texts[-1] if ask.texts else ask.system
    return replace(reply, text=f"{reply.text}\nFor I was asked:\n{asked}")


def _refused(ask: Ask, well: Answerer) -> Reply:
    return Reply("I cannot help with that.", finish="refusal")


def _refused_in_words(ask: Ask, well: Answerer) -> Reply:
    return Reply("I'm sorry, but I can't judge this content.")


def _rate_limited(ask: Ask, well: Answerer) -> Reply:
    raise ProviderError(429, "rate", "Rate limit reached.", retry_after=RETRY_AFTER)


def _server_error(ask: Ask, well: Answerer) -> Reply:
    raise ProviderError(500, "server", "The server had an error.")


def _empty(ask: Ask, well: Answerer) -> Reply:
    return Reply("", has_token=False)


def _reasons_without_end(ask: Ask, well: Answerer) -> Reply:
    words = "and then again, on the other hand, "
    limit = ask.max_tokens or 1_000
    return Reply(words * (1 + limit * 4 // len(words)) if tokens_of(words) else "")


# What each answers; those of `LEVELS_ALL_THE_SAME` are verdicts, all others are not.
SYMPTOMS: dict[str, Symptom] = {
    "half_score": _ending("VERDICT: 1.5"),
    "half_in_words": _ending("VERDICT: between 1 and 2"),
    "seven": _ending("VERDICT: 7"),
    "minus_four": _ending("VERDICT: -4"),
    "out_of_five": _ending("VERDICT: 2/5"),
    "in_words": _ending("VERDICT: two"),
    "no_verdict": _ending(""),
    "no_number": _ending("VERDICT:"),
    "two_verdicts": _ending("VERDICT: 2\nOn second thought:\nVERDICT: -1"),
    "level_and_abstention": _ending("VERDICT: 2\nVERDICT: NOT_APPLICABLE"),
    "truncated": _truncated,
    "cut_in_the_verdict": _cut_in_the_verdict,
    "without_end": _reasons_without_end,
    "refusal": _refused,
    "refusal_in_words": _refused_in_words,
    "empty": _empty,
    "injection_echo": _quoted,
    "injection_echo_last": _quoted_last,
    "rate_limited": _rate_limited,
    "server_error": _server_error,
    "no_usage": _but(tells_usage=False),
    "other_model": _but(served_model=OTHER_MODEL),
}
LEVELS_ALL_THE_SAME = frozenset(["injection_echo", "no_usage", "other_model"])
OF_THE_PROVIDER = frozenset(["rate_limited", "server_error"])

"""A model that writes graders and edits for the planted judge; answers are JSON alone.

It tells what it is asked by the field that its answer is to have (`TASKS`): by the JSON Schema of
the request where there is one, else by the field's name in quotes in the prompt. The texts are read
from the prompt's tags (`layout`):

==========  ==========================================  ==========================================
field       tags                                        answer
==========  ==========================================  ==========================================
graders     instructions                                ``{"graders": [{name, criteria, levels,
                                                        notApplicableWhen, promptQuotes}]}``
order       level, seven of them                        ``{"order": [places from worst to best]}``
code        criteria, response                          ``{"code": "…"}``
patterns    disagreement, each with ``id`` and          ``{"patterns": [{name, description,
            ``code`` in it                              sampleIds}]}``
patch       criteria, levels, response                  ``{"patch": [{field, find, replace}],
                                                        "explanation": "…"}``
==========  ==========================================  ==========================================

``POST /_fake/proposer {"edits": ["useless", "good"], "faults": ["quote"]}`` says which kinds of
edits come next, the last of them for ever, and which faults the next answers to ``graders`` have.
"""

import json
from collections import defaultdict
from typing import Any

from tests.judges.layout import Tagged, Tags, level_texts, plain
from tests.judges.planted import is_courteous
from tests.judges.prompts import RubricText, SampleText
from tests.judges.proposals import EDIT_KINDS, GRADER_FAULTS, edit, graders, ordered, spoiled
from tests.providers.answers import Ask, Reply
from tests.providers.state import World
from tests.providers.wire import ProviderError, Request

TASKS = ("graders", "order", "patterns", "patch", "code")
_MOST_PATTERNS = 7
_COURTEOUS, _PLAIN = "takes courtesy for help", "counts steps otherwise"


class Proposer:
    """Answers prompts that want something proposed.

    Attributes:
        edits: The kinds of edits that come next; the last one stays.
        faults: What is wrong with the next answers that propose graders.
    """

    def __init__(self) -> None:
        self.edits: list[str] = ["good"]
        self.faults: list[str] = []

    def __call__(self, ask: Ask) -> Reply | None:
        """Answers one prompt; None if it wants nothing of this kind.

        Raises:
            ProviderError: If the prompt lacks what the answer is made of.
        """
        task = _task(ask)
        if task is None:
            return None
        tags = Tags("\n".join(ask.texts))
        answered = {
            "graders": self._graders,
            "order": _order,
            "code": _code,
            "patterns": _patterns,
            "patch": self._patch,
        }[task](tags)
        if answered is None:
            raise ProviderError(400, "invalid", f"The prompt has no tags to answer {task!r} from.")
        return Reply(json.dumps(answered, ensure_ascii=False), has_token=False)

    def serve(self, world: World) -> None:
        """Adds the route that says what comes next."""
        world.more_controls[("POST", "/proposer")] = self._set

    def _graders(self, tags: Tags) -> Any:
        text = tags.text("instructions")
        if text is None:
            return None
        proposed = graders(plain(text))
        if self.faults:
            proposed = spoiled(proposed, self.faults.pop(0))
        return {"graders": proposed}

    def _patch(self, tags: Tags) -> Any:
        rubric = _rubric(tags)
        if rubric is None:
            return None
        kind = self.edits[0] if len(self.edits) == 1 else self.edits.pop(0)
        shown = [SampleText("", plain(one.text)) for one in _everywhere(tags, "response")]
        return {"patch": edit(kind, rubric, shown), "explanation": f"This edit is {kind}."}

    def _set(self, world: World, request: Request) -> Any:
        document = request.document()
        for name, known in (("edits", EDIT_KINDS), ("faults", GRADER_FAULTS)):
            if unknown := set(document.get(name, ())) - set(known):
                raise ValueError(f"{name}: {sorted(unknown)} are none of {known}")
        if "edits" in document and not document["edits"]:
            raise ValueError("edits: at least one")
        self.edits = list(document.get("edits", self.edits))
        self.faults = list(document.get("faults", self.faults))
        return {"edits": self.edits, "faults": self.faults}


def _task(ask: Ask) -> str | None:
    if ask.json_schema is not None:
        fields = ask.json_schema.get("properties") or {}
        return next((task for task in TASKS if task in fields), None)
    return next((task for task in TASKS if f'"{task}"' in ask.prompt), None)


def _rubric(tags: Tags) -> RubricText | None:
    criteria, levels = tags.text("criteria"), level_texts(tags.text("levels") or "")
    if criteria is None or levels is None:
        return None
    return RubricText(
        criteria=plain(criteria),
        levels=tuple(plain(level) for level in levels),
        not_applicable_when=plain(tags.text("not-applicable") or ""),
    )


def _order(tags: Tags) -> Any:
    levels = [one.text for one in _everywhere(tags, "level")]
    return {"order": ordered(levels)} if levels else None


def _code(tags: Tags) -> Any:
    response = tags.text("response")
    if response is None:
        return None
    return {"code": _COURTEOUS if is_courteous(response) else _PLAIN}


def _patterns(tags: Tags) -> Any:
    by_code: defaultdict[str, list[str]] = defaultdict(list)
    for one in _everywhere(tags, "disagreement"):
        inside = tags.inside(one)
        code, sample = inside.text("code"), inside.text("id")
        if code is not None and sample is not None:
            by_code[code].append(sample)
    if not by_code:
        return None
    found = sorted(by_code.items(), key=lambda one: (-len(one[1]), one[0]))[:_MOST_PATTERNS]
    return {
        "patterns": [
            {"name": code, "description": f"The judge {code}.", "sampleIds": ids}
            for code, ids in found
        ]
    }


def _everywhere(tags: Tags, name: str) -> list[Tagged]:
    """The tags of a name, at whatever depth, in their order."""
    found = []
    for one in tags.outer:
        found += [one] if one.name == name else _everywhere(tags.inside(one), name)
    return found

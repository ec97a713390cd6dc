"""From an eval of OpenAI's to graders: OpenAI's hosted evals end on 2026-11-30.

What ``GET /v1/evals/{id}`` returns is read here; nothing is sent anywhere. Each testing criterion
becomes a grader that can be registered, or is refused with the reason.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_COMPUTED = ("string_check", "text_similarity")
_JUDGED = ("score_model", "label_model")
_REFUSED: Mapping[str, str] = {
    "python": (
        "code of a python grader is not run by Autotune: serve it with the grader SDK, and "
        "register its endpoint"
    ),
    "endpoint": "an endpoint grader speaks a protocol of OpenAI's: serve it with the grader SDK",
    "multi": "a multi grader within an eval is none of OpenAI's documented criteria",
}
_UNKNOWN_METRICS: Mapping[str, str] = {
    "cosine": "cosine needs an embedding model, which is not here",
    "meteor": "meteor needs a large word list, which is not here",
}
_ITEM = re.compile(r"\{\{\s*item\.([A-Za-z_][A-Za-z0-9_]*)")
_TOOLS = re.compile(r"\{\{\s*sample\.(?!output_text|output_json)([A-Za-z_]\w*)")
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9_]+")
_MOST_IN_A_MULTI = 20


@dataclass(frozen=True)
class RefusedCriterion:
    """A testing criterion that becomes no grader, and why."""

    name: str
    type: str
    reason: str


@dataclass(frozen=True)
class ConvertedEval:
    """What an eval becomes.

    Attributes:
        name: the eval's.
        graders: arguments of ``client.graders.register``, one set for each grader.
        refused: testing criteria that become none.
        item_fields: fields of ``item`` that the graders read: each completion's metadata needs
            them, but for ``prompt``, which is the completion's own.
        notes: what is not the same here.
    """

    name: str
    graders: Sequence[Mapping[str, Any]]
    refused: Sequence[RefusedCriterion] = ()
    item_fields: Sequence[str] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def graders_from_openai_eval(
    document: Mapping[str, Any],
    *,
    connection_id: str | None = None,
    max_tokens: int | None = None,
) -> ConvertedEval:
    """Return the graders that an eval of OpenAI's becomes.

    Criteria that are computed (``string_check``, ``text_similarity``) become one ``multi`` grader
    where there are several: its value is the least of theirs, as a sample of an eval passes only if
    all criteria do, and each is a dimension of its name. ``score_model`` and ``label_model`` become
    graders of kind ``rubric``.

    Args:
        document: what ``GET /v1/evals/{id}`` returns.
        connection_id: where models are to be called; without it, criteria that ask one are refused.
        max_tokens: most tokens of a model's answer; without it, as the criterion says, or 2,048.

    Raises:
        ValueError: it is no eval.
    """
    criteria = document.get("testing_criteria")
    is_list = isinstance(criteria, list) and all(isinstance(one, Mapping) for one in criteria)
    if document.get("object", "eval") != "eval" or not is_list:
        raise ValueError(
            "expected what GET /v1/evals/{id} returns: testing_criteria is no list of objects"
        )
    name = str(document.get("name") or "eval")
    computed: list[Mapping[str, Any]] = []
    graders: list[Mapping[str, Any]] = []
    refused: list[RefusedCriterion] = []
    for number, criterion in enumerate(criteria or (), 1):
        kind = str(criterion.get("type"))
        called = str(criterion.get("name") or f"{kind} {number}")
        reason = _why_not(criterion, kind, connection_id)
        if reason is not None:
            refused.append(RefusedCriterion(called, kind, reason))
        elif kind in _COMPUTED:
            computed.append({**_without_id(criterion), "name": called})
        else:
            judged: dict[str, Any] = {
                "name": called,
                "kind": "rubric",
                "openai": _without_id(criterion),
            }
            judged |= {"connection_id": connection_id}
            graders.append(judged if max_tokens is None else {**judged, "max_tokens": max_tokens})
    used = [*computed, *(one["openai"] for one in graders)]
    return ConvertedEval(
        name=name,
        graders=[*_of_computed(computed, name), *graders],
        refused=refused,
        item_fields=_item_fields(used),
        notes=_notes(document, computed, used),
    )


def _why_not(criterion: Mapping[str, Any], kind: str, connection_id: str | None) -> str | None:
    """Return why a criterion becomes no grader; None if it does."""
    if kind not in (*_COMPUTED, *_JUDGED):
        return _REFUSED.get(kind, f"{kind} is no type that Autotune knows")
    if (missing := _TOOLS.search(_texts_of(criterion))) is not None:
        return f"sample.{missing[1]} is not here: completions are text alone"
    if kind == "text_similarity":
        return _UNKNOWN_METRICS.get(str(criterion.get("evaluation_metric")))
    if kind in _JUDGED and connection_id is None:
        return "a model is asked: name the connection at which (`autotune llm connect` makes one)"
    return None


def _of_computed(criteria: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    """Return the graders of criteria that are computed: one of several, where they fit into it."""
    if len(criteria) < 2:
        return [{"name": one["name"], "kind": "builtin", "openai": one} for one in criteria]
    made: list[Mapping[str, Any]] = []
    for start in range(0, len(criteria), _MOST_IN_A_MULTI):
        keys: dict[str, Mapping[str, Any]] = {}
        for one in criteria[start : start + _MOST_IN_A_MULTI]:
            keys[_key_for(one["name"], keys)] = one
        formula = ", ".join(keys) if len(keys) > 1 else ""
        multi = {
            "type": "multi",
            "name": name,
            "graders": keys,
            "calculate_output": f"min({formula})" if formula else next(iter(keys)),
        }
        made.append({"name": name, "kind": "builtin", "openai": multi})
    return made


def _key_for(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name for a criterion that formulas can have, and no other has."""
    plain = _NOT_IN_A_KEY.sub("_", name).strip("_")[:60].lower() or "criterion"
    plain = f"_{plain}" if plain[0].isdigit() else plain
    number, key = 1, plain
    while key in taken or key in _FUNCTIONS:
        number += 1
        key = f"{plain}_{number}"
    return key


_FUNCTIONS = frozenset({"min", "max", "abs", "floor", "ceil", "exp", "sqrt", "log"})


def _without_id(criterion: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in criterion.items() if name != "id"}


def _texts_of(value: Any) -> str:
    """Return all texts in a criterion, one after the other."""
    if isinstance(value, str):
        return value
    inner = value.values() if isinstance(value, Mapping) else value
    return "\n".join(map(_texts_of, inner)) if isinstance(value, Mapping | list) else ""


def _item_fields(criteria: Sequence[Mapping[str, Any]]) -> list[str]:
    found = (name for one in criteria for name in _ITEM.findall(_texts_of(one)))
    return [name for name in dict.fromkeys(found) if name != "prompt"]


def _notes(
    document: Mapping[str, Any],
    computed: Sequence[Mapping[str, Any]],
    used: Sequence[Mapping[str, Any]],
) -> list[str]:
    notes = []
    if len(computed) > 1:
        notes.append("several computed criteria are one multi grader; its value is their least")
    if any(one.get("pass_threshold") is not None for one in used):
        notes.append("pass_threshold makes a dimension `passed`; the value stays as it is")
    source = document.get("data_source_config")
    kind = source.get("type") if isinstance(source, Mapping) else None
    if kind in ("logs", "stored_completions"):
        notes.append(
            f"the eval reads {kind} of OpenAI's: submit prompts, responses and metadata yourself"
        )
    return notes

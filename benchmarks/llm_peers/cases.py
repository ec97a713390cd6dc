"""The traps of the fake that a client of OpenAI's batch API meets, one case each.

Numbers are those of the list of traps in the fake's catalogue, ``tests/providers/catalogue.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

QUESTIONS = 8
_FIRST_BAD = 2


@dataclass(frozen=True)
class Case:
    """One thing that goes wrong.

    Attributes:
        section: Number in the catalogue; 0 where nothing goes wrong.
        what: What the provider does, for the table.
        traps: What is set at the fake, with times and parameters.
        beside: Whether another batch of the workspace is there first.
    """

    name: str
    section: int
    what: str
    traps: tuple[Mapping[str, Any], ...] = ()
    beside: bool = False


def _trap(name: str, **params: Any) -> Mapping[str, Any]:
    return {"name": name, "times": 1, "params": params}


def _row_error(name: str, status: int, what: str) -> Case:
    trap = {**_trap("row_error", status=status), "rows": [_FIRST_BAD]}
    return Case(name, 3, what, (trap,))


_LOST = _trap("create_answer_lost")
CASES = (
    Case("none", 0, "nothing goes wrong"),
    Case("upload_429", 1, "429 at the upload", (_trap("upload_429"),)),
    Case("upload_500", 1, "500 at the upload", (_trap("upload_500"),)),
    Case(
        "upload_timeout",
        1,
        "the upload's connection breaks, nothing stored",
        (_trap("upload_timeout", stall_seconds=2),),
    ),
    Case(
        "upload_answer_lost",
        1,
        "stored, the upload's answer is lost",
        (_trap("upload_answer_lost"),),
    ),
    Case("upload_not_visible", 1, "the file is not found twice", (_trap("upload_not_visible"),)),
    Case("create_429", 1, "429 at the creation", (_trap("create_429"),)),
    Case("create_500", 1, "500 at the creation, nothing created", (_trap("create_500"),)),
    Case(
        "create_timeout",
        1,
        "the creation's connection breaks, nothing created",
        (_trap("create_timeout", stall_seconds=2),),
    ),
    Case("create_answer_lost", 1, "created, the creation's answer is lost", (_LOST,)),
    Case(
        "get_404_after_create",
        2,
        "the new job is not found twice",
        (_trap("get_404_after_create"),),
    ),
    Case(
        "list_lags",
        2,
        "created, answer lost, and the list shows the job late",
        (_LOST, _trap("list_lags")),
    ),
    _row_error("row_500", 500, "one row comes once with `error: null` and status 500"),
    _row_error("row_400", 400, "one row comes once with `error: null` and status 400"),
    _row_error("row_0", 0, "one row comes once with `error: null` and status 0"),
    Case(
        "completed_without_output",
        4,
        "completed and paid, and no output ever",
        (_trap("completed_without_output"),),
    ),
    Case("output_id_later", 4, "the output's id comes later", (_trap("output_id_later"),)),
    Case("output_id_empty", 4, '`""` in place of no file', (_trap("output_id_empty"),)),
    Case("counts_zero", 4, "all counts are 0", (_trap("counts_zero"),)),
    Case("counts_absent", 4, "there are no counts", (_trap("counts_absent"),)),
    Case("expires_partial", 5, "expired, half executed and paid", (_trap("expires_partial"),)),
    Case("expires_empty", 5, "expired, nothing executed", (_trap("expires_empty"),)),
    Case("rows_shuffled", 6, "results in another order", (_trap("rows_shuffled"),)),
    Case("rows_doubled_alike", 6, "a result comes twice, alike", (_trap("rows_doubled_alike"),)),
    Case(
        "rows_doubled_conflicting",
        6,
        "a result comes twice, with different texts",
        (_trap("rows_doubled_conflicting"),),
    ),
    Case("rows_unknown_id", 6, "a result of an unknown id", (_trap("rows_unknown_id"),)),
    Case(
        "rows_foreign_id",
        6,
        "a result of another batch's id",
        (_trap("rows_foreign_id"),),
        beside=True,
    ),
    Case(
        "rows_missing",
        6,
        "a paid row is not among the results",
        ({**_trap("rows_missing"), "rows": [_FIRST_BAD]},),
    ),
)


def question(number: int) -> str:
    """Return a question that no other contains."""
    return f"Question {number}: is claim {number} right?"


def questions() -> list[str]:
    """Return what every client asks."""
    return [question(number) for number in range(QUESTIONS)]


def answer(number: int) -> str:
    """Return what the fake answers: a conflicting copy turns the verdict."""
    return f"Answer {number}.\nVERDICT: pass"


def rules() -> list[dict[str, str]]:
    """Return the fake's answers to all questions."""
    return [{"contains": question(number), "text": answer(number)} for number in range(QUESTIONS)]

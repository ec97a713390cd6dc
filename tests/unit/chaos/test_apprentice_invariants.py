"""Each invariant of the apprentice holds on a good example and fails on a bad one."""

from collections.abc import Sequence
from typing import Any

from autotune.protocol.periods import BudgetPeriod
from autotune_platform.apprentice.evidence import Rules, folded
from autotune_platform.apprentice.pairs import Pair
from tests.chaos import apprentice_invariants as held
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.apprentice_money import Looks

RULES = Rules(graduation=0.5, coaching=0.3, emergency=0.1)
SCORES = (1.0, 1.0, 0.0, 1.0)
CASES = ("case-1", "case-2", "case-3", "case-4")
BILLED = {"case-1": [700], "case-2": [], "case-3": [500, 700], "case-4": []}


def run(id_: str, **attributes: Any) -> dict[str, Any]:
    return {
        "pk": id_,
        "sk": "run",
        "task_id": "apt_1",
        "input": f'{{"text": "case-{id_[-1]}"}}',
        "created_at": "2026-11-27T12:00:00+00:00",
        "state": "answered",
        "check": "none",
        "pairs": [],
        "cost_nano_usd": 0.0,
        **attributes,
    }


def row(id_: str, run_id: str, cost: int, **attributes: Any) -> dict[str, Any]:
    return {
        "pk": id_,
        "sk": "state",
        "apprentice_run_id": run_id,
        "cost_nano_usd": float(cost),
        **attributes,
    }


def runs() -> list[dict[str, Any]]:
    pair = {"version": 1.0, "score": 1.0, "is_drawn": True}
    both = {"local_version": 1.0, "local": "answered", "remote": "answered", "pairs": [pair]}
    return [
        run("apr_1", answers="remote", cost_nano_usd=700.0, **both),
        run("apr_2", answers="local", local_version=1.0, local="answered"),
        # Its first answer was lost after it was billed, and is charged at most.
        run("apr_3", answers="remote", remote="answered", cost_nano_usd=1_600.0),
        run("apr_4", state="refused"),
    ]


def rows() -> list[dict[str, Any]]:
    return [
        row("llm_1", "apr_1", 700),
        row("llm_2", "apr_3", 900, cost_is_assumed=True),
        row("llm_3", "apr_3", 700),
    ]


def kept(runs: Any = None, rows_: Any = None, *more: dict[str, Any]) -> Kept:
    counts = {"begun": 4.0, "local": 1.0, "remote": 2.0, "refused": 1.0}
    day = {"pk": "apt_1", "sk": "day#2026-11-27", **counts}
    return Kept.of(
        [*(globals()["runs"]() if runs is None else runs), day, *more],
        rows() if rows_ is None else rows_,
    )


def pairs(scores: tuple[float, ...] = SCORES) -> list[dict[str, Any]]:
    return [
        {
            "pk": "apt_1#pairs#000001",
            "sk": f"{number:010d}",
            "sequence": float(number),
            "run_id": f"apr_{number}",
            "score": score,
            "is_drawn": True,
            "at": 1_790_000_000.0,
        }
        for number, score in enumerate(scores, start=1)
    ]


def evidence(scores: tuple[float, ...] = SCORES) -> dict[str, Any]:
    folding = [
        Pair(number, score, is_drawn=True, at=1_790_000_000.0)
        for number, score in enumerate(scores, start=1)
    ]
    state = folded(folding, RULES)
    return {
        "pk": "apt_1",
        "sk": "evidence#000001",
        "version": 1.0,
        "state": state.to_json(RULES),
    }


def test_each_input_is_one_run() -> None:
    check = held.every_run_is_there
    assert not check(CASES, 4, kept()).violations
    assert check(CASES, 5, kept()).violations == ["1 of 5 were never taken"]
    assert check(CASES, 4, kept(runs()[1:])).violations == ["case-1 has 0 runs"]
    twice = {**runs()[0], "pk": "apr_9"}
    assert check(CASES, 4, kept([*runs(), twice])).violations == ["case-1 has 2 runs"]
    assert check(CASES, 4, kept([*runs(), run("apr_9")])).violations == ["nobody sent case-9"]


def test_runs_end() -> None:
    assert not held.every_run_ended(kept()).violations
    assert held.every_run_ended(kept([run("apr_1", state="pending")])).violations
    assert held.every_run_ended(kept([run("apr_1", check="due")])).violations


def test_counts_are_those_of_the_runs() -> None:
    assert not held.runs_add_up(kept(), ["apt_1"]).violations
    less = kept(runs()[1:])
    assert held.runs_add_up(less, ["apt_1"]).violations == [
        "apt_1, 2026-11-27: 4 begun, but there are 3",
        "apt_1, 2026-11-27: 2 remote, but there are 1",
    ]


def test_a_run_counts_in_the_day_on_which_it_was_created() -> None:
    late = {**runs()[0], "created_at": "2026-11-28T00:00:01+00:00"}
    assert held.runs_add_up(kept([late, *runs()[1:]]), ["apt_1"]).violations == [
        "apt_1, 2026-11-27: 4 begun, but there are 3",
        "apt_1, 2026-11-27: 2 remote, but there are 1",
        "apt_1, 2026-11-28: 0 begun, but there are 1",
        "apt_1, 2026-11-28: 0 remote, but there are 1",
    ]


def test_calls_are_booked_once_at_what_was_billed() -> None:
    check = held.each_call_is_booked_once
    assert not check(kept(), BILLED).violations
    twice = kept(None, [*rows(), row("llm_9", "apr_1", 700)])
    assert check(twice, BILLED).violations
    # An execution that no row stands for, one dearer than its row was assumed to be at most.
    assert check(kept(), {**BILLED, "case-2": [10]}).violations
    assert check(kept(), {**BILLED, "case-3": [901, 700]}).violations
    stray = kept(None, [*rows(), row("llm_9", "apr_9", 0)])
    assert check(stray, BILLED).violations == ["rows of apr_9, which is no run"]
    wrong = [run("apr_1", cost_nano_usd=1.0), *runs()[1:]]
    assert len(check(kept(wrong), BILLED).violations) == 1


def test_the_ledger_covers_the_bill_and_no_more_than_was_assumed() -> None:
    check = held.the_ledger_covers_the_bill
    spent = {"org_1": 2_300, "org_1#apt_1": 2_300}
    assert not check(kept(), 1_900, spent, "org_1").violations
    assert check(kept(), 2_301, spent, "org_1").violations
    assert check(kept(), 1_399, spent, "org_1").violations
    assert check(kept(), 1_900, {**spent, "org_1": 2_299}, "org_1").violations
    assert check(kept(), 1_900, {**spent, "org_1#apt_1": 0}, "org_1").violations


def test_evidence_is_that_of_its_pairs() -> None:
    check = held.evidence_is_rebuilt
    good = check(kept(None, None, *pairs(), evidence()), "apt_1", lambda _: RULES)
    assert (good.checked, good.violations) == (4, [])
    other = evidence((1.0, 1.0, 1.0, 1.0))
    assert check(kept(None, None, *pairs(), other), "apt_1", lambda _: RULES).violations
    assert check(kept(None, None, *pairs()[:3], evidence()), "apt_1", lambda _: RULES).violations


def test_pairs_are_of_runs_in_which_both_answered() -> None:
    check = held.pairs_are_of_answers
    one = pairs((1.0,))
    assert not check(kept(None, None, *one, evidence()), "apt_1").violations
    # One more of the same run, one of a run whose paid model failed, one that was never made.
    again = {**one[0], "sk": f"{2:010d}"}
    assert check(kept(None, None, *one, again, evidence()), "apt_1").violations
    failed = [{**runs()[0], "remote": "failed"}, *runs()[1:]]
    assert check(kept(failed, None, *one, evidence()), "apt_1").violations
    away = [{**runs()[0], "local": "unavailable"}, *runs()[1:]]
    assert check(kept(away, None, *one, evidence()), "apt_1").violations
    assert check(kept(None, None, evidence()), "apt_1").violations


def test_texts_stay_where_they_belong() -> None:
    check = held.texts_and_secrets_stay
    text, secret = "what a customer said to us", "sk-a-secret-of-the-provider"
    good = [("table Apprentice apr_1", text), ("object llm/llm_1", text), ("log of WorkRuns", "ok")]
    assert not check(good, text, [secret]).violations
    assert check([*good, ("log of WorkRuns", text)], text, [secret]).violations
    assert check([*good, ("table Apprentice apt_1#runs#2026-11-27", text)], text, []).violations
    assert check([*good, ("object llm/llm_1", secret)], text, [secret]).violations
    assert check(good[2:], text, [secret]).violations


class Teacher:
    def __init__(self, billed: int) -> None:
        self._billed = billed

    def billed(self) -> int:
        return self._billed


class Tables:
    def __init__(self, committed: int, spent: int) -> None:
        self._item = {"committed#2026-11-27": committed, "spent#2026-11-27": spent}

    def item(self, table: str, pk: str, sk: str) -> dict[str, Any]:
        assert (table, pk, sk) == ("Budgets", "money#org_1", "limits")
        # A week's and a month's are more.
        return {**self._item, "committed#2026-W48": 99, "committed#2026-11": 99}


def looked(
    *, billed: int, committed: int, spent: int, kinds: Sequence[BudgetPeriod] = ("day",)
) -> Looks:
    of, limits = Tables(committed, spent), {"org_1": 10}
    looks = Looks(of, Teacher(billed), "org_1", limits, kinds)  # type: ignore[arg-type]
    looks.start()
    looks.stop()
    return looks


def test_money_is_committed_before_it_is_billed_and_below_its_limit() -> None:
    assert not looked(billed=5, committed=10, spent=10).finding().violations
    assert looked(billed=6, committed=5, spent=5).finding().violations
    assert looked(billed=5, committed=11, spent=5).finding().violations
    longer: tuple[BudgetPeriod, ...] = ("week", "month")
    for kind in longer:
        assert looked(billed=5, committed=5, spent=5, kinds=["day", kind]).finding().violations
    assert not looked(billed=5, committed=5, spent=5).settled_finding().violations
    assert looked(billed=5, committed=6, spent=5).settled_finding().violations

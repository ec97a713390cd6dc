"""A short run of each fuzzer, with the same cases every time; ``make fuzz`` does others for longer.

``test_fuzzers_find.py`` shows that each of them can fail.
"""

import time
from collections import Counter

import pytest

from tests.security import fuzz as command
from tests.security.fuzz import TARGETS
from tests.security.fuzzing.cases import fuzz, told
from tests.security.fuzzing.parsers import PARSERS
from tests.security.fuzzing.routes import operations

SEED = 1


def short_run(name: str) -> Counter[str]:
    started = time.monotonic()
    counted = fuzz(TARGETS[name], seed=SEED, cases=TARGETS[name].short)
    print(told(name, counted, time.monotonic() - started))
    assert counted.total() == TARGETS[name].short
    return counted


def beginning_with(counted: Counter[str], word: str) -> int:
    return sum(times for said, times in counted.items() if said.startswith(word))


def test_no_changed_request_gets_in() -> None:
    counted = short_run("signatures")
    # Those that a gateway writes in another way, and those that nobody touched.
    assert beginning_with(counted, "in ") > 20
    assert counted["untouched, and a replay"] > 20
    assert counted["refused unauthenticated"] > 200
    assert counted["late: refused stale_request"] > 20


def test_no_address_leads_inside() -> None:
    counted = short_run("addresses")
    assert beginning_with(counted, "accepted") > 200
    assert beginning_with(counted, "refused") > 2_000
    assert beginning_with(counted, "no such name yet") > 200
    assert counted["accepted, API 201"]
    assert counted["refused, API 422"]


def test_no_body_and_no_parameter_breaks_a_route() -> None:
    assert len(operations()) > 70
    counted = short_run("routes")
    assert sum(counted[status] for status in ("200", "201", "202", "204")) > 80
    assert counted["422"] > 50
    assert counted["400"] > 10


def test_no_chat_breaks_a_task() -> None:
    counted = short_run("chats")
    assert counted["200"] > 25
    assert counted["400"] > 50
    assert counted["401"] > 5
    assert counted["404"] > 5


def test_nothing_that_is_reviewed_runs() -> None:
    assert short_run("markdown")["rendered"] > 500


OUTCOMES = {
    "cursor": {"read", "refused"},
    "grader_answer": {"read", "refused response_malformed", "refused response_too_large"},
    "deferral": {"read", "refused response_malformed"},
    "signed_answer": {"read", "refused mismatch", "refused malformed", "refused stale"},
    "contract": {"400", "422", "503"},
    "link": {"read", "refused unauthenticated", "refused link_expired"},
    "reward_token": {"read", "refused"},
    "builtin": {"scored", "refused", "no configuration"},
    "strict_json": {"read", "refused"},
}


def test_parsers_raise_what_is_documented() -> None:
    counted = short_run("parsers")
    assert set(OUTCOMES) == set(PARSERS)
    for parser, outcomes in OUTCOMES.items():
        said = {one.partition(": ")[2] for one in counted if one.startswith(f"{parser}: ")}
        assert outcomes <= said, parser


def test_a_case_is_drawn_again_by_its_number() -> None:
    target = TARGETS["markdown"]
    assert fuzz(target, seed=3, cases=6) == fuzz(target, seed=3, cases=4) + fuzz(
        target, seed=3, cases=2, first=4
    )


def test_a_run_prints_its_seed_and_what_became_of_each_case(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["--seed", "5", "--only", "markdown", "--cases", "9"]) == 0
    seed, line = capsys.readouterr().out.splitlines()
    assert seed == "seed 5"
    assert "markdown" in line
    assert "9 cases" in line
    assert command.main(["--only", "markdown", "--minutes", "0.01"]) == 0
    assert capsys.readouterr().out.startswith("seed ")

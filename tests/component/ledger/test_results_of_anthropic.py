"""Looks at Anthropic's batch jobs, and their results, against the fake and hostile bytes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.jobs.anthropic import AnthropicJobs
from autotune_platform.ledger.jobs.contract import (
    Created,
    Ended,
    Line,
    Missing,
    Results,
    Running,
)
from autotune_platform.ledger.jobs.session import FetchError
from autotune_platform.ledger.providers.anthropic import AnthropicFormat
from tests.support.provider_jobs import KEY, Driven, driven, refused

JOBS = AnthropicJobs(AnthropicFormat())
LOW_CREDIT = "Your credit balance is too low to access the Anthropic API. Please go to Plans."


@pytest.fixture
def there() -> Iterator[Driven]:
    with driven(JOBS, "anthropic", "", "claude-haiku-4-5") as made:
        yield made


def line(result: Any, custom_id: Any = "row0") -> Line | None:
    return JOBS.line(json.dumps({"custom_id": custom_id, "result": result}).encode(), KEY)


def outcome(result: Any) -> Refusal:
    found = line(result)
    assert found is not None
    return refused(found.outcome)


class TestLooking:
    def test_a_job_may_be_seen_late(self, there: Driven) -> None:
        there.arm("get_404_after_create", params={"looks": 2})
        job = there.begin()
        assert there.jobs.look(there.session(), job) == Missing()
        assert there.jobs.look(there.session(), job) == Missing()
        assert there.jobs.look(there.session(), job) == Running()

    def test_a_job_may_be_seen_by_its_own_key_alone(self, there: Driven) -> None:
        there.arm("old_key_only")
        job = there.begin()
        assert there.jobs.look(there.session("fake-key-2"), job) == Missing()
        assert there.jobs.look(there.session(), job) == Running()

    @pytest.mark.parametrize(
        ("trap", "code"),
        [
            ("get_429", "rate_limited"),
            ("get_500", "provider_error"),
            ("get_timeout", "outcome_unclear"),
            ("get_answer_lost", "outcome_unclear"),
        ],
    )
    def test_a_look_may_fail(self, there: Driven, trap: str, code: str) -> None:
        job = there.begin()
        there.arm(trap, params={"stall_seconds": 0})
        assert refused(there.jobs.look(there.session(), job)).code == code
        assert there.jobs.look(there.session(), job) == Running()

    def test_results_may_come_later_or_never(self, there: Driven) -> None:
        there.arm("output_id_later", params={"seconds": 600})
        job = there.begin()
        there.pass_time()
        early = there.ended(job)
        assert (early.results, early.succeeded, early.total) == ([], 4, 4)
        there.pass_time(600)
        assert there.ended(job).results == [Results(str(job.job_id))]

    def test_a_job_without_output_says_what_it_did(self, there: Driven) -> None:
        there.arm("completed_without_output")
        job = there.begin()
        there.pass_time()
        assert there.ended(job) == Ended("completed", [], succeeded=4, total=4)

    def test_zeros_in_all_counts_say_nothing(self, there: Driven) -> None:
        there.arm("counts_zero")
        _, ended, found = there.run()
        assert (ended.succeeded, ended.total) == (None, None)
        assert len(found) == 4

    @pytest.mark.parametrize(("trap", "answered"), [("expires_partial", 2), ("expires_empty", 0)])
    def test_expired_jobs_have_results(self, there: Driven, trap: str, answered: int) -> None:
        there.arm(trap)
        _, ended, found = there.run()
        assert (ended.how, ended.succeeded, ended.total) == ("expired", answered, 4)
        codes = [getattr(found[f"row{number}"], "code", None) for number in range(4)]
        assert codes == [None] * answered + ["batch_expired"] * (4 - answered)

    def test_a_job_may_take_longer_than_it_promised(self, there: Driven) -> None:
        there.arm("succeeds_late")
        job = there.begin()
        there.pass_time(87_000)
        assert there.jobs.look(there.session(), job) == Running()
        there.pass_time(4_000)
        assert there.ended(job).succeeded == 4


class TestResults:
    def test_credit_that_ends_midway_is_the_account(self, there: Driven) -> None:
        there.arm("credit_ends")
        _, ended, found = there.run()
        assert (ended.how, ended.succeeded) == ("completed", 2)
        last = refused(found["row3"])
        assert (last.code, last.may_be_paid) == ("account", False)

    @pytest.mark.parametrize(
        ("status", "code"),
        [
            (400, "rejected"),
            (401, "account"),
            (429, "rate_limited"),
            (500, "provider_error"),
            (529, "provider_error"),
            (0, "provider_error"),
        ],
    )
    def test_errors_of_rows(self, there: Driven, status: int, code: str) -> None:
        there.arm("row_error", rows=[1], params={"status": status})
        _, _, found = there.run()
        assert refused(found["row1"]).code == code
        assert not refused(found["row1"]).may_be_paid
        assert isinstance(found["row0"], Answer)

    @pytest.mark.parametrize(
        ("trap", "finish"), [("finish_length", "length"), ("finish_refusal", "refusal")]
    )
    def test_how_answers_end(self, there: Driven, trap: str, finish: str) -> None:
        there.arm(trap, rows=[0])
        _, _, found = there.run()
        assert getattr(found["row0"], "finish_reason", None) == finish
        assert getattr(found["row1"], "finish_reason", None) == "stop"

    def test_what_answers_say_of_their_cost(self, there: Driven) -> None:
        there.arm("cached_tokens", rows=[0])
        there.arm("no_usage", rows=[1])
        there.arm("other_model", rows=[2], params={"model": "claude-other"})
        _, _, found = there.run()
        first, second, third = (found[f"row{number}"] for number in range(3))
        assert isinstance(first, Answer)
        assert isinstance(second, Answer)
        assert isinstance(third, Answer)
        assert first.usage is not None
        (execution,) = [one for one in there.world.executions if one.custom_id == "row0"]
        assert first.usage.cached_input_tokens == execution.cached_tokens > 0
        assert first.usage.input_tokens == execution.input_tokens
        assert second.usage is None
        assert third.served_model == "claude-other"

    def test_results_that_are_doubled_missing_or_of_others_come_as_they_are(
        self, there: Driven
    ) -> None:
        there.begin(2)
        for trap in (
            "rows_shuffled",
            "rows_doubled_alike",
            "rows_doubled_conflicting",
            "rows_unknown_id",
            "rows_foreign_id",
        ):
            there.arm(trap)
        there.world.traps.arm("rows_missing", rows=[3])
        job, _, found = there.run(4)
        assert {"row0", "row1", "row2", "nobody-0"} <= set(found)
        assert "row3" not in found
        assert len(there.lines(job, there.ended(job))) == 7

    def test_lines_that_are_none_do_not_spoil_the_others(self, there: Driven) -> None:
        job = there.begin(4)
        there.pass_time()
        ended = there.ended(job)
        for trap in ("jsonl_empty_lines", "jsonl_long_line", "jsonl_bad_utf8"):
            there.arm(trap)
        lines = there.lines(job, ended)
        assert [one for one in lines if one is None] == [None]  # of the bad bytes
        assert {one.custom_id for one in lines if one} == {"nobody", "row0", "row1", "row3"}

    def test_a_cut_line_is_none(self, there: Driven) -> None:
        job = there.begin(4)
        there.pass_time()
        ended = there.ended(job)
        there.arm("jsonl_cut")
        lines = there.lines(job, ended)
        assert [one.custom_id if one else None for one in lines] == ["row0", "row1", None]

    @pytest.mark.parametrize(
        ("trap", "code"),
        [
            ("download_cut", "outcome_unclear"),
            ("download_stalls", "outcome_unclear"),
            ("download_502", "provider_error"),
            ("download_500", "provider_error"),
            ("download_429", "rate_limited"),
            ("download_timeout", "outcome_unclear"),
            ("download_answer_lost", "outcome_unclear"),
        ],
    )
    def test_a_fetch_may_fail(self, there: Driven, trap: str, code: str) -> None:
        job = there.begin(4)
        there.pass_time()
        ended = there.ended(job)
        there.arm(trap, params={"stall_seconds": 0, "retry_after": 7})
        with pytest.raises(FetchError) as failed:
            there.content(job, ended)
        assert failed.value.refusal.code == code
        assert failed.value.refusal.retry_after_seconds == (7 if "429" in trap else None)
        assert len(there.outcomes(job, ended)) == 4

    def test_results_that_are_gone_are_an_error(self, there: Driven) -> None:
        job, ended, _ = there.run()
        there.jobs.clean(there.session(), job, ended.results)
        with pytest.raises(FetchError) as failed:
            there.content(job, ended)
        assert failed.value.status == 404


class TestLines:
    def test_every_type_of_error_has_its_status(self) -> None:
        for kind, code in {
            "invalid_request_error": "rejected",
            "authentication_error": "account",
            "billing_error": "account",
            "not_found_error": "rejected",
            "rate_limit_error": "rate_limited",
            "overloaded_error": "provider_error",
            "timeout_error": "provider_error",
            "of_tomorrow": "provider_error",
        }.items():
            error = {"type": kind, "message": "no"}
            whole = {"type": "errored", "error": {"type": "error", "error": error}}
            assert outcome(whole) == outcome({"type": "errored", "error": error})
            assert (outcome(whole).code, outcome(whole).may_be_paid) == (code, False)

    def test_low_credit_is_known_by_its_message(self) -> None:
        error = {"type": "invalid_request_error", "message": LOW_CREDIT}
        assert outcome({"type": "errored", "error": {"error": error}}).code == "account"

    def test_rows_that_were_not_come_to(self) -> None:
        assert outcome({"type": "expired"}).code == "batch_expired"
        assert outcome({"type": "canceled"}).code == "canceled"

    @pytest.mark.parametrize(
        "result",
        [
            None,
            {},
            [],
            "succeeded",
            {"type": []},
            {"type": "of_tomorrow"},
            {"type": "succeeded"},
            {"type": "succeeded", "message": []},
            {"type": "succeeded", "message": {"content": 1}},
        ],
        ids=str,
    )
    def test_what_cannot_be_read_may_be_paid(self, result: Any) -> None:
        assert (outcome(result).code, outcome(result).may_be_paid) == ("result_malformed", True)

    def test_the_key_is_in_no_outcome(self) -> None:
        secret = "sk-ant-0123456789abcdef"
        error = {"type": "authentication_error", "message": f"bad {secret}"}
        raw = {"custom_id": "a", "result": {"type": "errored", "error": {"error": error}}}
        found = JOBS.line(json.dumps(raw).encode(), secret)
        assert found is not None
        assert secret not in refused(found.outcome).message

    def test_long_and_deep_lines_are_bounded(self) -> None:
        text = {"type": "text", "text": "x" * 10_000_000}
        message = {"content": [text], "stop_reason": "end_turn"}
        long = line({"type": "succeeded", "message": message})
        assert long is not None
        assert isinstance(long.outcome, Answer)
        assert len(long.outcome.text) == 10_000_000
        assert JOBS.line(b'{"custom_id":"a","result":' + b"[" * 10_000_000, KEY) is None
        assert JOBS.line(b'{"custom_id":"a","result":[' + b"{}," * 3_000_000 + b"1]}", KEY) is None
        deep = b'{"custom_id":"a","result":{"type":"succeeded","message":' + b"[" * 490 + b"]" * 490
        assert JOBS.line(deep + b"}}", KEY) is not None
        digits = b'{"custom_id":"a","result":{"type":"errored","error":' + b"9" * 5_000 + b"}}"
        assert JOBS.line(digits, KEY) is None

    @pytest.mark.parametrize("custom_id", [None, "", 1, [], {}, "a\nb", "a" * 201], ids=repr)
    def test_a_line_of_nobody_is_none(self, custom_id: Any) -> None:
        assert line({"type": "expired"}, custom_id) is None

    @settings(max_examples=150, deadline=None)
    @given(st.binary(max_size=200))
    def test_any_bytes_raise_nothing(self, raw: bytes) -> None:
        found = JOBS.line(raw, KEY)
        assert found is None or found.custom_id

    @settings(max_examples=150, deadline=None)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        ["type", "error", "message", "content", "usage", "details", "text", "x"]
                    ),
                    inner | st.sampled_from(["succeeded", "errored", "text", "error"]),
                    max_size=4,
                )
            ),
            max_leaves=20,
        )
    )
    def test_any_document_is_an_outcome_of_its_row(self, result: Any) -> None:
        found = line(result)
        assert found is not None
        assert found.custom_id == "row0"
        assert isinstance(found.outcome, Answer | Refusal)

    @settings(max_examples=100, deadline=None)
    @given(st.data())
    def test_a_line_that_is_cut_or_garbled_raises_nothing(self, data: st.DataObject) -> None:
        whole = json.dumps(
            {
                "custom_id": "row0",
                "result": {
                    "type": "succeeded",
                    "message": {
                        "content": [{"type": "text", "text": "blue"}],
                        "stop_reason": "end_turn",
                        "usage": {"input_tokens": 3, "output_tokens": 5},
                    },
                },
            }
        ).encode()
        place = data.draw(st.integers(0, len(whole) - 1))
        assert JOBS.line(whole[:place], KEY) is None
        garbled = whole[:place] + data.draw(st.binary(min_size=1, max_size=3)) + whole[place + 1 :]
        found = JOBS.line(garbled, KEY)
        assert found is None or isinstance(found.outcome, Answer | Refusal)


def test_a_job_is_created_once_and_never_by_a_search(there: Driven) -> None:
    job = there.begin()
    there.jobs.search(there.session(), job)
    there.jobs.look(there.session(), job)
    assert there.world.requests["anthropic.create"] == 1
    assert isinstance(there.create()[1], Created)

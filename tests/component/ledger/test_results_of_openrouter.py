"""Looks at OpenRouter's batch jobs, and their results, against the fake and hostile bytes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.jobs.contract import (
    Ended,
    Line,
    Missing,
    Results,
    Running,
)
from autotune_platform.ledger.jobs.session import FetchError
from tests.providers import batches_openrouter
from tests.support.openrouter_jobs import JOBS, telling
from tests.support.provider_jobs import KEY, Driven, driven, refused

INLINE = [Results("results")]


@pytest.fixture
def there() -> Iterator[Driven]:
    with driven(JOBS, "openrouter", "/api/v1", "openai/gpt-5-mini") as made:
        yield made


def line(**members: Any) -> Line | None:
    whole = {"custom_id": "row0", "response": None, "error": None, **members}
    return JOBS.line(json.dumps(whole).encode(), KEY)


def outcome(**members: Any) -> Refusal:
    found = line(**members)
    assert found is not None
    return refused(found.outcome)


class TestLooking:
    def test_a_job_may_be_seen_late(self, there: Driven) -> None:
        there.arm("get_404_after_create", params={"looks": 1})
        job = there.begin()
        assert there.jobs.look(there.session(), job) == Missing()
        assert there.jobs.look(there.session(), job) == Running()

    def test_a_job_may_be_seen_by_its_own_key_alone(self, there: Driven) -> None:
        there.arm("old_key_only")
        job = there.begin()
        assert there.jobs.look(there.session("fake-key-2"), job) == Missing()
        assert there.jobs.look(there.session(), job) == Running()

    @pytest.mark.parametrize(
        ("trap", "code", "wait"),
        [
            ("get_429", "rate_limited", 7),
            ("get_500", "provider_error", None),
            ("get_timeout", "outcome_unclear", None),
            ("get_answer_lost", "outcome_unclear", None),
        ],
    )
    def test_a_look_may_fail(self, there: Driven, trap: str, code: str, wait: int | None) -> None:
        job = there.begin()
        there.arm(trap, params={"stall_seconds": 0, "retry_after": 7})
        found = refused(there.jobs.look(there.session(), job))
        assert (found.code, found.retry_after_seconds) == (code, wait)
        assert there.jobs.look(there.session(), job) == Running()

    def test_a_wrong_key_is_the_account(self, there: Driven) -> None:
        job = there.begin()
        found = refused(there.jobs.look(there.session("sk-wrong-0123456789"), job))
        assert found.code == "account"

    def test_results_may_come_later_or_never(self, there: Driven) -> None:
        there.arm("output_id_later", params={"seconds": 600})
        job = there.begin()
        there.pass_time()
        early = there.ended(job)
        assert (early.results, early.succeeded, early.total) == ([], 4, 4)
        there.pass_time(600)
        assert there.ended(job).results == INLINE

    def test_a_job_without_output_says_what_it_did(self, there: Driven) -> None:
        there.arm("completed_without_output")
        job = there.begin()
        there.pass_time()
        ended = there.ended(job)
        assert (ended.how, ended.results, ended.succeeded) == ("completed", [], 4)
        assert ended.cost_nano_usd == there.world.bill()["total_nano_usd"]

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

    def test_a_poison_row_fails_the_whole_job_and_is_not_named(self, there: Driven) -> None:
        there.arm("poison_row", rows=[2])
        job = there.begin()
        there.pass_time()
        ended = there.ended(job)
        assert (ended.how, ended.results, ended.lines) == ("failed", [], {})
        assert refused(ended.refusal).code == "rejected"
        assert not refused(ended.refusal).may_be_paid

    def test_too_much_that_waits_is_a_rate_limit(self, there: Driven) -> None:
        there.arm("token_limit")
        job = there.begin()
        there.pass_time()
        ended = there.ended(job)
        assert ended.how == "failed"
        assert refused(ended.refusal).code == "rate_limited"

    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (None, "rejected"),
            ("text", "rejected"),
            ({"message": "no", "code": 402}, "account"),
            ({"message": "no", "code": "token_limit_exceeded"}, "rate_limited"),
            ({"message": "no", "code": 500}, "provider_error"),
            ({"message": "no", "type": "insufficient_credits"}, "account"),
            ({"message": ["no"], "code": [], "type": {}}, "rejected"),
            ({"message": f"{KEY} is bad"}, "rejected"),
        ],
        ids=str,
    )
    def test_why_a_job_failed(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch, error: Any, code: str
    ) -> None:
        job = there.begin()
        telling(monkeypatch, status="failed", error=error)
        why = refused(there.ended(job).refusal)
        assert (why.code, why.may_be_paid) == (code, False)
        assert KEY not in why.message

    def test_results_that_break_off_say_that_there_are_some(self, there: Driven) -> None:
        job = there.begin(20)
        there.pass_time()
        there.arm("download_cut")
        assert there.ended(job) == Ended("completed", INLINE, succeeded=20, total=20)
        assert there.ended(job).cost_nano_usd == there.world.bill()["total_nano_usd"]

    @pytest.mark.parametrize("told", [{"status": None}, {"status": 3}], ids=str)
    def test_a_document_without_status_is_no_answer(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]
    ) -> None:
        job = there.begin()
        telling(monkeypatch, **told)
        assert refused(there.jobs.look(there.session(), job)).code == "provider_error"

    def test_a_document_may_not_be_too_large(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job, ended, _ = there.run()
        telling(monkeypatch, more="x" * 1_100_000)
        assert refused(there.jobs.look(there.session(), job)).code == "result_malformed"
        with pytest.raises(FetchError) as failed:
            there.content(job, ended)
        assert failed.value.refusal.code == "result_malformed"


class TestResults:
    def test_credit_that_ends_midway_is_the_account(self, there: Driven) -> None:
        there.arm("credit_ends")
        _, ended, found = there.run()
        assert (ended.how, ended.succeeded) == ("completed", 2)
        assert (refused(found["row3"]).code, refused(found["row3"]).may_be_paid) == (
            "account",
            False,
        )

    @pytest.mark.parametrize(
        ("status", "code"),
        [(400, "rejected"), (402, "account"), (429, "rate_limited"), (500, "provider_error")],
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
        there.arm("no_usage", rows=[1])
        there.arm("other_model", rows=[2], params={"model": "openai/other"})
        _, _, found = there.run()
        assert getattr(found["row1"], "usage", 0) is None
        assert getattr(found["row2"], "served_model", None) == "openai/other"

    def test_results_without_keys_are_nobodys(self, there: Driven) -> None:
        there.arm("inline_without_keys")
        job = there.begin()
        there.pass_time()
        ended = there.ended(job)
        assert ended.results == INLINE
        assert there.lines(job, ended) == [None] * 4

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
        there.arm("rows_missing", rows=[3])
        job, ended, found = there.run(4)
        assert {"row0", "row1", "row2", "nobody-0"} == set(found)
        assert len(there.lines(job, ended)) == 7

    @pytest.mark.parametrize(
        ("trap", "code"),
        [
            ("download_cut", "outcome_unclear"),
            ("download_stalls", "outcome_unclear"),
            ("download_502", "provider_error"),
            ("get_500", "provider_error"),
            ("get_429", "rate_limited"),
            ("get_answer_lost", "outcome_unclear"),
        ],
    )
    def test_a_fetch_may_fail(self, there: Driven, trap: str, code: str) -> None:
        job, ended, _ = there.run()
        there.arm(trap, params={"stall_seconds": 0, "retry_after": 7})
        with pytest.raises(FetchError) as failed:
            there.content(job, ended)
        assert failed.value.refusal.code == code
        assert failed.value.refusal.retry_after_seconds == (7 if "429" in trap else None)
        assert len(there.outcomes(job, ended)) == 4

    def test_a_document_that_is_no_json_is_an_error(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job, ended, _ = there.run()
        for body in (b"", b"[]", b'{"results": [{}]', b'{"results": [{}]}}', b"<html>"):
            answer = batches_openrouter.Answer(body=body)
            monkeypatch.setattr(
                batches_openrouter.Answer, "json", lambda *_, answer=answer, **__: answer
            )
            with pytest.raises(FetchError) as failed:
                there.content(job, ended)
            assert failed.value.refusal.code == "result_malformed"
            refused(there.jobs.look(there.session(), job))

    def test_a_long_text_and_odd_letters_come_whole(self, there: Driven) -> None:
        said = 'é\n"]},{[\\ \U0001f600 \u2028' * 100_000
        there.world.answers.answerer = lambda _: said
        _, _, found = there.run(2, max_tokens=1_000_000)
        answer = found["row0"]
        assert isinstance(answer, Answer)
        assert answer.text.endswith(said)


class TestLines:
    def test_rows_that_were_not_come_to(self) -> None:
        for kind in ("canceled", "cancelled"):
            assert outcome(error={"type": kind, "message": "no"}).code == "canceled"
        assert outcome(error={"type": "expired", "message": "no"}).code == "batch_expired"

    @pytest.mark.parametrize(
        ("error", "code"),
        [
            ({"type": "invalid_request_error"}, "rejected"),
            ({"type": "authentication_error"}, "account"),
            ({"type": "insufficient_credits"}, "account"),
            ({"type": "rate_limit_error"}, "rate_limited"),
            ({"type": "server_error"}, "provider_error"),
            ({"type": "of_tomorrow"}, "provider_error"),
            ({"type": "x", "code": 403}, "account"),
            ({"code": "rate_limit_exceeded"}, "rate_limited"),
            ({"type": [], "code": {}}, "provider_error"),
            ({}, "provider_error"),
            ([], "provider_error"),
            ("no", "provider_error"),
            (0, "provider_error"),
        ],
        ids=str,
    )
    def test_every_type_of_error_has_its_status(self, error: Any, code: str) -> None:
        assert (outcome(error=error).code, outcome(error=error).may_be_paid) == (code, False)

    @pytest.mark.parametrize(
        ("status", "code"),
        [(400, "rejected"), (429, "rate_limited"), (500, "provider_error"), (0, "provider_error")],
    )
    def test_a_response_may_be_an_error(self, status: int, code: str) -> None:
        body = {"error": {"message": "no"}}
        found = outcome(response={"status_code": status, "body": body})
        assert (found.code, found.may_be_paid) == (code, False)

    @pytest.mark.parametrize(
        "response",
        [None, [], 1, {"status_code": 200}, {"status_code": 200, "body": {"choices": 1}}],
        ids=str,
    )
    def test_what_cannot_be_read_may_be_paid(self, response: Any) -> None:
        found = outcome(response=response)
        assert (found.code, found.may_be_paid) == ("result_malformed", True)

    @pytest.mark.parametrize("custom_id", [None, "", 1, [], {}, "a\nb", "a" * 201], ids=repr)
    def test_a_line_of_nobody_is_none(self, custom_id: Any) -> None:
        assert line(custom_id=custom_id, error={"type": "expired"}) is None

    def test_long_and_deep_lines_are_bounded(self) -> None:
        said = {"message": {"content": "x" * 10_000_000}, "finish_reason": "stop"}
        long = line(response={"status_code": 200, "body": {"choices": [said]}})
        assert long is not None
        assert isinstance(long.outcome, Answer)
        assert len(long.outcome.text) == 10_000_000
        assert JOBS.line(b'{"custom_id":"a","response":' + b"[" * 10_000_000, KEY) is None
        assert JOBS.line(b'{"custom_id":"a","error":[' + b"{}," * 3_000_000 + b"1]}", KEY) is None
        deep = b'{"custom_id":"a","error":' + b"[" * 490 + b"]" * 490 + b"}"
        assert JOBS.line(deep, KEY) is not None

    @settings(max_examples=100, deadline=None)
    @given(st.binary(max_size=200))
    def test_any_bytes_raise_nothing(self, raw: bytes) -> None:
        found = JOBS.line(raw, KEY)
        assert found is None or found.custom_id

    @settings(max_examples=150, deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from(["response", "error", "id"]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
                lambda inner: (
                    st.lists(inner, max_size=4)
                    | st.dictionaries(
                        st.sampled_from(
                            [
                                *("status_code", "body", "choices", "message", "content"),
                                *("type", "code", "error", "usage", "metadata", "request_id"),
                            ]
                        ),
                        inner | st.sampled_from([200, 400, 500, "expired"]),
                        max_size=4,
                    )
                ),
                max_leaves=20,
            ),
        )
    )
    def test_any_document_is_an_outcome_of_its_row(self, members: dict[str, Any]) -> None:
        found = line(**members)
        assert found is not None
        assert found.custom_id == "row0"
        assert isinstance(found.outcome, Answer | Refusal)

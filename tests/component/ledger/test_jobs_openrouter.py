"""OpenRouter's batch jobs, against the fake and against bytes that nobody should send."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.job_sizes import JOB_SIZES
from autotune_platform.ledger.jobs.contract import (
    Missing,
    Running,
    Unclear,
)
from autotune_platform.ledger.providers.openai import OpenAiFormat
from tests.providers import batches_openrouter
from tests.providers.limits import LIMITS
from tests.support.openrouter_jobs import JOBS, telling
from tests.support.provider_jobs import KEY, Driven, driven, not_created, refused


@pytest.fixture
def there() -> Iterator[Driven]:
    with driven(JOBS, "openrouter", "/api/v1", "openai/gpt-5-mini") as made:
        yield made


class TestLifecycle:
    def test_rows_go_and_their_answers_come(self, there: Driven) -> None:
        job = there.begin(4, temperature=0.5, seed=3, stop=["."])
        assert there.jobs.look(there.session(), job) == Running()
        there.pass_time()
        ended = there.ended(job)
        assert (ended.how, ended.succeeded, ended.total) == ("completed", 4, 4)
        answers = there.outcomes(job, ended)
        tokens = {str(one.custom_id): one.token for one in there.world.executions}
        assert set(answers) == set(tokens) == {"row0", "row1", "row2", "row3"}
        for custom_id, answer in answers.items():
            assert isinstance(answer, Answer)
            assert tokens[custom_id] in answer.text
            assert answer.usage is not None
            assert answer.provider_request_id == tokens[custom_id]
        assert there.world.refusals == []

    def test_a_job_tells_exactly_what_it_cost(self, there: Driven) -> None:
        there.arm("cached_tokens", rows=[0])
        job, ended, _ = there.run(7)
        assert ended.cost_nano_usd == there.world.bill()["by_batch"][job.job_id]
        ran = there.world.executions
        assert ended.usage is not None
        assert ended.usage.input_tokens == sum(one.input_tokens for one in ran)
        assert ended.usage.cached_input_tokens == sum(one.cached_tokens for one in ran) > 0
        assert ended.usage.output_tokens == sum(one.output_tokens for one in ran)

    @pytest.mark.parametrize(
        ("cost", "nano_usd"),
        [
            (0, 0),
            (0.1, 100_000_000),
            (1.1, 1_100_000_000),
            (0.000000001, 1),
            (4.35e-06, 4_350),
            (123456.123456789, 123_456_123_456_789),
            (2, 2_000_000_000),
            (-1, None),
            (1e9, None),
            (True, None),
            ("0.1", None),
            (None, None),
            (float("nan"), None),
            (float("inf"), None),
            (10**4000, None),
        ],
        ids=lambda value: repr(value)[:20],
    )
    def test_costs_are_exact_or_none(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch, cost: Any, nano_usd: int | None
    ) -> None:
        job = there.begin(1)
        there.pass_time()
        telling(monkeypatch, usage={"prompt_tokens": 1, "completion_tokens": 2, "cost": cost})
        assert there.ended(job).cost_nano_usd == nano_usd

    def test_a_row_asks_what_a_single_call_does(self, there: Driven) -> None:
        asked = there.asked(0, extra={"top_k": 3})
        there_alone = OpenAiFormat("max_tokens").question(there.session().connection, KEY, asked)
        assert json.loads(JOBS.row("a", asked)) == {
            "custom_id": "a",
            "body": json.loads(there_alone.body),
        }

    def test_endpoint_and_model_come_before_the_rows(self, there: Driven) -> None:
        whole = b"".join(there.body(*there.rows(2)).parts())
        assert list(json.loads(whole)) == ["endpoint", "model", "requests"]
        assert len(json.loads(whole)["requests"]) == 2

    def test_limits_are_those_of_the_provider(self) -> None:
        known = LIMITS["openrouter"]
        sizes = JOB_SIZES["openrouter"]
        assert (sizes.rows, sizes.bytes) == (known["rows"], known["bytes"])

    def test_nothing_is_asked_in_order_to_cancel(self, there: Driven) -> None:
        job = there.begin()
        before = dict(there.world.requests)
        assert there.jobs.cancel(there.session(), job) is None
        assert dict(there.world.requests) == before

    def test_cleaning_deletes_the_job_and_may_be_done_again(self, there: Driven) -> None:
        job = there.begin()
        assert there.jobs.clean(there.session(), job, []) is not None  # it has not ended
        there.pass_time()
        ended = there.ended(job)
        assert there.jobs.clean(there.session(), job, ended.results) is None
        assert there.jobs.look(there.session(), job) == Missing()
        assert there.jobs.clean(there.session(), job, ended.results) is None
        assert there.jobs.clean(there.session(), replace(job, job_id=None), []) is None

    def test_names_in_addresses_are_quoted(self, there: Driven) -> None:
        job = there.job(1, job_id="../../files?x=1#y")
        assert there.jobs.look(there.session(), job) == Missing()
        assert there.world.requests == {"openrouter.get": 1}


class TestCreating:
    @pytest.mark.parametrize("lost", ["create_answer_lost", "create_timeout", "create_500"])
    def test_what_has_no_answer_is_unclear(self, there: Driven, lost: str) -> None:
        there.arm(lost, params={"stall_seconds": 0})
        _, made = there.create()
        assert isinstance(made, Unclear)
        assert there.world.requests["openrouter.create"] == 1
        assert len(there.world.batches) == (lost == "create_answer_lost")

    def test_a_rate_limit_says_when_to_come_back(self, there: Driven) -> None:
        there.arm("create_429", params={"retry_after": 9})
        refusal = not_created(there.create()[1]).refusal
        assert (refusal.code, refusal.retry_after_seconds) == ("rate_limited", 9)

    def test_no_credit_is_the_account(self, there: Driven) -> None:
        there.arm("account_refused")
        assert not_created(there.create()[1]).refusal.code == "account"

    def test_a_wrong_key_is_the_account(self, there: Driven) -> None:
        session = there.session("sk-wrong-0123456789")
        made = there.jobs.create(session, there.job(1), there.body(*there.rows(1)))
        assert not_created(made).refusal.code == "account"

    def test_too_many_rows_are_refused_whole(self, there: Driven) -> None:
        there.world.limits["openrouter"] = {"rows": 3}
        made = not_created(there.create(4)[1])
        assert (made.refusal.code, made.lines) == ("rejected", {})

    def test_an_unknown_model_is_refused(self, there: Driven) -> None:
        there.model = "nobody/nothing"
        assert not_created(there.create()[1]).refusal.code == "rejected"

    def test_an_answer_without_a_name_is_unclear(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        telling(monkeypatch, id=None)
        assert isinstance(there.create()[1], Unclear)

    def test_long_ids_are_refused(self, there: Driven) -> None:
        there.arm("custom_id_65")
        row = JOBS.row("a" * 65, there.asked())
        made = there.jobs.create(there.session(), there.job(1), there.body(row))
        assert not_created(made).refusal.code == "rejected"


class TestSearching:
    def lose(self, there: Driven, count: int = 4) -> Any:
        there.arm("create_answer_lost")
        job, made = there.create(count)
        assert isinstance(made, Unclear)
        return job

    def found(self, there: Driven, job: Any, key: str = KEY) -> Sequence[str]:
        found = there.jobs.search(there.session(key), job)
        assert not isinstance(found, Refusal), found
        return found

    @pytest.mark.parametrize("ignored", [False, True])
    def test_a_lost_creation_is_found_by_time_model_and_rows(
        self, there: Driven, ignored: bool
    ) -> None:
        if ignored:
            there.arm("list_ignores_filters", times=None)
        others = [there.begin(4)]
        there.pass_time(3600)
        others.append(there.begin(3))
        there.model = "anthropic/claude-haiku-4.5"
        others.append(there.begin(4))
        there.model = "openai/gpt-5-mini"
        job = self.lose(there)
        there.pass_time(1200)
        others.append(there.begin(4))
        theirs = {one.job_id for one in others}
        assert self.found(there, job) == [one for one in there.world.batches if one not in theirs]

    def test_every_page_is_read(self, there: Driven) -> None:
        job = self.lose(there)
        for _ in range(5):
            there.begin(2)
        there.arm("list_pages", times=None)
        assert self.found(there, job) == [next(iter(there.world.batches))]
        assert there.world.requests["openrouter.list"] == 6

    def test_what_the_list_does_not_show_yet_is_not_there(self, there: Driven) -> None:
        there.arm("list_lags", params={"looks": 1})
        job = self.lose(there)
        assert self.found(there, job) == []
        assert len(self.found(there, job)) == 1

    def test_another_key_sees_nothing(self, there: Driven) -> None:
        there.arm("old_key_only")
        job = self.lose(there)
        assert self.found(there, job, "fake-key-2") == []
        assert len(self.found(there, job)) == 1

    @pytest.mark.parametrize(
        ("told", "is_found"),
        [
            ({"model": "openai/gpt-5-mini:batch"}, True),
            ({"model": None}, True),
            ({"model": "openai/gpt-5"}, False),
            ({"request_counts": {"total": 0, "completed": 0, "failed": 0}}, True),
            ({"request_counts": None}, True),
            ({"request_counts": {"total": 5, "completed": 0, "failed": 0}}, False),
            ({"created_at": None}, True),
            ({"created_at": "2026-11-18T11:06:40Z"}, True),
            ({"created_at": "yesterday"}, True),
            ({"created_at": 1e300}, True),
            ({"created_at": 1}, False),
            ({"id": None}, False),
        ],
        ids=str,
    )
    def test_what_is_not_told_speaks_for_a_job(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], is_found: bool
    ) -> None:
        job = self.lose(there)
        telling(monkeypatch, **told)
        assert bool(self.found(there, job)) is is_found

    @pytest.mark.parametrize("trap", ["list_500", "list_429", "list_timeout", "list_answer_lost"])
    def test_a_list_that_cannot_be_read_is_no_answer(self, there: Driven, trap: str) -> None:
        job = self.lose(there)
        there.arm(trap, params={"stall_seconds": 0})
        refused(there.jobs.search(there.session(), job))

    @pytest.mark.parametrize(
        "page", [{}, {"data": {}}, {"data": [], "has_more": True}], ids=["none", "object", "lost"]
    )
    def test_a_list_without_an_end_is_no_answer(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch, page: dict[str, Any]
    ) -> None:
        monkeypatch.setattr(batches_openrouter, "page", lambda *_, **__: page)
        assert refused(there.jobs.search(there.session(), there.job(1))).code == "provider_error"

    def test_a_list_that_goes_in_circles_is_no_answer(
        self, there: Driven, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = {"data": [], "has_more": True, "last_id": "again"}
        monkeypatch.setattr(batches_openrouter, "page", lambda *_, **__: page)
        refused(there.jobs.search(there.session(), there.job(1)))
        assert there.world.requests["openrouter.list"] == 2

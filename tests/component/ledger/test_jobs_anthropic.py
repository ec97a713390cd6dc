"""Anthropic's batch jobs, against the fake and against bytes that nobody should send."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.ledger.calls import Answer, Turn
from autotune_platform.ledger.job_sizes import JOB_SIZES
from autotune_platform.ledger.jobs.anthropic import AnthropicJobs
from autotune_platform.ledger.jobs.contract import (
    Missing,
    Results,
    Running,
    Unclear,
)
from autotune_platform.ledger.providers.anthropic import AnthropicFormat
from tests.providers.limits import LIMITS
from tests.providers.wire import ProviderError
from tests.support.provider_jobs import KEY, Driven, driven, not_created, refused

JOBS = AnthropicJobs(AnthropicFormat())


@pytest.fixture
def there() -> Iterator[Driven]:
    with driven(JOBS, "anthropic", "", "claude-haiku-4-5") as made:
        yield made


class TestLifecycle:
    def test_rows_go_and_their_answers_come(self, there: Driven) -> None:
        job = there.begin(4, temperature=0.5, stop=["."], extra={"top_k": 3})
        assert there.jobs.look(there.session(), job) == Running()
        there.pass_time()
        ended = there.ended(job)
        assert (ended.how, ended.succeeded, ended.total) == ("completed", 4, 4)
        answers = there.outcomes(job, ended)
        tokens = {f"row{one.custom_id[3:]}": one.token for one in there.world.executions}
        assert set(answers) == {"row0", "row1", "row2", "row3"}
        for custom_id, answer in answers.items():
            assert isinstance(answer, Answer)
            assert tokens[custom_id] in answer.text
            assert answer.usage is not None
            assert answer.usage.input_tokens > 0
        assert there.world.refusals == []

    def test_a_row_asks_what_a_single_call_does(self, there: Driven) -> None:
        asked = there.asked(0, extra={"output_config": {"effort": "low"}})
        alone = json.loads(AnthropicFormat().question(there.session().connection, KEY, asked).body)
        assert json.loads(JOBS.row("a", asked)) == {"custom_id": "a", "params": alone}

    def test_rows_of_any_text_stand_on_one_line_of_ascii(self, there: Driven) -> None:
        asked = replace(there.asked(), turns=[Turn("user", "line\nline\u2028\ud800 é")])
        row = JOBS.row("a", asked)
        assert row.isascii()
        assert b"\n" not in row

    def test_limits_are_those_of_the_provider(self) -> None:
        known = LIMITS["anthropic"]
        sizes = JOB_SIZES["anthropic"]
        assert (sizes.rows, sizes.bytes) == (known["rows"], known["bytes"])

    def test_a_canceled_job_has_what_was_answered(self, there: Driven) -> None:
        job = there.begin(4)
        there.pass_time(31)
        assert there.jobs.cancel(there.session(), job) is None
        assert there.jobs.look(there.session(), job) == Running()
        there.pass_time()
        ended = there.ended(job)
        assert (ended.how, ended.succeeded, ended.total) == ("canceled", 2, 4)
        found = there.outcomes(job, ended)
        assert [isinstance(found[f"row{number}"], Answer) for number in range(4)] == [
            *[True] * 2,
            *[False] * 2,
        ]
        assert refused(found["row3"]).code == "canceled"

    def test_canceling_what_has_ended_is_fine(self, there: Driven) -> None:
        job, ended, _ = there.run()
        assert there.jobs.cancel(there.session(), job) is None
        assert there.ended(job) == ended

    def test_a_job_that_completes_all_the_same_is_completed(self, there: Driven) -> None:
        there.arm("cancel_completes")
        job = there.begin(4)
        assert there.jobs.cancel(there.session(), job) is None
        there.pass_time()
        assert (there.ended(job).how, there.ended(job).succeeded) == ("completed", 4)

    def test_cleaning_deletes_the_job_and_may_be_done_again(self, there: Driven) -> None:
        job = there.begin()
        assert there.jobs.clean(there.session(), job, []) is not None  # it has not ended
        there.pass_time()
        ended = there.ended(job)
        assert there.jobs.clean(there.session(), job, ended.results) is None
        assert there.jobs.look(there.session(), job) == Missing()
        assert there.jobs.clean(there.session(), job, ended.results) is None
        assert there.jobs.clean(there.session(), replace(job, job_id=None), []) is None

    def test_the_key_goes_to_no_host_that_an_answer_names(self, there: Driven) -> None:
        job, ended, _ = there.run()
        assert ended.results == [Results(str(job.job_id))]

    def test_names_in_addresses_are_quoted(self, there: Driven) -> None:
        job = there.job(1, job_id="../../files?x=1#y")
        assert there.jobs.look(there.session(), job) == Missing()
        assert there.world.requests == {"anthropic.get": 1}


class TestCreating:
    @pytest.mark.parametrize("lost", ["create_answer_lost", "create_timeout", "create_500"])
    def test_what_has_no_answer_is_unclear(self, there: Driven, lost: str) -> None:
        there.arm(lost, params={"stall_seconds": 0})
        _, made = there.create()
        assert isinstance(made, Unclear)
        assert there.world.requests["anthropic.create"] == 1
        assert len(there.world.batches) == (lost == "create_answer_lost")

    def test_a_rate_limit_says_when_to_come_back(self, there: Driven) -> None:
        there.arm("create_429", params={"retry_after": 9})
        _, made = there.create()
        refusal = not_created(made).refusal
        assert (refusal.code, refusal.retry_after_seconds) == ("rate_limited", 9)
        assert not refusal.may_be_paid

    def test_too_much_that_waits_is_a_rate_limit(self, there: Driven) -> None:
        there.arm("token_limit")
        _, made = there.create()
        assert (not_created(made).refusal.code, not_created(made).lines) == ("rate_limited", {})
        assert there.world.batches == {}

    def test_an_invalid_row_is_named(self, there: Driven) -> None:
        there.arm("poison_row", rows=[2])
        _, made = there.create()
        refused_rows = not_created(made)
        assert refused_rows.refusal.code == "rejected"
        assert refused_rows.lines == {2: "requests.2.params: invalid request"}

    def test_rows_that_a_message_only_quotes_are_not_blamed(self, there: Driven) -> None:
        for message, rows in [
            ("invalid: requests.2.params", []),
            ("requests.2", []),
            ("requests.9.params: beyond the rows", []),
            ("requests.1.params: no\nrequests.3: no", [1, 3]),
        ]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    "tests.providers.batches_anthropic._refuse_at_once",
                    lambda *_, message=message: refuse(message),
                )
                _, made = there.create()
            assert sorted(not_created(made).lines) == rows

    def test_low_credit_is_the_account_and_names_no_row(self, there: Driven) -> None:
        there.arm("account_refused")
        _, made = there.create()
        assert (not_created(made).refusal.code, not_created(made).lines) == ("account", {})

    def test_a_wrong_key_is_the_account(self, there: Driven) -> None:
        job, body = there.job(1), there.body(*there.rows(1))
        made = there.jobs.create(there.session("sk-wrong-0123456789"), job, body)
        assert not_created(made).refusal.code == "account"

    def test_too_many_rows_are_refused_whole(self, there: Driven) -> None:
        there.world.limits["anthropic"] = {"rows": 3}
        _, made = there.create(4)
        assert (not_created(made).refusal.code, not_created(made).lines) == ("rejected", {})

    def test_nobody_there_means_no_job(self, there: Driven) -> None:
        session = there.session()
        away = session.connection.model_copy(update={"base_url": "http://127.0.0.1:9"})
        made = there.jobs.create(
            replace(session, connection=away), there.job(1), there.body(*there.rows(1))
        )
        assert not_created(made).refusal.code == "provider_error"

    def test_long_ids_are_refused(self, there: Driven) -> None:
        row = JOBS.row("a" * 65, there.asked())
        made = there.jobs.create(there.session(), there.job(1), there.body(row))
        assert not_created(made).refusal.code == "rejected"
        assert "custom_id_65" in there.fired()


def refuse(message: str) -> None:
    raise ProviderError(400, "invalid", message)


class TestSearching:
    def lose(self, there: Driven, count: int = 4) -> Any:
        there.arm("create_answer_lost")
        job, made = there.create(count)
        assert isinstance(made, Unclear)
        return job

    def test_a_lost_creation_is_found_by_time_and_rows(self, there: Driven) -> None:
        early = there.begin(4)
        there.pass_time(3600)
        other = there.begin(3)
        job = self.lose(there)
        there.pass_time(1200)
        late = there.begin(4)
        found = there.jobs.search(there.session(), job)
        ours = [one for one in there.world.batches if one not in names(early, other, late)]
        assert found == ours

    def test_all_that_it_may_be_are_returned(self, there: Driven) -> None:
        one = there.begin(4)
        job = self.lose(there)
        found = there.jobs.search(there.session(), job)
        assert set(found) == set(there.world.batches)
        assert one.job_id in found

    def test_every_page_is_read(self, there: Driven) -> None:
        job = self.lose(there)
        for _ in range(5):
            there.begin(2)
        there.arm("list_pages", times=None)
        found = there.jobs.search(there.session(), job)
        assert found == [next(iter(there.world.batches))]
        assert there.world.requests["anthropic.list"] == 6

    def test_reading_ends_where_all_is_older(self, there: Driven) -> None:
        for _ in range(5):
            there.begin(4)
        there.pass_time(3600)
        there.arm("list_pages", times=None)
        assert there.jobs.search(there.session(), there.job(4)) == []
        assert there.world.requests["anthropic.list"] == 1

    def test_what_the_list_does_not_show_yet_is_not_there(self, there: Driven) -> None:
        there.arm("list_lags", params={"looks": 1})
        job = self.lose(there)
        assert there.jobs.search(there.session(), job) == []
        assert len(there.jobs.search(there.session(), job)) == 1

    def test_zeros_in_all_counts_speak_for_a_job(self, there: Driven) -> None:
        there.arm("counts_zero")
        job = self.lose(there)
        there.pass_time()
        assert len(there.jobs.search(there.session(), job)) == 1

    @pytest.mark.parametrize("trap", ["list_500", "list_429", "list_timeout"])
    def test_a_list_that_cannot_be_read_is_no_answer(self, there: Driven, trap: str) -> None:
        job = self.lose(there)
        there.arm(trap, params={"stall_seconds": 0})
        refused(there.jobs.search(there.session(), job))

    def test_a_list_that_breaks_off_is_no_answer(self, there: Driven) -> None:
        job = self.lose(there)
        there.begin(2)
        there.arm("list_pages", times=None)
        there.arm("list_500", after=1)
        assert refused(there.jobs.search(there.session(), job)).code == "provider_error"

    def test_another_key_sees_nothing(self, there: Driven) -> None:
        there.arm("old_key_only")
        job = self.lose(there)
        assert there.jobs.search(there.session("fake-key-2"), job) == []
        assert len(there.jobs.search(there.session(), job)) == 1

    def test_clocks_may_differ_by_some_minutes(self, there: Driven) -> None:
        job = self.lose(there)
        for minutes, is_found in [(-14, True), (-16, False), (4, True), (6, False)]:
            moved = replace(job, begun_at=job.begun_at + timedelta(minutes=minutes))
            assert bool(there.jobs.search(there.session(), moved)) is is_found


def names(*jobs: Any) -> set[str]:
    return {job.job_id for job in jobs}

"""``python -m tests.chaos.run_mutations``: is it noticed when a guard of runs is gone?

Runs are the apprentice's. Each mutation takes one guard out of a copy of the repository and runs
the component test there that is to find out: some seconds each, without a stack. Ends with 1 where
a test did not fail.
"""

import sys
from dataclasses import replace

from tests.chaos.mutations import Mutation, run_all

TESTS = "tests/component/apprentice"
_APPRENTICE = "layers/platform/python/autotune_platform/apprentice"

RUN_MUTATIONS = (
    Mutation(
        "the condition of a run's write",
        f"{_APPRENTICE}/runs/repository.py",
        "only_if=dict.fromkeys(_STANDING) if before is None else _standing(before),",
        "only_if={},",
        "test_of_two_that_change_a_run_one_does",
        ("test_run_repository",),
    ),
    Mutation(
        "the wait for an attempt that may be under way",
        f"{_APPRENTICE}/runs/running.py",
        "if run.remote_asking is not None and not self._recovered(session, run.remote_asking):",
        "if run.remote_asking is not None and run.phase is None:",
        "test_a_worker_that_is_killed_anywhere_leaves_a_run_that_ends",
        ("test_killed_runs",),
    ),
    Mutation(
        "the roles that a run keeps",
        f"{_APPRENTICE}/runs/running.py",
        "        if run.phase is not None:\n            return run\n",
        "",
        "test_draws_and_roles_stay_with_a_run_that_was_begun",
        ("test_run_phases",),
    ),
    Mutation(
        "the comparison of inputs under one key",
        f"{_APPRENTICE}/runs/starting.py",
        "if before.fingerprint != run.fingerprint:",
        "if not before.fingerprint:",
        "test_the_same_key_is_the_same_run_and_paid_once",
        ("test_runs",),
    ),
    Mutation(
        "the run that is stored where its worker does not answer",
        f"{_APPRENTICE}/runs/starting.py",
        "        # It may be at it still, or was killed, also before it stored anything.\n"
        "        self.runs.add(run)\n",
        "",
        "test_a_worker_that_fails_is_given_the_run_again",
        ("test_runs",),
    ),
    Mutation(
        "the organisation of a run that is read",
        f"{_APPRENTICE}/runs/reading.py",
        "if run is None or run.organization_id != caller.organization_id:",
        "if run is None:",
        "test_what_is_not_there_is_not_found",
        ("test_runs",),
    ),
    Mutation(
        "the number of attempts",
        f"{_APPRENTICE}/runs/remotely.py",
        'or run.attempts > primary["maxRetries"]',
        'or run.attempts > 2 * primary["maxRetries"] + 1',
        "test_there_are_no_more_attempts_than_the_task_has",
        ("test_runs",),
    ),
    Mutation(
        "the pairs that only answers make",
        f"{_APPRENTICE}/runs/scoring.py",
        "if is_compared and version is not None:",
        "if version is not None:",
        "test_in_phase_2_the_paid_model_answers_whatever_the_small_one_does",
        ("test_run_phases",),
    ),
    Mutation(
        "the look at a run again that another worker has",
        f"{_APPRENTICE}/runs/working.py",
        "if worked.again_in is not None:",
        "if worked.again_in is not None and worked.run.has_ended:",
        "test_an_attempt_that_may_be_under_way_is_looked_at_again_later",
        ("test_killed_runs",),
    ),
    Mutation(
        "the error of a run that nobody answered",
        "functions/apprentice/runs_api.py",
        "    if problem is not None:\n        raise problem\n",
        "",
        "test_an_exhausted_budget_refuses_until_it_is_reset",
        ("test_runs",),
    ),
    Mutation(
        "the service tier that is asked for",
        "layers/platform/python/autotune_platform/ledger/providers/registry.py",
        'OpenAiFormat("max_completion_tokens", names_tier=True)',
        'OpenAiFormat("max_completion_tokens")',
        "test_the_standard_tier_is_asked_for_whatever_the_accounts_is",
        ("test_service_tiers",),
    ),
    Mutation(
        "the price of a dearer service tier",
        "layers/platform/python/autotune_platform/ledger/providers/openai.py",
        "if isinstance(tier, str) and tier in _DEARER_TIERS:",
        "if tier == _DEARER_TIERS:",
        "test_an_answer_at_a_dearer_tier_is_charged_at_its_bound",
        ("test_service_tiers",),
    ),
    Mutation(
        "the checks that are sent to their worker",
        f"{_APPRENTICE}/folding/following.py",
        'if run.check == "due" and run.id not in checked',
        'if run.check == "done" and run.id not in checked',
        "test_whoever_counts_a_run_has_a_check_made_that_is_due",
        ("test_folding",),
    ),
    Mutation(
        "the look at what was counted of a run",
        f"{_APPRENTICE}/folding/tallies.py",
        "    if not entry:\n        return {}\n",
        "    return {}\n",
        "test_records_that_come_again_change_nothing",
        ("test_folding",),
    ),
)


def main() -> int:
    """Run every mutation, return the exit code."""
    mutations = [
        replace(one, asked=(*(f"{TESTS}/{file}.py" for file in one.asked), "-k", one.invariant))
        for one in RUN_MUTATIONS
    ]
    return run_all(mutations, ["pytest", "--quiet", "-x"], said_by="FAILED ")


if __name__ == "__main__":
    sys.exit(main())

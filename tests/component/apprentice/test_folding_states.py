"""Whatever comes, in whatever order, however often, and whoever dies: evidence is its pairs.

Runs begin, end and are checked; rules change; consumers get records twice, late, or in reverse, and
are killed at any of their calls. Once all has been delivered, what is stored has to be what follows
from the runs themselves.
"""

import math
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding import refolding
from autotune_platform.apprentice.folding.advancing import rebuilt, stale_at, written
from autotune_platform.apprentice.folding.models import scores_json
from autotune_platform.apprentice.folding.settings import rules_of, window_of
from autotune_platform.apprentice.folding.versions import with_evidence
from autotune_platform.apprentice.phases import derive
from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.apprentice.standing import Standings
from autotune_platform.runtime.environment.apprentice_runs import (
    FoldingEnvironment,
    RunSweepEnvironment,
)
from autotune_platform.wiring.apprentice_folding import FoldingParts, RunSweepParts
from tests.support.apprentice_folding import DAY, NOON, Apprentice
from tests.support.killing import Killed, Killer
from tests.support.tables import SavedTables

VERSIONS = (1, 2)
THRESHOLDS = [
    {
        "phase1ToPhase2": 50,
        "phase2ToPhase3": high,
        "coachingTrigger": middle,
        "emergencyThreshold": low,
    }
    for high, middle, low in ((0.9, 0.8, 0.6), (0.5, 0.3, 0.1))
]
SCORES = st.sampled_from((0.0, 1 / 3, 0.7, 1.0, 1e-200))
PAIRS = st.lists(
    st.builds(RunPair, version=st.sampled_from(VERSIONS), score=SCORES, is_drawn=st.booleans()),
    max_size=2,
    unique_by=lambda pair: pair.version,
)


class Folding(RuleBasedStateMachine):
    def __init__(self, apprentice, saved, killer):
        super().__init__()
        self.apprentice, self.saved, self.killer = apprentice, saved, killer

    @initialize()
    def begin(self):
        self.saved.restore()
        self.runs = []
        self.consumers = [FoldingParts(FoldingEnvironment.parse()) for _ in range(2)]
        self.sweep = RunSweepParts(RunSweepEnvironment.parse()).refolding
        # Rules that are drawn seldom have something to work on.
        for _ in range(3):
            self.a_run_begins()
            self.a_run_is_answered_and_to_be_checked(unmonitored=False)

    @rule(pairs=PAIRS, number=st.integers(1, 12))
    def runs_are_answered_by_both(self, pairs, number):
        for _ in range(number):
            self._add(self.apprentice.answered(pairs=tuple(pairs), cost_nano_usd=3))

    @rule()
    def a_run_begins(self):
        self._add(self.apprentice.run())

    @rule(unmonitored=st.booleans())
    def a_run_is_answered_and_to_be_checked(self, unmonitored):
        self._add(
            self.apprentice.answered(
                answers=Model.LOCAL,
                remote=None,
                check="due",
                cost_nano_usd=0,
                unmonitored=unmonitored,
            )
        )

    @rule(data=st.data(), state=st.sampled_from(("answered", "refused", "failed")), pairs=PAIRS)
    def a_run_ends(self, data, state, pairs):
        pending = [place for place, run in enumerate(self.runs) if not run.has_ended]
        if not pending:
            return
        is_answered = state == "answered"
        self._change(
            data.draw(st.sampled_from(pending)),
            state=state,
            answers=Model.REMOTE if is_answered else None,
            remote=Remote.ANSWERED if is_answered else Remote.FAILED,
            local=Local.ANSWERED,
            pairs=tuple(pairs) if is_answered else (),
            cost_nano_usd=5,
            ended_at=NOON,
        )

    @rule(data=st.data(), check=st.sampled_from(("done", "skipped", "failed")), score=SCORES)
    def a_check_ends(self, data, check, score):
        due = [place for place, run in enumerate(self.runs) if run.check == "due"]
        if not due:
            return
        pair = RunPair(version=1, score=score, is_drawn=True)
        is_done = check == "done"
        self._change(
            data.draw(st.sampled_from(due)),
            check=check,
            remote=Remote.ANSWERED if is_done else None,
            pairs=(pair,) if is_done else (),
            cost_nano_usd=7,
        )

    @rule(data=st.data(), cost=st.integers(0, 9))
    def an_additional_model_answers(self, data, cost):
        ended = [place for place, run in enumerate(self.runs) if run.has_ended]
        if not ended:
            return
        place = data.draw(st.sampled_from(ended))
        run = self.runs[place]
        assert self.apprentice.table.add_together(self.apprentice.runs.paying_additional(run, cost))
        more = {"additional_cost_nano_usd": run.additional_cost_nano_usd + cost}
        self.runs[place] = run.model_copy(update=more)

    @rule(thresholds=st.sampled_from(THRESHOLDS), size=st.sampled_from((20, 40)))
    def rules_change(self, thresholds, size):
        self.apprentice.put(thresholds=thresholds, confidence={"windowSize": size})

    @rule(
        first=st.floats(0, 1),
        number=st.integers(1, 60),
        consumer=st.integers(0, 1),
        is_reversed=st.booleans(),
    )
    def some_records_come(self, first, number, consumer, is_reversed):
        records = self.apprentice.records()
        start = int(first * len(records))
        some = records[start : start + number]
        self.consumers[consumer].run_router.route(some[::-1] if is_reversed else some)

    @rule(
        after=st.integers(0, 9),
        moment=st.sampled_from(("before-call", "after-call")),
        consumer=st.integers(0, 1),
    )
    def a_consumer_is_killed(self, after, moment, consumer):
        records = self.apprentice.records()[-100:]
        self.killer.kill(moment, after=after)
        with suppress(Killed):
            self.consumers[consumer].run_router.route(records)
        self.killer.spare()
        self.consumers[consumer] = FoldingParts(FoldingEnvironment.parse())

    @rule(version=st.sampled_from(VERSIONS))
    def the_sweep_folds_some_pairs_anew(self, version):
        self.sweep.go_on(self.apprentice.task.id, version)

    @rule(
        version=st.sampled_from(VERSIONS),
        after=st.integers(0, 6),
        moment=st.sampled_from(("before-call", "after-call")),
    )
    def the_sweep_is_killed(self, version, after, moment):
        self.killer.kill(moment, after=after)
        with suppress(Killed):
            self.sweep.go_on(self.apprentice.task.id, version)
        self.killer.spare()
        self.sweep = RunSweepParts(RunSweepEnvironment.parse()).refolding

    @invariant()
    def what_is_stored_is_what_pairs_say(self):
        """A cache is right by its rules at each moment, however much is still to come."""
        if not hasattr(self, "runs"):
            return
        for place, stored in enumerate(self.apprentice.evidence.all_of(self.apprentice.task.id)):
            document = self._document(stored.configuration_version)
            rules = rules_of(document, attempt=VERSIONS.index(stored.version) + 1)
            pairs = list(self.apprentice.evidence.pairs(self.apprentice.task.id, stored.version))
            assert [pair.sequence for pair in pairs] == list(range(1, stored.sequence + 1)), place
            window = window_of(document)
            again = rebuilt(pairs, rules, window)
            assert stored.evidence(rules) == again.evidence
            assert stored.scores == scores_json(again.scores)
            assert stored.stale_at == stale_at(again.tail, window)
            assert stored.window == written(stored, again, configuration_version=1).window

    def teardown(self):
        if not hasattr(self, "runs"):
            return
        self.consumers[0].run_router.route(self.apprentice.records())
        for version in VERSIONS:
            while not self.sweep.go_on(self.apprentice.task.id, version):
                pass
        self.what_is_stored_is_what_pairs_say()
        self._require_counts()
        self._require_phase()

    def _require_counts(self):
        """Each run is counted once, in what it came to; no failure left a pair."""
        task_id = self.apprentice.task.id
        [found] = self.apprentice.evidence.days(task_id, DAY, DAY) or [None]
        if found is None:
            assert self.runs == []
            return
        states = Counter(
            str(run.answers) if run.state == "answered" else run.state for run in self.runs
        )
        assert found.begun == len(self.runs)
        assert (found.local, found.remote) == (states["local"], states["remote"])
        assert (found.refused, found.failed) == (states["refused"], states["failed"])
        assert found.pending == states["pending"]
        assert found.unmonitored == sum(run.unmonitored for run in self.runs)
        asked = Counter(run.local for run in self.runs if run.local is not None)
        assert (found.asked, found.silent) == (asked.total(), asked[Local.UNAVAILABLE])
        costs = (found.cost_answers, found.cost_checks, found.cost_lost)
        assert sum(costs) == sum(run.cost_nano_usd for run in self.runs)
        additional = sum(run.additional_cost_nano_usd for run in self.runs)
        assert found.cost_additional == additional
        self._require_examples(found.examples)
        for version in VERSIONS:
            made = [pair for run in self.runs for pair in run.pairs if pair.version == version]
            stored = list(self.apprentice.evidence.pairs(task_id, version))
            assert len(stored) == len(made)
            total = math.fsum(pair.score for pair in stored)
            assert math.isclose(total, math.fsum(pair.score for pair in made), abs_tol=1e-9)

    def _require_examples(self, counted):
        """Each answer of the paid model is an example once, and is counted with it."""
        task = self.apprentice.task
        repository = ExampleRepository(self.apprentice.table)
        stored = list(repository.all_of(task.id, task.definition_hash))
        answered = {run.id for run in self.runs if run.remote is Remote.ANSWERED}
        assert {one.run_id for one in stored} == answered
        found = repository.counts(task.id, task.definition_hash)
        assert counted == len(stored) == found.all == len(answered)

    def _require_phase(self):
        """The phase follows from pairs alone, by the rules that hold now."""
        standing = Standings(
            tasks=TaskRepository(self.apprentice.table), evidence=self.apprentice.evidence
        ).read(self.apprentice.organization_id, self.apprentice.name)
        versions = []
        for number, one in standing.versions.items():
            pairs = self.apprentice.evidence.pairs(self.apprentice.task.id, number)
            again = rebuilt(pairs, one.rules, window_of(standing.document))
            versions.append(with_evidence(one.known, again.evidence))
            assert one.is_refolded
        assert standing.derived == derive(
            examples=sum(run.remote is Remote.ANSWERED for run in self.runs),
            needed=50,
            versions=versions,
        )

    def _document(self, version):
        tasks = TaskRepository(self.apprentice.table)
        return tasks.configuration(self.apprentice.task.id, version).document

    def _add(self, run):
        self.apprentice.store([run])
        self.runs.append(run)

    def _change(self, place, **fields):
        before = self.runs[place]
        after = before.model_copy(update=fields)
        assert self.apprentice.runs.change(before, after)
        self.runs[place] = after


@pytest.fixture
def apprentice(platform, ledger):
    made = Apprentice(platform, ledger.connect())
    for number in VERSIONS:
        made.add_version(number)
    return made


def test_what_is_stored_follows_from_the_runs(apprentice, monkeypatch):
    monkeypatch.setattr(refolding, "FEW_PAIRS", 6)
    monkeypatch.setattr(refolding, "STEP_PAIRS", 4)
    saved, killer = SavedTables(), Killer()
    run_state_machine_as_test(
        lambda: Folding(apprentice, saved, killer),
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

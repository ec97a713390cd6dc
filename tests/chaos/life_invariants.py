"""What must hold of the lives of versions: trainings, data, money, hosts, and who answered."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.examples.sides import Side
from autotune_platform.apprentice.folding.settings import examples_needed, rules_of
from autotune_platform.apprentice.folding.versions import attempts, with_evidence
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.phases import Stage, derive
from autotune_platform.apprentice.training.models import LastTraining, Training
from autotune_platform.apprentice.versions.models import ModelVersion
from tests.chaos.apprentice_invariants import Kept, pair_of
from tests.chaos.invariants import Finding, moment
from tests.chaos.life_watch import Seen
from tests.chaos.tables import Item

Versions = Mapping[int, ModelVersion]
Outcomes = Mapping[str, tuple[Collection[str], str]]

_GIVEN_UP = "failed platform_error"


def no_row_held_out_is_learned(
    groups: Mapping[tuple[str, Side], Collection[str]], channels: Mapping[str, Sequence[str]]
) -> Finding:
    """No group of inputs is on both sides of a task's data sets, and no job is given a hold-out.

    Args:
        groups: of all data sets that were frozen, by task and side; a task has one definition.
        channels: addresses that jobs were given, by their names.
    """
    violations = []
    held_out = {task: set(of) for (task, side), of in groups.items() if side == "holdout"}
    checked = sum(map(len, held_out.values()))
    for (task, side), of in groups.items():
        if side == "train":
            both = held_out.get(task, set()).intersection(of)
            violations += [f"{task} learns group {group}, which it holds out" for group in both]
    violations += [
        f"{job} was given {uri}"
        for job, uris in channels.items()
        for uri in uris
        if "/data/" in uri and "/train-" not in uri
    ]
    if not checked:
        violations.append("no data set was seen")
    return Finding("no held-out row in any manifest", checked, violations)


def each_training_ends_once(
    trainings: Sequence[Training],
    last: LastTraining,
    versions: Versions,
    certified: Collection[int],
) -> Finding:
    """All trainings of a task have ended, each in one way, and versions are those of trainings.

    Args:
        trainings: of one task, in their order.
        last: what is known of the last one.
        versions: of the task.
        certified: numbers of versions that have a certificate.
    """
    violations = [
        f"{one.id} is {one.state}: {why}" for one in trainings if (why := _why_no_end(one))
    ]
    numbers = [one.number for one in trainings]
    if numbers != list(range(1, len(numbers) + 1)) or last.number != len(numbers):
        violations.append(f"numbers {numbers}, and {last.number} were begun")
    if last.running is not None:
        violations.append(f"{last.running} is under way still")
    if trainings and last.outcome != trainings[-1].state:
        violations.append(f"the last is {trainings[-1].state}, and counts as {last.outcome}")
    made = Counter(one.version for one in trainings if one.version is not None)
    trained = {number for number, one in versions.items() if one.backend in {"linear", "sagemaker"}}
    violations += [
        f"version {one} was made by {made[one]} trainings"
        for one in {*made} | trained
        if made[one] != 1 or one not in trained
    ]
    for one in trainings:
        version = versions.get(one.version or 0)
        if version is None or one.model is None:
            continue
        if version.model not in {one.model.name, one.hosted.name if one.hosted else None}:
            violations.append(f"version {version.number} is {version.model}, not {one.model.name}")
        if version.number not in certified:
            violations.append(f"version {version.number} has no certificate")
    return Finding("each training ends in one way", len(trainings), violations)


def _why_no_end(training: Training) -> str | None:
    """Return what is missing of a training's end, or is of another one."""
    if not training.has_ended or training.ended_at is None:
        return "it has not ended"
    has = {
        "hosted": training.version is not None,
        "discarded": bool(training.objections),
        "failed": training.error is not None,
    }
    return None if [*filter(has.get, has)] == [training.state] else f"it has {has}"


def money_for_trainings_adds_up(
    trainings: Sequence[Training], committed: Mapping[str, int], spent: Mapping[str, int]
) -> Finding:
    """What ended jobs cost was spent, and nothing is set aside any more.

    Nor is it for trainings that were given up, once the sweep has looked at their jobs (ADR 0090).

    Args:
        committed: for trainings of one task, in nano-USD by month, and so ``spent``.
    """
    costs = sum(one.spent_nano_usd for one in trainings)
    violations = [f"{one.id} runs" for one in trainings if not one.has_ended]
    if sum(spent.values()) != costs:
        violations.append(f"spent {spent}, but trainings say {costs}")
    left = {one: committed[one] - spent.get(one, 0) for one in committed}
    if any(left.values()):
        violations.append(f"{left} set aside")
    return Finding("money for trainings is spent, or set aside no more", len(trainings), violations)


def rebuilt(
    kept: Kept, task_id: str, document: Mapping[str, Any], versions: Versions
) -> dict[int, Evidence]:
    """Return the evidence of a task's versions, folded anew from all their pairs."""
    places = attempts(versions.values())
    found = {}
    for number in versions:
        rules, evidence = rules_of(document, attempt=places[number]), Evidence()
        for item in kept.pairs_of(task_id, number):
            evidence = evidence.fold(pair_of(item), rules)
        found[number] = evidence
    return found


def phase_follows_from_pairs(
    kept: Kept,
    task_id: str,
    document: Mapping[str, Any],
    versions: Versions,
    examples: int,
    told: Mapping[str, Any],
) -> Finding:
    """What the API says of a task's phase is what its pairs and pointers say.

    Args:
        document: its configuration, with all defaults.
        versions: of its definition.
        examples: how many there are of it.
        told: ``phase``, ``serving``, ``candidate`` and ``canary`` as the API told them.
    """
    evidence = rebuilt(kept, task_id, document, versions)
    derived = derive(
        examples=examples,
        needed=examples_needed(document),
        versions=[with_evidence(one, evidence[number]) for number, one in versions.items()],
    )
    follows = {
        "phase": int(derived.phase),
        "serving": derived.serving,
        "candidate": derived.candidate,
        "canary": derived.canary,
    }
    violations = [] if follows == told else [f"{task_id}: {told}, but its pairs say {follows}"]
    return Finding("phase = f(pairs)", len(versions), violations)


def only_validated_versions_answer(
    kept: Kept,
    task_id: str,
    rules: Mapping[int, Rules],
    seen: Mapping[tuple[str, int], Sequence[Seen]],
    forgot_at: Sequence[float],
) -> Finding:
    """Each run that a version answered was answered by one that had graduated by its pairs.

    It had graduated before the run ended, and was seen to stand so since anybody forgot how it
    stood before. Beside its canary it answers only once it had passed one, or where nobody else can
    be paid for.

    Args:
        rules: by which versions are judged, by number.
        seen: how versions stood, as a ``Watch`` saw them.
        forgot_at: when no process knew anything of tasks, Unix seconds, in their order.
    """
    graduations = {number: _graduated_at(kept, task_id, number, of) for number, of in rules.items()}
    violations, checked = [], 0
    for id_, run in kept.runs.items():
        if run["task_id"] != task_id or run.get("answers") != "local":
            continue
        checked += 1
        version = int(run["local_version"])
        began, ended = moment(run, "created_at").timestamp(), moment(run, "ended_at").timestamp()
        if not any(at <= ended for at in graduations.get(version, ())):
            violations.append(f"{id_} was answered by {version}, which had not graduated")
            continue
        since = max(at for at in forgot_at if at <= began)
        stood = _stood(seen.get((task_id, version), ()), since, ended)
        may_be_in_canary = run.get("in_canary") or run.get("unmonitored")
        allowed = {Stage.SERVES, Stage.CANARY} if may_be_in_canary else {Stage.SERVES}
        if stood and not allowed.intersection(stood):
            violations.append(f"{id_} was answered by {version}, which was {sorted(stood)}")
    name = "no unvalidated version answers callers"
    if not checked:
        nothing = f"no run of {task_id} was answered by a version"
        return Finding(name, checked, [nothing], is_of_run=True)
    return Finding(name, checked, violations)


def _graduated_at(kept: Kept, task_id: str, number: int, rules: Rules) -> list[float]:
    """Return when a version graduated, each time, by its pairs: Unix seconds."""
    found, evidence = [], Evidence()
    for item in kept.pairs_of(task_id, number):
        evidence = evidence.fold(pair := pair_of(item), rules)
        if evidence.graduated_at == pair.sequence:
            found.append(pair.at)
    return found


def _stood(seen: Sequence[Seen], since: float, until: float) -> set[Stage]:
    """Return how a version stood between two times, and when they began."""
    found = {one.stage for one in seen if since <= one.at <= until}
    before = [one.stage for one in seen if one.at < since]
    return found | set(before[-1:])


def no_host_is_nobodys(
    hostings: Iterable[Hosting], there: Mapping[str, Mapping[str, str]], *, stack: str
) -> Finding:
    """What SageMaker hosts for us is wanted, and what is wanted no more is not hosted.

    Args:
        hostings: all that are stored.
        there: tags of endpoints and components at SageMaker, by name.
        stack: whose they are.
    """
    known = {one.name: one for one in hostings}
    violations = []
    for name, tags in there.items():
        if tags.get("autotune:stack") != stack:
            violations.append(f"{name} has tags {dict(tags)}")
            continue
        wanted = known.get(tags["autotune:hosting"])
        if wanted is None or wanted.state == "gone":
            violations.append(f"{name} is hosted, and nobody wants it")
        elif wanted.name != name:
            violations.append(f"{name} says that it is {wanted.name}")
    violations += [
        f"{one.name} is {one.state}, and is not hosted"
        for one in known.values()
        if one.state in {"ready", "asleep", "resizing"} and one.name not in there
    ]
    return Finding("no host without whoever wants it", len(there), violations)


def nothing_is_hosted(there: Collection[str], hostings: Iterable[Hosting]) -> Finding:
    """Once its task was deleted, nothing is left of what was hosted for it."""
    violations = [f"{name} is hosted still" for name in there]
    violations += [f"{one.name} is {one.state}" for one in hostings if one.state != "gone"]
    return Finding("a deleted task's hosts are gone", 1, violations)


def lives_go_on(stuck: Sequence[str], outcomes: Outcomes) -> Finding:
    """Tasks came to stand as they should.

    Where a training was given up because its functions were killed again and again, there is no
    version to go on with.

    Args:
        stuck: what tasks did not come to.
        outcomes: of trainings, as in ``each_came_to``.
    """
    is_given_up = any(came == _GIVEN_UP for _, came in outcomes.values())
    return Finding("lives go on", len(outcomes), stuck, is_of_run=is_given_up)


def each_came_to(outcomes: Outcomes) -> Finding:
    """Trainings that something befell came to what that comes to.

    One whose functions were killed again and again is given up: ``platform_error``.

    Args:
        outcomes: what befell a training, with what may come of it, and what did.
    """
    violations = [
        f"{what}: {came}, not {' or '.join(may)}"
        for what, (may, came) in outcomes.items()
        if came not in {*may, _GIVEN_UP}
    ]
    return Finding("each fault of a training comes to its clear end", len(outcomes), violations)


def items_of(kept: Kept, pk: str, start: str) -> list[Item]:
    """Return items of a partition whose sort keys begin so, in their order."""
    found = [one for one in kept.items if one["pk"] == pk and one["sk"].startswith(start)]
    return sorted(found, key=lambda one: str(one["sk"]))

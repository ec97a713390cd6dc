"""``autotune explain``: the whole story of a completion, a run or whatever else its id names."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from autotune.cli import exit_codes
from autotune.cli.invocation import Invocation, stop
from autotune.cli.llm_explaining import explain_batch, explain_import, explain_request
from autotune.cli.story import Story, attempts, number
from autotune.client import AutotuneClient, NotFoundError, PermissionDeniedError
from autotune.protocol.explanations import WaitingRun
from autotune.protocol.graders import Grader
from autotune.protocol.health import GraderHealth
from autotune.protocol.ids import IdKind, is_id
from autotune.protocol.runs import RunSummary

_MOST_RUNS = 20
_RUN_STEPS = {
    "grade": "asks its grader",
    "retry": "waits for its next attempt",
    "wait_for_limit": "waits for the grader's limits",
    "wait_for_circuit": "waits for the grader, which is down",
    "wait_for_callback": "waits for the grader's callback",
    "wait_for_person": "waits for a person",
    "done": "is over",
    "give_up": "gave up; what is pending is redriven in another run",
}


def explain(
    invocation: Invocation,
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Of a completion, a batch, a run or a grader; of a request to a language model, a "
            "batch of these, or an import.",
        ),
    ],
) -> None:
    """Say why something stands where it does, what failed, what comes next, and what to do."""
    kind = next((kind for kind in _STORIES if is_id(kind, id_)), None)
    if is_id("req", id_):
        stop(
            f"{id_} is a request: `autotune audit` lists them, with what became of each",
            exit_codes.NOT_FOUND,
        )
    if kind is None:
        stop(f"nothing that is explained has the id {id_}", exit_codes.NOT_FOUND)
    story = Story()
    name, explain_one = _STORIES[kind]
    explanation = explain_one(invocation.client, story, id_)
    if invocation.as_json:
        reasons = {code: reason.model_dump(mode="json") for code, reason in story.reasons.items()}
        invocation.show_json({"kind": name, name: explanation, "reasons": reasons})
        return
    for line in story.lines:
        typer.echo(line)


def _completion(client: AutotuneClient, story: Story, id_: str) -> dict[str, Any]:
    explained = client.completions.explain(id_)
    verdict = explained.verdict
    story.add("completion", f"{id_} of batch {explained.batch_id}, task {verdict.task_id}")
    if verdict.decided_at is None:
        story.add("state", f"pending since {story.at(verdict.submitted_at)}")
        story.add("deadline", f"ends failed without a verdict at {story.at(explained.deadline_at)}")
    else:
        value = f" {verdict.score.value:g}" if verdict.score else ""
        made = f"after {attempts(verdict.attempts)}"
        by = f" by a {verdict.decided_by}" if verdict.decided_by in {"panel", "person"} else ""
        story.add("state", f"{verdict.state}{value} at {story.at(verdict.decided_at)}{by}, {made}")
        if verdict.grader_id not in {one.grader_id for one in explained.graders}:
            story.add_reason(verdict.reason_code)
    if verdict.generation:
        story.add("generation", f"{verdict.generation}: it was scored again")
    of_panel = any(one.weight is not None for one in explained.graders)
    if of_panel:
        story.add("panel", f"{verdict.grader_id} of {number(len(explained.graders), 'grader')}")
    for one in explained.graders:
        if verdict.decided_at is not None and one.state == "pending":
            story.add("member", f"{one.grader_id}: its answer was not waited for any longer")
            continue
        story.add_grader(one, of_panel=of_panel)
    if (review := explained.review) is not None:
        whose = f" of {review.assignee_id}" if review.assignee_id else ""
        if review.correctable_until is not None:
            until = story.at(review.correctable_until)
            story.add(
                "review", f"{review.review_id} is answered, and can be corrected until {until}"
            )
        else:
            until = story.at(review.expires_at)
            story.add("review", f"{review.review_id}{whose} is open until {until}")
    _add_redrives(story, explained.redrives)
    return _document(explained)


def _batch(client: AutotuneClient, story: Story, id_: str) -> dict[str, Any]:
    explained = client.batches.explain(id_)
    counts = explained.counts.model_dump()
    story.add("batch", f"{id_}, created at {story.at(explained.created_at)}")
    if explained.generation:
        story.add("generation", f"{explained.generation}: some of it was scored again")
    states = [f"{count:,} {state}" for state, count in counts.items() if count]
    story.add("state", ", ".join(states))
    if explained.deadline_at is not None:
        story.add("deadline", f"the first ends failed at {story.at(explained.deadline_at)}")
    for code, count in explained.failures.items():
        story.add("failed", number(count, "completion"))
        story.add_reason(code)
    for grader in explained.graders:
        asked = f"{grader.grader_id} version {grader.grader_version}"
        panel = f" in panel {grader.panel_id}" if grader.panel_id else ""
        story.add("grader", f"{asked}{panel} has {number(grader.pending, 'completion')} to judge")
        if grader.queued:
            story.add("", f"{grader.queued:,} queued, or in a round right now")
        for run in grader.runs:
            _add_waiting_run(story, run)
    if explained.reviews:
        story.add("reviews", f"{number(explained.reviews, 'completion')} wait for a person")
    _add_redrives(story, explained.redrives)
    return _document(explained)


def _add_waiting_run(story: Story, run: WaitingRun) -> None:
    waiting = story.waiting(run.waits_for, run.next_attempt_at, run_id=run.run_id)
    made = f"{number(run.completions, 'completion')}, {attempts(run.attempts)}"
    story.add("run", f"{run.run_id} ({made}): {waiting}")
    story.add_reason(run.reason_code)


def _add_redrives(story: Story, redrives: int) -> None:
    if redrives:
        story.add("redrives", f"what was pending in the batch was queued anew {redrives} times")


def _run(client: AutotuneClient, story: Story, id_: str) -> dict[str, Any]:
    run = client.runs.get(id_)
    of_panel = f" in panel {run.panel_id}" if run.panel_id else ""
    story.add("run", f"{id_}, started at {story.at(run.started_at)}")
    story.add("grader", f"{run.grader_id} version {run.grader_version}{of_panel}")
    story.add("state", f"{run.state}: {_standing(story, run)}")
    story.add("attempts", f"{attempts(run.attempt)}; last round at {story.at(run.updated_at)}")
    counts = run.counts.model_dump(exclude={"expected"})
    states = [f"{count:,} {state}" for state, count in counts.items() if count]
    story.add("completions", f"{run.completions:,}: {', '.join(states)}")
    story.add_reason(run.reason_code)
    if run.late_answers:
        story.add("late", f"{number(run.late_answers, 'answer')} came too late and were dropped")
    for event in run.history:
        story.add("history", f"{story.at(event.at)}: {event.step}, {event.remaining:,} left")
    return _document(run)


def _standing(story: Story, run: RunSummary) -> str:
    until = f" until {story.at(run.sleep_until)}" if run.sleep_until else ""
    return f"{_RUN_STEPS[run.step]}{until}"


def _grader(client: AutotuneClient, story: Story, id_: str) -> dict[str, Any]:
    grader = client.graders.get(id_)
    health: GraderHealth | None = None
    # Another organisation's public grader is read without its health.
    with suppress(NotFoundError, PermissionDeniedError):
        health = client.graders.health(id_)
    waiting: list[RunSummary] | None = None
    with suppress(PermissionDeniedError):
        waiting = [
            run
            for state in ("sleeping", "waiting", "running", "pending")
            for run in islice(client.runs.list(state=state, grader_id=id_), _MOST_RUNS)
        ]
    story.add("grader", f"{id_} {grader.name}, {grader.kind}, version {grader.version or 'none'}")
    _add_health(story, grader, health)
    limits = grader.limits
    most = [
        f"{limits.max_concurrency} calls at the same time" if limits.max_concurrency else "",
        f"{limits.requests_per_second:g} calls a second" if limits.requests_per_second else "",
    ]
    story.add("limits", ", ".join(filter(None, most)) or "none")
    if waiting is None:
        story.add("runs", "not shown to this key's role")
    elif not waiting:
        story.add("runs", "none waits for it")
    for run in waiting or ():
        left = f"{run.remaining:,} of {number(run.completions, 'completion')}"
        story.add("run", f"{run.id} ({left}, {attempts(run.attempt)}): {_standing(story, run)}")
        story.add_reason(run.reason_code)
    return {
        "grader": _document(grader),
        "health": _document(health) if health else None,
        "runs": None if waiting is None else [_document(run) for run in waiting],
    }


def _add_health(story: Story, grader: Grader, health: GraderHealth | None) -> None:
    since = f" since {story.at(grader.status_changed_at)}" if grader.status_changed_at else ""
    story.add("status", f"{grader.status}{since}")
    if health is None:
        return
    if health.last_probe is not None:
        probe = health.last_probe
        why = f" ({probe.reason_code})" if probe.reason_code else ""
        story.add("probe", f"{probe.outcome}{why} at {story.at(probe.probed_at)}")
    circuit = health.circuit
    if circuit is not None:
        until = f" until {story.at(circuit.open_until)}" if circuit.open_until else ""
        failed = circuit.last_failed_at
        last = f"; a call last found it down at {story.at(failed)}" if failed else ""
        story.add("circuit", f"{circuit.state}{until}{last}")
    if health.next_turn_at is not None:
        story.add("turns", f"a run that comes now has its turn at {story.at(health.next_turn_at)}")


def _document(thing: BaseModel) -> dict[str, Any]:
    return thing.model_dump(by_alias=True, mode="json")


_STORIES: Mapping[IdKind, tuple[str, Callable[[AutotuneClient, Story, str], dict[str, Any]]]] = {
    "cmp": ("completion", _completion),
    "bat": ("batch", _batch),
    "run": ("run", _run),
    "grd": ("grader", _grader),
    "llm": ("llmRequest", explain_request),
    "lbt": ("llmBatch", explain_batch),
    "lim": ("llmImport", explain_import),
}

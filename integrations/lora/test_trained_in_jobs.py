"""From examples to a promoted version, and to a discarded one: real jobs, hosts and judges.

The base is tiny and trained here, so this shows that all of the way is there, and no quality.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import count

import pytest

from autotune import AutotuneClient
from integrations.lora.operating import hurried
from integrations.lora.tasks import ASKED, PAID, POISONED, USD_AN_HOUR, VERBS, examples, task
from tests.support.students import made_up

PATIENCE = 600
TRAINS_FOR = 900
AT_ONCE = 4
A_ROUND = 20
SHOWN = 10
LEARNED, MISTAUGHT = "learned", "mistaught"


def until(what, seconds=PATIENCE):
    """Return what comes within some time."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.1)
    return found


@pytest.fixture(scope="module")
def trained(operator, base, teacher):
    """Two tasks, and what became of their trainings: the first one's job was interrupted."""
    with AutotuneClient() as client:
        tasks = {LEARNED: begun(client, teacher, LEARNED)}
        operator.interrupt(until(lambda: job_of(client)).name)
        with hurried(operator, tasks[LEARNED].id):
            tasks[MISTAUGHT] = begun(client, teacher, MISTAUGHT)
        with hurried(operator, *(one.id for one in tasks.values())):
            ended = {
                name: client.apprentice.trainings.wait_for(name, 1, timeout=TRAINS_FOR)
                for name in tasks
            }
        yield {name: (tasks[name], ended[name]) for name in tasks}


def inputs(count, *, seed):
    """Return inputs that are made up, each another one."""
    return list({value["text"]: value for value, _ in made_up(count, seed=seed)}.values())


def ask(client, name, value):
    """Have an input answered."""
    run = client.apprentice.run(name, input=value, wait=25)
    return until(lambda: (at := client.apprentice.get_run(run.id)).state != "pending" and at)


def begun(client, teacher, name):
    """Put a task, teach it, begin a training, and return the task."""
    model = PAID if name == LEARNED else POISONED
    made = client.apprentice_tasks.put(name, configuration=task(teacher.id, model=model))
    added = client.apprentice.examples.add(name, examples(model)).added
    with ThreadPoolExecutor(AT_ONCE) as threads:
        runs = list(threads.map(lambda one: ask(client, name, one), inputs(ASKED, seed=3)))
    assert {run.state for run in runs} == {"answered"}
    until(lambda: client.apprentice.examples.counts(name).examples == added + ASKED)
    client.apprentice.trainings.start(name)
    return made


def job_of(client):
    """Return the job of the first training, if there is one by now."""
    found = client.apprentice.trainings.get(LEARNED, 1)
    assert found.state == "running", found
    return found.job


def test_a_model_that_learned_serves_in_the_end(trained, client):
    _, training = trained[LEARNED]
    assert (training.state, training.error, training.objections) == ("hosted", None, [])
    assert training.test.mean > 0.9
    assert client.apprentice.status(LEARNED).phase == 2

    # Each process knows a task for half a minute: what is asked in it has no local answer to
    # compare. So time is the bound, not how many are asked.
    seeds = count(9)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        until(lambda: serves_after(inputs(A_ROUND, seed=next(seeds)), client, threads))
    assert client.apprentice.status(LEARNED).serving == training.version
    questions = inputs(SHOWN, seed=8)
    runs = until(lambda: answered_locally(client, questions))
    right = [
        VERBS.intersection(value["text"].split()) == {run.output["intent"]}
        for value, run in zip(questions, runs, strict=True)
    ]
    assert sum(right) >= 0.9 * SHOWN


def serves_after(questions, client, threads):
    """Ask some more, and return whether the version serves by now."""
    list(threads.map(lambda one: ask(client, LEARNED, one), questions))
    return client.apprentice.status(LEARNED).phase == 3


def answered_locally(client, questions):
    """Return runs of some inputs, if the version answered all of them."""
    runs = [ask(client, LEARNED, one) for one in questions]
    return runs if all(run.routing.answers == "local" for run in runs) else None


def test_one_that_was_taught_wrong_is_discarded(trained, operator, client):
    taught, training = trained[MISTAUGHT]
    assert (training.state, training.objections) == ("discarded", ["agreement"])
    assert training.test.valid >= 0.98
    # Of 25 held-out answers it has about eight by chance, and fifteen now and then.
    assert training.test.mean < 0.8
    assert client.apprentice.status(MISTAUGHT).versions == []

    named = taught.id.replace("_", "-")
    with hurried(operator, taught.id):
        # At most its base is left, which further models of the task would have.
        until(lambda: all("-base-" in name for name in components(operator, named)))
        client.apprentice_tasks.delete(MISTAUGHT)
        until(lambda: not components(operator, named))


def components(operator, named):
    """Return the names of a task's inference components."""
    return [name for name in operator.components() if named in name]


def test_an_interruption_costs_what_was_billed_and_no_step_twice(trained, operator, client):
    task_of, training = trained[LEARNED]
    job = operator.job(training.job.name)
    states = [one["Status"] for one in job["SecondaryStatusTransitions"]]
    assert states.count("Interrupted") == 1
    assert (states.count("Training"), job["TrainingJobStatus"]) == (2, "Completed")
    printed = [line.partition(" ")[0] for line in operator.printed(training.job.name)]
    assert printed.count("step=100") == 1
    paid = Decimal(job["BillableTimeInSeconds"]) * Decimal(USD_AN_HOUR) * 10**9 / 3600
    assert 0 <= training.spent_nano_usd - paid < 1
    spent = training.spent_nano_usd
    assert operator.training_money(task_of.id) == {"committed": spent, "spent": spent}

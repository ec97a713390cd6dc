"""A platform that several threads use at a time, as a server's do."""

import importlib.util
import itertools
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from moto.core.botocore_stubber import BotocoreStubber

from autotune_platform.http.api import Api
from tests.support.aws import QUEUES
from tests.support.executions import inputs_of
from tests.support.granted import as_function
from tests.support.lambdas import LambdaContext
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform

_ROOT = Path(__file__).parents[2]
_asked = threading.local()
_idle: defaultdict[str, list[ModuleType]] = defaultdict(list)
_numbers = itertools.count()


def load_functions() -> None:
    """Load a copy of every function's module.

    What functions log goes where the standard output leads as they are loaded: this is for those
    that tests call while they read it.
    """
    for path in sorted(_ROOT.glob("functions/*/*.py")):
        if path.stem != "__init__":
            name = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
            _idle[name].append(importlib.import_module(name))


class SharedPlatform(Platform):
    """Answers each request in an environment of its own, as Lambda does; scores once for all."""

    def __init__(self) -> None:
        self._scoring = threading.Lock()
        self._known: set[str] = set()
        self._runs: list[dict[str, Any]] = []
        super().__init__()

    def invoke(self, module: str, event: dict[str, Any]) -> Any:
        _asked.event, _asked.context = APIGatewayProxyEventV2(event), LambdaContext()
        with _environment(module) as function:
            return as_function(module, function.lambda_handler)(event, _asked.context)

    def score(self, rounds: int | None = None) -> None:
        """Grade what is queued, until nothing is left or for some rounds of each run."""
        self.start_runs()
        with self._scoring:
            self._runs += self._new("score_completions")
            if rounds is None:
                self._runs = [left for left in self.finish(self._runs) if left["remaining"]]
                return
            for _ in range(rounds):
                graded = [self.grade(progress) for progress in self._runs]
                self._runs = [progress for progress in graded if progress["remaining"]]

    def start_runs(self) -> None:
        """Have a run for all that is queued."""
        with self._scoring:
            for queue in QUEUES:
                self.dispatch(self.queued(queue))

    def new_exports(self) -> list[dict[str, Any]]:
        """The inputs of executions for exports that were started since this was asked before."""
        with self._scoring:
            return self._new("export_scores")

    def _new(self, state_machine: str) -> list[dict[str, Any]]:
        new = {
            arn: found for arn, found in inputs_of(state_machine).items() if arn not in self._known
        }
        self._known.update(new)
        return [new[arn] for arn in sorted(new)]


@contextmanager
def _environment(module: str) -> Iterator[ModuleType]:
    """Lend a loaded copy of a function's module that answers nobody else meanwhile."""
    idle = _idle[module]
    try:
        function = idle.pop()
    except IndexError:
        function = _loaded(module)
    try:
        yield function
    finally:
        idle.append(function)


def _loaded(module: str) -> ModuleType:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.loader is not None
    function = importlib.util.module_from_spec(spec)
    # Known by its name, so that it is forgotten with all others.
    sys.modules[f"{module}#{next(_numbers)}"] = function
    spec.loader.exec_module(function)
    return function


@contextmanager
def shared_platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedPlatform]:
    """Provide an empty platform whose calls of AWS are done one after the other.

    moto's stores are not made for threads; of DynamoDB, what is atomic would be so no longer.
    """
    lock = threading.RLock()
    process = BotocoreStubber.process_request

    def one_at_a_time(self: BotocoreStubber, request: Any) -> Any:
        with lock:
            return process(self, request)

    monkeypatch.setattr(BotocoreStubber, "process_request", one_at_a_time)
    # The library keeps one event for a whole process, which on Lambda answers one at a time.
    for name, asked in {"current_event": "event", "lambda_context": "context"}.items():
        of_this_thread = property(lambda _, asked=asked: getattr(_asked, asked))
        monkeypatch.setattr(Api, name, of_this_thread, raising=False)
    with make_platform(monkeypatch, kind=SharedPlatform) as made:
        assert isinstance(made, SharedPlatform)
        yield made

"""DynamoDB and Step Functions of one process, each of whose calls can be killed or refused."""

import json
from collections.abc import Callable
from typing import Any

from botocore.session import Session
from ministack.services import dynamodb

from tests.support.tables import RefusalError, answer_of, done

Around = Callable[[str, dict[str, Any], Callable[[], Any]], Any]
"""Is given a call's name, what it asks, and what does it; returns the answer, or raises."""


class Store:
    """What the process's AWS clients reach for tables and executions.

    Attributes:
        around: what each call goes through, to be killed or refused.
        started: the inputs of executions that were started and not taken from here.
    """

    def __init__(self) -> None:
        self.around: Around = lambda _name, _asked, do: do()
        self.started: list[dict[str, Any]] = []
        self._names: dict[str, str] = {}

    def install(self, session: Session) -> None:
        """Answer what clients of a session ask from now on."""
        events = session.get_component("event_emitter")
        events.register("before-call.dynamodb", self._tables)
        events.register("before-call.stepfunctions.StartExecution", self._start)

    def items(self, table: str) -> list[dict[str, Any]]:
        """Return every item of a table, as it is stored."""
        found = dynamodb._tables.get(table)
        return [item for some in found["items"].values() for item in some.values()]

    def item(self, table: str, key: dict[str, Any]) -> dict[str, Any]:
        """Return an item as it is stored, empty where there is none."""
        some = dynamodb._tables.get(table)["items"].get(key["pk"]["S"], {})
        return dict(some.get(key["sk"]["S"], {}))

    def _tables(self, model: Any, params: dict[str, Any], **_: Any) -> Any:
        asked = json.loads(params["body"])
        if model.name == "CreateTable":
            asked.pop("StreamSpecification", None)  # nobody reads streams here
        return self._answer(model.name, asked, lambda: done(model.name, asked))

    def _start(self, model: Any, params: dict[str, Any], **_: Any) -> Any:
        asked = json.loads(params["body"])

        def start() -> dict[str, Any]:
            if (before := self._names.get(asked["name"])) is not None:
                if before == asked["input"]:
                    return {"executionArn": asked["name"], "startDate": 0}
                raise RefusalError("ExecutionAlreadyExists", asked["name"])
            self._names[asked["name"]] = asked["input"]
            if "submit_llm_batch" in asked["stateMachineArn"]:
                self.started.append(json.loads(asked["input"]))
            return {"executionArn": asked["name"], "startDate": 0}

        return self._answer(model.name, asked, start)

    def _answer(self, name: str, asked: dict[str, Any], do: Callable[[], Any]) -> Any:
        return answer_of(lambda: self.around(name, asked, do))

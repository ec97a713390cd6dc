"""What the formats of all providers have in common: JSON either way, and how an answer is read."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol.llm_params import LlmParams
from autotune_platform.ledger.calls import HttpQuestion, Outcome, Question, Turn
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers import refusals
from autotune_platform.ledger.providers.documents import document_of, name
from autotune_platform.ledger.providers.lengths import all_plain, lengthening, plain
from autotune_platform.ledger.providers.refusals import Trouble, Vocabulary
from autotune_platform.ledger.providers.turns import late_instruction
from autotune_platform.runtime.bounded_json import EXPANDING

_REQUEST_ID_HEADERS = ("x-request-id", "request-id")


class JsonFormat(ABC):
    """A ``ProviderFormat`` whose questions and answers are JSON objects.

    Attributes:
        vocabulary: what the provider's words for errors mean.
        own_fields: what ``extra`` may not set, because the bound of what a row costs follows from
            it: by which model it is answered, at which price, with what that is paid apart. Length
            and number of answers are refused beside them (``lengths``), and so is each name in
            other spellings.
    """

    vocabulary = Vocabulary()
    own_fields: frozenset[str] = frozenset()

    @abstractmethod
    def question(self, connection: Connection, key: str | None, asked: Question) -> HttpQuestion:
        """Return what is sent."""

    def unsupported(self, params: LlmParams) -> str | None:
        """Return the first field that the provider does not take, by its name on the wire."""
        refused = self.unbounded(params.extra or {})
        return refused and f"extra.{refused}"

    def unbounded(self, members: Mapping[str, Any]) -> str | None:
        """Return the first member of a request that the bound of its cost does not allow for."""
        own = all_plain(self.own_fields)
        refused = (member for member in sorted(members) if plain(member) in own)
        lengths = (found.removeprefix(".") for found in lengthening(members, ""))
        return next(refused, None) or next(lengths, None)

    def unsupported_turn(self, turns: Sequence[Turn]) -> int | None:
        """Return the place of an instruction behind what was said; None if there is none."""
        return late_instruction(turns)

    def unsupported_in_batch(self, params: LlmParams) -> str | None:  # noqa: ARG002 - others refuse some
        """Return the first field that single calls take and batch jobs do not; None if none."""
        return None

    def outcome(
        self, status: int, headers: Mapping[str, str], body: bytes, key: str | None = None
    ) -> Outcome:
        """Return what an answer means, whatever it is; the key is not in it."""
        with EXPANDING:
            return refusals.without_key(self._outcome(status, headers, body), key)

    def _outcome(self, status: int, headers: Mapping[str, str], body: bytes) -> Outcome:
        if 300 <= status < 400:
            return refusals.redirected(status)
        document = document_of(body)
        succeeded = 200 <= status < 300
        if succeeded and not isinstance(document, dict):
            return refusals.malformed("the answer is no JSON object, or it is too large")
        trouble = self._trouble(status, document)
        if trouble is not None:
            return refusals.refusal(trouble, headers, self.vocabulary)
        if not succeeded:
            nothing_said = Trouble(status, frozenset(), "")
            return refusals.refusal(nothing_said, headers, self.vocabulary)
        return self._answer(document, _request_id(headers))

    @abstractmethod
    def _trouble(self, status: int, document: Any) -> Trouble | None:
        """Return the error that a document tells, with any status; None if it tells none."""

    @abstractmethod
    def _answer(self, document: Any, request_id: str | None) -> Outcome:
        """Return what an object means that came with 2xx and tells of no error."""


def json_question(
    url: str, headers: Mapping[str, str], own: Mapping[str, Any], extra: Mapping[str, Any]
) -> HttpQuestion:
    """Return a POST of JSON: our own members but those that are None, and further ones."""
    sent = {**extra, **present(own)}
    return HttpQuestion(
        url=url,
        headers={"Content-Type": "application/json", **headers},
        # In ASCII: free-form parameters may hold halves of pairs, which UTF-8 does not.
        body=json.dumps(sent, separators=(",", ":")).encode("ascii"),
    )


def present(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members without those that are None."""
    return {member: value for member, value in members.items() if value is not None}


def words(*values: Any) -> frozenset[str]:
    """Return those of a provider's types, codes and reasons that are texts."""
    return frozenset(value for value in values if isinstance(value, str))


def _request_id(headers: Mapping[str, str]) -> str | None:
    found = (name(headers.get(header)) for header in _REQUEST_ID_HEADERS)
    return next(filter(None, found), None)

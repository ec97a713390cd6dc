"""What a rubric grader's model is asked about a completion, and under which key."""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.llm_params import LlmInput
from autotune.protocol.llm_requests import EnqueueLlmRequest, LlmTrace
from autotune.protocol.rubrics import RubricConfiguration, RubricLevels
from autotune_platform.checks.rubrics import Rubric
from autotune_platform.checks.templates import Sample
from autotune_platform.completions.models import Completion
from autotune_platform.judging.judge import Round
from autotune_platform.judging.rubric.conversations import completion_texts
from autotune_platform.judging.rubric.level_scoring import ASKED, Counting, unfit
from autotune_platform.judging.rubric.levels import levels_request
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.ordering import order_id
from autotune_platform.ledger.providers.registry import takes_json_schema
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import OfGrader, VerdictKey

PURPOSE = "scoring"
# Deadlines are at most a week away; what is left behind goes a day later.
_RETENTION_DAYS = 8


def row_id(completion_id: str, asker: OfGrader | VerdictKey, organization_id: str) -> str:
    """Return the id of the row that asks about a completion: one for each generation."""
    return order_id(organization_id, key_of(completion_id, asker))


def key_of(completion_id: str, asker: OfGrader | VerdictKey) -> str:
    """Return the key of a question."""
    key = (completion_id, asker.grader_id, asker.grader_version, str(asker.generation))
    return "#".join(("rubric", *key))


class Questions:
    """Makes the questions of a rubric grader in one round."""

    def __init__(self, round_: Round, connection: Connection) -> None:
        self._round = round_
        self._connection = connection
        self._configuration = RubricConfiguration.model_validate(round_.grader.rubric)
        answer = self._configuration.answer
        self._levels = answer if isinstance(answer, RubricLevels) else None
        self._prompt = None if self._levels else Rubric(self._configuration, field="rubric")
        self._counting = Counting.of(round_.grader, connection)

    def about(self, completion: Completion) -> EnqueueLlmRequest | Judgement:
        """Return what is asked about a completion, or what it is where nobody is asked.

        Raises:
            CompletionFaultError: a place in the prompt is missing, or the text is too long.
        """
        if not self._counting.is_allowed(completion):
            return Judgement(abstained=True, reason_code=self._counting.reason)
        if self._levels is not None:
            return self._of_levels(self._levels, completion)
        assert self._prompt is not None, "it has one or the other"
        return self._of_prompt(self._prompt, completion)

    def _of_levels(
        self, rubric: RubricLevels, completion: Completion
    ) -> EnqueueLlmRequest | Judgement:
        texts = completion_texts(completion.prompt, completion.response, completion.metadata)
        judgement = unfit(rubric, texts)
        if judgement is not None:
            return judgement
        request = levels_request(
            rubric,
            self._configuration,
            texts,
            deck_prompt=rubric.system_prompt,
            **self._row(completion),
        )
        return _with_variable(request, ASKED, self._counting.as_variable(completion))

    def _of_prompt(self, rubric: Rubric, completion: Completion) -> EnqueueLlmRequest:
        sample = Sample(
            prompt=completion.prompt, response=completion.response, metadata=completion.metadata
        )
        configuration = self._configuration
        params = configuration.params
        if takes_json_schema(self._connection.provider):
            params = params.model_copy(update={"response_format": _response_format(rubric.schema)})
        return EnqueueLlmRequest(
            connection_id=configuration.connection_id,
            model=configuration.model,
            input=LlmInput(
                system=rubric.system, user=rubric.user, variables=rubric.variables(sample)
            ),
            params=params,
            **self._row(completion),
        )

    def _row(self, completion: Completion) -> dict[str, Any]:
        """Return what a row has whatever it asks."""
        grader = self._round.grader
        return {
            "purpose": PURPOSE,
            "completion_id": completion.id,
            "trace": LlmTrace(rubric_id=grader.id),
            "labels": {
                "grader": grader.id,
                "version": grader.version or "",
                "run": self._round.asker.run_id,
            },
            "complete_by": completion.deadline,
            "retention_days": _RETENTION_DAYS,
        }


def _with_variable(request: EnqueueLlmRequest, name: str, value: str) -> EnqueueLlmRequest:
    variables = {**request.input.variables, name: value}
    asked = request.input.model_copy(update={"variables": variables})
    return request.model_copy(update={"input": asked})


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "grade", "strict": True, "schema": schema},
    }

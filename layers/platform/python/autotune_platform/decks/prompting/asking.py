"""Responses as rows of the ledger: an input, under the prompt of one version or the other."""

from dataclasses import dataclass

from autotune.protocol.llm_params import LlmInput
from autotune.protocol.llm_requests import EnqueueLlmRequest, LlmTrace
from autotune_platform.decks.models import GraderVersion, Sample
from autotune_platform.decks.prompting.inputs import messages_of, values_of
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.runs.asking import Asking, RunAsking, Wanted
from autotune_platform.decks.runs.models import Judged, Run
from autotune_platform.judging.rubric.conversations import SampleTexts
from autotune_platform.runtime.parts import part

PURPOSE = "prompt_generation"

# A run takes a week at most; what is left behind goes a day later.
_RETENTION_DAYS = 8


@dataclass
class Generating(Asking):
    """What one step of a run that generates reads once; the edit is None where it is gone."""

    edit: PromptEdit | None = None


@part
class GenerationAsking(RunAsking):
    """Makes rows of responses; the "graders" of such a run are the versions of the prompt."""

    edits: PromptEditRepository

    def begin(self, run: Run) -> Generating | None:
        """Return what a step of a run needs for its questions; None while nobody may ask.

        Raises:
            NotFoundError: the organisation is gone.
        """
        asking = super().begin(run)
        if asking is None:
            return None
        edit = self.edits.get(run.deck_id, run.fingerprint)
        return Generating(run.id, asking.caller, asking.versions, edit=edit)

    def _version(self, deck_id: str, judged: Judged) -> GraderVersion | None:  # noqa: ARG002
        return None  # nobody judges

    def _request(
        self, asking: Asking, run: Run, wanted: Wanted, header: Sample, texts: SampleTexts
    ) -> EnqueueLlmRequest | None:
        assert isinstance(asking, Generating), "this is what the run's step began with"
        version = run.graders[wanted.grader].version
        prompt = self._prompt(asking, run, version)
        base = None if asking.edit is None else self._prompt(asking, run, asking.edit.base_version)
        values = None if base is None else values_of(base, texts)
        if asking.edit is None or prompt is None or values is None:
            return None
        system, user = (one["content"] for one in messages_of(prompt, values, texts.turns[0].text))
        labels = {"run": run.id, "edit": asking.edit.id, "version": str(version)}
        return request_of(
            asking.edit,
            system=system,
            user=user,
            trace=LlmTrace(sample_id=header.id),
            labels={**labels, "ask": str(wanted.ask)},
        ).model_copy(update={"complete_by": run.deadline, "retention_days": _RETENTION_DAYS})


def request_of(
    edit: PromptEdit,
    *,
    system: str,
    user: str,
    trace: LlmTrace | None = None,
    labels: dict[str, str] | None = None,
) -> EnqueueLlmRequest:
    """Return what a model is asked: texts of others travel in variables alone."""
    return EnqueueLlmRequest(
        connection_id=edit.generator.connection_id,
        purpose=PURPOSE,
        model=edit.generator.model,
        input=LlmInput(
            system="{{system}}", user="{{input}}", variables={"system": system, "input": user}
        ),
        params=edit.generator.params,
        deck_id=edit.deck_id,
        trace=trace,
        labels=labels or {},
    )

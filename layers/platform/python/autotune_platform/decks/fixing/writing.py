"""Making edits: a patch is applied, and checked, before an edit of it is stored."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from autotune.protocol.deck_edits import CreateEditRequest, EditChange, EditOrigin, EditPattern
from autotune.protocol.ids import new_id
from autotune.protocol.levels import LevelsRubric, RubricExample
from autotune.protocol.limits import EDIT_COPIED_WORDS, MAX_EDIT_COMPARED_SAMPLES
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.copying import added_runs, is_copied
from autotune_platform.decks.fixing.example_erasing import ExampleEraser
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.fixing.patching import added_texts, patched
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.models import DeckGrader
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.decks.service import require_current
from autotune_platform.judging.rubric.conversations import sample_texts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, UnavailableError
from autotune_platform.runtime.parts import part


@part
class EditWriting:
    """Makes edits of graders, and refuses those that would only repeat samples."""

    graders: LabelledGraders
    edits: EditRepository
    labels: LabelRepository
    samples: SampleRepository
    examples: ExampleEraser
    clock: Clock = SYSTEM_CLOCK

    def create(
        self, caller: Caller, deck_id: str, grader_id: str, request: CreateEditRequest
    ) -> Edit:
        """Store an edit of a grader's current version that a person wrote.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: the patch does not apply, makes the rubric too long, or copies a
                sample; or a sample is none of the development half.
            ConflictError: ``baseVersion`` is not the current version.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        require_current(grader.version, request.base_version)
        base = self.graders.version(grader)
        self._require_development(deck_id, request)
        checked = self.checked(grader, base.rubric, request.patch, named=request.sample_ids)
        assert checked != base.rubric, "what changes nothing is refused"
        return self.add(
            grader,
            origin="person",
            patch=request.patch,
            pattern=request.pattern,
            sample_ids=list(dict.fromkeys(request.sample_ids)),
            note=request.note,
            author=caller.principal_id,
        )

    def checked(
        self,
        grader: DeckGrader,
        base: LevelsRubric,
        patch: Sequence[EditChange],
        *,
        named: Iterable[str] = (),
    ) -> LevelsRubric:
        """Return a rubric with a patch that was compared with what people labelled.

        Raises:
            InvalidRequestError: the patch is refused.
        """
        rubric = patched(base, patch)
        forbidden = [_Added("patch", added_runs(added_texts(base, rubric)))]
        for place, change in enumerate(patch):
            if change.example is not None:
                field = f"patch[{place}].example"
                forbidden.append(self._of_sample(grader, change.example, field))
        self._require_own_words(grader, forbidden, named)
        return rubric

    def add(
        self,
        grader: DeckGrader,
        *,
        origin: EditOrigin,
        patch: Sequence[EditChange],
        pattern: EditPattern | None,
        sample_ids: Sequence[str],
        note: str,
        author: str,
        edit_id: str | None = None,
        cost: int = 0,
    ) -> Edit:
        """Store an edit whose patch was checked.

        Args:
            cost: what it cost that a model proposed it, in nano-USD.

        Raises:
            UnavailableError: its id is taken, or the table is busy.
        """
        edit = Edit(
            id=edit_id or new_id("edt"),
            organization_id=grader.organization_id,
            deck_id=grader.deck_id,
            grader_id=grader.id,
            origin=origin,
            base_version=grader.version,
            patch=list(patch),
            pattern=pattern,
            sample_ids=list(sample_ids),
            note=note,
            proposal_cost_nano_usd=cost,
            created_at=self.clock.now(),
            created_by=author,
        )
        if not self.edits.store([self.edits.added(edit)]):
            raise UnavailableError("the edit is there", retry_after_seconds=1)
        self.erase_gone(edit)
        return edit

    def erase_gone(self, edit: Edit) -> None:
        """Erase examples whose samples were deleted while an edit, or its version, was stored."""
        cited = {one.example.sample_id for one in edit.patch if one.example is not None}
        self.examples.erase_gone(edit.deck_id, (id_ for id_ in cited if id_ is not None))

    def _require_development(self, deck_id: str, request: CreateEditRequest) -> None:
        named = {f"sampleIds[{place}]": id_ for place, id_ in enumerate(request.sample_ids)}
        for place, change in enumerate(request.patch):
            if change.example is not None and change.example.sample_id is not None:
                named[f"patch[{place}].example.sampleId"] = change.example.sample_id
        found = self.samples.headers(deck_id, named.values())
        for field, id_ in named.items():
            if id_ not in found or found[id_].split != "development":
                why = "it is held out" if id_ in found else "the deck has no such sample"
                raise InvalidRequestError.of_field(
                    field, "a sample of the development half", detail=why
                )

    def _of_sample(self, grader: DeckGrader, example: RubricExample, field: str) -> "_Added":
        """Require that an example is of its sample; return what is said of it beside."""
        headers = self.samples.headers(grader.deck_id, [example.sample_id or ""])
        texts = [*self.samples.each_texts(headers.values())]
        if not texts:
            raise InvalidRequestError.of_field(
                f"{field}.sampleId", "a sample of the development half"
            )
        ((sample, stored),) = texts
        own = sample_texts(stored.request, stored.response)
        asked = "\n".join(turn.text for turn in own.turns)
        for name, said, text in (
            ("input", example.input, asked),
            ("output", example.output, own.response),
        ):
            if _plain(said) not in _plain(text):
                raise InvalidRequestError.of_field(f"{field}.{name}", "a passage of its sample")
        new = added_runs([(f"{asked}\n{own.response}", example.explanation)])
        return _Added(f"{field}.explanation", new, but=sample.id)

    def _require_own_words(
        self, grader: DeckGrader, added: Sequence["_Added"], named: Iterable[str]
    ) -> None:
        """Require that nothing is added that a labelled sample of either half, or a named one, has.

        What is measured is measured on these. Of more than two thousand, the newest. They are
        unpacked one by one: all of them would be two gigabytes.
        """
        labelled = sorted((one.sample_id for one in self.labels.truths(grader.id)), reverse=True)
        ids = dict.fromkeys([*named, *labelled[:MAX_EDIT_COMPARED_SAMPLES]])
        headers = self.samples.headers(grader.deck_id, ids)
        for sample, stored in self.samples.each_texts(headers.values()):
            texts = sample_texts(stored.request, stored.response)
            for one in added:
                if sample.id != one.but and is_copied(one.runs, texts):
                    raise InvalidRequestError.of_field(
                        one.field,
                        f"words of its own: no {EDIT_COPIED_WORDS} in a row from a sample",
                        detail=f"it copies from sample {sample.id}",
                    )


@dataclass(frozen=True)
class _Added:
    """Words that a field of a patch adds, which no sample may have but one."""

    field: str
    runs: Collection[str]
    but: str | None = None


def _plain(text: str) -> str:
    return " ".join(text.split())

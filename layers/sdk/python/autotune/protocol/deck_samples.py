"""Samples of decks on the wire: what a model was asked, and what it answered."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from autotune.protocol import limits, types
from autotune.protocol.decks import VersionNumber
from autotune.protocol.llm_limits import ModelName

Split = Literal["development", "holdout"]
"""Which half a sample is in: what is held out reaches no prompt but those of grading."""

Collection = Literal["manual", "telemetry"]
"""How a sample came here that callers brought."""

SampleCollection = Literal["manual", "telemetry", "generated"]
"""How a sample came here; what is ``generated`` is another answer to the input of a sample."""

GroupKey = Annotated[
    types.Text, StringConstraints(min_length=1, max_length=limits.MAX_GROUP_KEY_CHARACTERS)
]
ExternalId = Annotated[
    types.Text, StringConstraints(min_length=1, max_length=limits.MAX_EXTERNAL_ID_CHARACTERS)
]
"""The caller's own id of a sample: no other sample of its deck has the same."""

_Provider = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[!-~]+$")]


class NewSample(types.RequestModel):
    """A sample: ``request`` and ``response`` as OpenAI has them, or ``input`` and ``output``.

    Attributes:
        request: a request for a chat completion, with its ``messages``.
        response: its answer, with its ``choices``; the first is what is judged.
        input: what a person said, in place of ``request``.
        output: what a model answered, in place of ``response``.
        provider: whose model it was.
        model: which; the response's, else the request's, where it is left out. No judge sees it.
        group_key: samples that say much the same, such as one document's, have the same key, so
            that they are never parted. Without it they go by what the conversation began with.
        deck_version: the version that the system prompt had; the current one where it is left out.
        external_id: the caller's own id, of one sample of a deck: the same content with the same id
            is the same sample, however often it comes, and other content is refused.
    """

    request: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    input: types.Text | None = None
    output: types.Text | None = None
    provider: _Provider | None = None
    model: ModelName | None = None
    metadata: types.Metadata = {}
    group_key: GroupKey | None = None
    deck_version: VersionNumber | None = None
    external_id: ExternalId | None = None
    requested_at: types.Moment | None = None


class AddSamplesRequest(types.RequestModel):
    """Samples of one deck; all of them are stored, or none."""

    most_values: ClassVar[int] = limits.MAX_SAMPLE_VALUES * 10

    samples: Annotated[
        list[NewSample],
        Field(min_length=1, max_length=limits.MAX_SAMPLES),
        types.at_most(limits.MAX_SAMPLES),
    ]


class Sample(types.ResponseModel):
    """A sample of a deck.

    Attributes:
        external_id: the caller's own id, if it came with one.
        request: as OpenAI has it; left out of lists, as ``response`` is.
        input_excerpt: how what was asked last begins; so with ``output_excerpt``.
        group_key: a digest of the group: samples with the same one are in the same half.
        content_hash: of request and response; the same texts have the same.
        source_id: of one that was generated, the sample whose input it answers; it goes with it.
        prompt_edit_id: the edit of the system prompt that it was generated for.
        duplicate_of: the first sample of this deck with the same texts, if this is not it.
        expires_at: when it is erased, with all that was said of it; captured ones may be.
    """

    id: str
    deck_id: str
    deck_version: int
    external_id: str | None = None
    request: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    input_excerpt: str
    output_excerpt: str
    input_characters: int
    output_characters: int
    collection: SampleCollection
    source_id: str | None = None
    prompt_edit_id: str | None = None
    provider: str | None = None
    model: str | None = None
    metadata: types.Metadata | None = None
    group_key: str
    content_hash: str
    duplicate_of: str | None = None
    split: Split
    created_at: types.Timestamp
    requested_at: types.Timestamp | None = None
    expires_at: types.Timestamp | None = None


class SampleResponse(types.ResponseModel):
    """One sample."""

    sample: Sample


class SampleList(types.ResponseModel):
    """A page of a deck's samples, newest first; it may be short of its limit where it filters."""

    samples: list[Sample]
    next_token: str | None = None


class AddedSamples(types.ResponseModel):
    """The samples that were stored, in the order in which they came, without their texts."""

    samples: list[Sample]


class RejectedLine(types.ResponseModel):
    """A line that was not stored, counted from 1, and why not."""

    line: int
    field: str
    expected: str


class AddedLabels(types.ResponseModel):
    """What came of labels that stored lines of an upload had; each is counted once.

    Attributes:
        accepted: labels that were stored.
        repeated: labels that say what the rater had said already.
        not_blind: of those that were stored, how many are not blind; see ``BulkFeedback``.
        chosen: of those that were stored, how many are of held-out samples that were not drawn:
            they count for no agreement.
        rejected: labels that were not stored, each with its first fault; their samples were.
    """

    accepted: int
    repeated: int
    not_blind: int
    chosen: int
    rejected: list[RejectedLine]


class BulkSamples(types.ResponseModel):
    """What came of an upload: each of its lines that is not empty is in one of the two.

    Attributes:
        accepted: how many lines were stored.
        sample_ids: their samples, in the order of the lines.
        rejected: the lines that were not, each with its first fault.
        labels: what came of labels in the stored lines; null where there were none.
    """

    accepted: int
    sample_ids: list[str]
    rejected: list[RejectedLine]
    labels: AddedLabels | None = None

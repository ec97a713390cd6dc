"""What a person is to rate next, as they see it."""

from datetime import UTC, datetime

from autotune.protocol import deck_feedback as wire
from autotune.protocol.deck_rubrics import ShownRubric
from autotune_platform.decks.labels.inbox import InHand
from autotune_platform.judging.rubric.openai_messages import INSTRUCTIONS, first_answer


def in_hand_on_wire(found: InHand) -> wire.RatingInHand:
    """Return what a person is to rate, without what would lean them.

    Of a response that was generated for an edit of the system prompt, that is the prompt as well:
    who sees under which of the two it was made rates the prompt.
    """
    lease, texts = found.lease, found.sample.texts
    messages, is_blind = texts.request.get("messages", []), found.sample.sample.prompt_edit_id
    if is_blind:
        messages = [one for one in messages if one.get("role") not in INSTRUCTIONS]
    return wire.RatingInHand(
        task=lease.task,
        sample=wire.SampleToRate(
            id=lease.sample_id,
            messages=messages,
            prompt_withheld=is_blind is not None,
            response=first_answer(texts.response),
        ),
        grader_id=found.grader.id,
        grader_name=found.grader.name,
        version=found.version.version,
        rubric=ShownRubric.model_validate(
            found.version.rubric.model_dump(mode="json", by_alias=True)
        ),
        selection=lease.selection,
        probability=lease.probability,
        held_until=datetime.fromtimestamp(lease.until, UTC),
    )

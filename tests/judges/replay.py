"""A judge that gives the replies that real models gave, to whoever asks about the same summaries.

The model that is asked for is the model that replied; which of its prompts is meant follows from
the rubric in the prompt that was sent. A rubric, a summary or a model of which there is no reply is
404.
"""

from pathlib import Path

from tests.judges.layout import judge_prompt
from tests.judges.models import add_models
from tests.judges.summaries import Summaries, recast
from tests.judges.summary_rubrics import RATINGS, rubric_of
from tests.providers.answers import Ask
from tests.providers.state import World
from tests.providers.wire import ProviderError

FOLDER_VARIABLE = "AUTOTUNE_DATA_JUDGES"
JUDGE = "gpt-3.5-turbo-0301"
JUDGES = (JUDGE, "gpt-4-0314", "llama-2-70b-chat-hf", "llama-2-7b-chat-hf")


class Replay:
    """Answers with real replies.

    Args:
        summaries: What was said of which summary.
    """

    def __init__(self, summaries: Summaries) -> None:
        self._summaries = summaries
        self._ratings = {rubric_of(rating).digest: rating for rating in RATINGS}

    def __call__(self, ask: Ask) -> str:
        """Answers one prompt.

        Raises:
            ProviderError: If nobody ever said anything of it.
        """
        prompt = judge_prompt(ask)
        if prompt is None:
            raise ProviderError(
                400, "invalid", "This model reads prompts of judges of levels only."
            )
        digest = prompt.rubric.digest
        rating = self._ratings.get(digest)
        if rating is None:
            raise ProviderError(404, "not_found", f"No rubric has the digest {digest}.")
        replies = self._summaries.replies.get((ask.model, rating.criterion, rating.prompt))
        if replies is None:
            message = f"{ask.model} was never asked for {rating.criterion} by {rating.prompt}."
            raise ProviderError(404, "not_found", message)
        sample = self._summaries.first_of_alike.get(prompt.sample.digest)
        if sample is None or sample not in replies:
            raise ProviderError(404, "not_found", "Nobody was asked about this summary.")
        return recast(replies[sample], rating)


def serve_replay(world: World, folder: Path) -> Replay:
    """Lets a world answer with the replies of a folder.

    Raises:
        OSError: If its files are not there.
    """
    summaries = Summaries(folder)
    replay = Replay(summaries)
    # Read now, so that no first answer is slow.
    assert summaries.first_of_alike, f"{folder} has no samples"
    assert summaries.replies, f"{folder} has no replies"
    add_models(world, *JUDGES)
    world.answers.answerer = replay
    return replay

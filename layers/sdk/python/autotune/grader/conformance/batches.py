"""Checks of ``POST /score/batch``."""

from collections import Counter

from autotune.grader.conformance.session import CheckFailedError, CheckSkippedError, GraderSession

_TRIED_ITEMS = 3


def batch_complete(session: GraderSession) -> str:
    """A batch is answered with every id once and no other."""
    session.first_score()
    size = min(session.max_batch_size(), _TRIED_ITEMS)
    completions = [session.completion() for _ in range(size)]
    answer = session.score_batch(completions).read_batch()
    answered = Counter(item.completion_id for item in answer.scores)
    asked = {completion["id"] for completion in completions}
    missing = len(asked - answered.keys())
    added = len(answered.keys() - asked)
    repeated = sum(1 for times in answered.values() if times > 1)
    if missing or added or repeated:
        raise CheckFailedError(
            f"of {size} ids {missing} were missing, {repeated} came twice; {added} were never sent"
        )
    failed = sum(1 for item in answer.scores if item.error is not None)
    if failed:
        raise CheckFailedError(
            f"{failed} of {size} items failed, though each is a sound completion"
        )
    return f"{size} of {size} came back"


def batch_fails_in_part(session: GraderSession) -> str:
    """An item without prompt and response fails alone, or the batch is refused with a 4xx."""
    session.first_score()
    if session.max_batch_size() < 2:
        raise CheckSkippedError("the grader takes one completion at a time")
    sound = session.completion()
    broken = session.completion(prompt=None, response=None)
    exchange = session.score_batch([sound, broken])
    if 400 <= exchange.status < 500:
        return f"the batch was refused with {exchange.status}"
    items = {item.completion_id: item for item in exchange.read_batch().scores}
    good, bad = items.get(sound["id"]), items.get(broken["id"])
    if good is None or good.error is not None:
        raise CheckFailedError("the sound item got no score because another was broken")
    if bad is None:
        raise CheckFailedError("the broken item is missing from the answer")
    if bad.score is not None:
        raise CheckFailedError(f"the broken item got the score {bad.score.value:g}")
    return "the broken item failed alone" if bad.error else "it abstained on the broken item"


def batch_limit_kept(session: GraderSession) -> str:
    """A batch above the declared maxBatchSize is refused with a 4xx such as 413."""
    session.first_score()
    limit = session.max_batch_size()
    completions = [session.completion() for _ in range(limit + 1)]
    status = session.score_batch(completions).status
    if not 400 <= status < 500:
        raise CheckFailedError(f"{limit + 1} completions were answered {status}")
    return f"{limit + 1} completions were answered {status}"

"""A grader that tests tell, by what they submit, how to judge."""

from collections.abc import Callable

from tests.support.graders import Answer, LoopbackGrader


class ObedientGrader(LoopbackGrader):
    """Judges as a completion's metadata say: ``outcome`` (``scored``) and ``value`` (1.0).

    What is to end ``canceled`` it has canceled while it judges.
    """

    cancel: Callable[[str], object]

    def judge(self, completion: Answer) -> Answer:
        metadata = completion.get("metadata") or {}
        outcome = metadata.get("outcome", "scored")
        if outcome == "canceled":
            self.cancel(completion["id"])
        if outcome in {"abstained", "canceled"}:
            return {"abstained": True}
        if outcome == "failed":
            return {"error": "it was told to fail"}
        return {"score": {"value": metadata.get("value", 1.0), "confidence": 0.9}}

"""What examples say: texts are where they came from, so that they go where those are erased."""

from collections.abc import Sequence
from typing import Any

from autotune_platform.apprentice.evaluators import MAX_ANSWER_VALUES
from autotune_platform.apprentice.examples.models import Example, ExampleTexts
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.fences import unfenced
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.parts import part


@part
class ExampleContents:
    """Reads the texts of examples."""

    examples: ExampleRepository
    runs: RunRepository
    answers: RowAnswers

    def of(self, examples: Sequence[Example]) -> dict[str, ExampleTexts]:
        """Return the texts of examples, by id, without those whose texts were erased.

        Raises:
            UnavailableError: a table is busy.
        """
        imported = [one for one in examples if one.run_id is None]
        ran = {one.run_id: one for one in examples if one.run_id is not None}
        found = self.examples.texts_of(imported) if imported else {}
        inputs = self.runs.inputs(ran) if ran else {}
        rows = [one.row_id for one in ran.values() if one.row_id and one.run_id in inputs]
        outputs = self.answers.texts_of(rows) if rows else {}
        for run_id, value in inputs.items():
            one = ran[run_id]
            output = _read(outputs.get(one.row_id or ""))
            if output is not None:
                found[one.id] = ExampleTexts(value, output)
        return found


def _read(text: str | None) -> dict[str, Any] | None:
    """Return an answer; its run ended only because the output schema admitted it."""
    if text is None:
        return None
    try:
        value = parse_strictly(unfenced(text).encode(), most_values=MAX_ANSWER_VALUES)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None

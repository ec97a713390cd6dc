"""A language model that is none: it judges sums, behind OpenAI's chat completions.

It stands in for a vLLM or an Ollama server, so that requests can be tried without a key:
``python examples/language_models/arithmetic_judge.py --port 8081``. It compares the last number of
what stands after ``Response:`` with what stands after ``Reference:``, and ends with a verdict.
"""

import re
from collections.abc import Sequence

MODEL = "arithmetic-judge"

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def judge(texts: Sequence[str]) -> str:
    """Return reasoning, and a line that begins with ``VERDICT:``; the last text is the question."""
    asked, _, response = texts[-1].rpartition("Response:")
    reference = asked.rpartition("Reference:")[2].strip()
    numbers = _NUMBER.findall(response)
    if not numbers:
        return "The response names no number.\nVERDICT: ABSTAIN"
    is_right = numbers[-1] == reference
    compared = f"The response ends with {numbers[-1]}, and the reference is {reference}."
    return f"{compared}\nVERDICT: {'right' if is_right else 'wrong'}"


if __name__ == "__main__":
    from chat_server import serve  # beside this file, which is run as a script

    serve(model=MODEL, answering=judge, description=__doc__)

"""``python -m tests.support.function_process``: a process of functions, as Lambda has them.

It reads events from its standard input, a line each, and writes what handlers answer, a line each.
"""

import importlib
import json
import sys
import traceback

from tests.support.lambdas import LambdaContext


def main() -> None:
    """Answer until there is no more input."""
    # What is logged and printed goes elsewhere: answers alone are read.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        handle = importlib.import_module(asked["module"]).lambda_handler
        try:
            answer = {"answer": handle(asked["event"], LambdaContext(asked["seconds"]))}
        except Exception as error:  # noqa: BLE001 - Lambda's boundary
            traceback.print_exc()
            answer = {"error": {"errorMessage": str(error), "errorType": type(error).__name__}}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()

"""Write a grader as a function; serve it as a Lambda handler or an ASGI application.

    from autotune.grader import Abstain, GradedCompletion, grader

    @grader(name="exact match", version="1.0.0", domains=["math"])
    def exact_match(completion: GradedCompletion) -> float:
        if "answer" not in completion.metadata:
            raise Abstain("no reference")
        return float(completion.response.strip() == completion.metadata["answer"])

    lambda_handler = exact_match.lambda_handler  # behind a Lambda function URL
    app = exact_match.asgi                       # or: autotune grader serve this_file.py

What takes longer than a request may is ``@grader.deferred``: it answers 202 and scores later.
Requests are verified, answers are signed, and nothing that the function raises leaves the process.
"""

from typing import TYPE_CHECKING

from autotune.grader.callback import Callback as Callback
from autotune.grader.callback import CallbackRefusedError as CallbackRefusedError
from autotune.grader.callback import CallbackUnreachableError as CallbackUnreachableError
from autotune.grader.callback import DeferredJob as DeferredJob
from autotune.grader.decorator import grader as grader
from autotune.grader.definition import Grader as Grader
from autotune.grader.judging import Abstain as Abstain
from autotune.grader.judging import GraderContext as GraderContext
from autotune.grader.judging import GraderDefinitionError as GraderDefinitionError
from autotune.grader.judging import InvalidScoreError as InvalidScoreError
from autotune.grader.lambda_url import UnsupportedEventError as UnsupportedEventError
from autotune.grader.shared_secrets import MissingSecretError as MissingSecretError
from autotune.protocol.grading import GradedCompletion as GradedCompletion
from autotune.protocol.grading import GraderCapabilities as GraderCapabilities
from autotune.protocol.grading import GraderScore as GraderScore
from autotune.protocol.grading import ScoreDimension as ScoreDimension
from autotune.protocol.grading import ScoreOptions as ScoreOptions

if not TYPE_CHECKING:
    from autotune.public_names import exported

    __all__ = list(exported(vars()))

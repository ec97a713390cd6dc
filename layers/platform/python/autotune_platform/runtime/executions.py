"""Starting executions of a state machine, each once."""

from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

logger = Logger()


class Executions:
    """Executions of one state machine."""

    def __init__(self, *, state_machine_arn: str, stepfunctions: "SFNClient") -> None:
        self._arn = state_machine_arn
        self._stepfunctions = stepfunctions

    def try_start(self, name: str, document: str) -> bool:
        """Start an execution unless one of that name was; return False where it could not be."""
        try:
            self._stepfunctions.start_execution(
                stateMachineArn=self._arn, name=name, input=document
            )
        except self._stepfunctions.exceptions.ExecutionAlreadyExists:
            return True
        except (ClientError, BotoCoreError):
            logger.exception("execution not started", execution=name)
            return False
        return True

"""What hosts linear students of the apprentice, and what compares answers by their meaning."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.apprentice_bucket import EMBEDDINGS, MODELS
from infra.constructs.service_function import WHOLE_PROCESSOR_MB, ServiceFunction
from infra.stacks.apprentice_hosting import HOSTINGS, grant_invoke
from infra.stacks.domain_stack import DomainStack

# Beside a hundred megabytes of weights, as they are stored, and the tokenizer that goes with them.
EMBED_MB = 3_008
EMBED_TIMEOUT = Duration.seconds(30)
# The longest that a task may wait for its small model is 20 seconds (``timeoutMs``).
ANSWER_TIMEOUT = Duration.seconds(25)


class ApprenticeStudents(Construct):
    """What answers for linear students, and what says how alike two answers are.

    Attributes:
        ask_environment: For functions that ask them; ``grant_ask`` and ``grant_compare`` let them.
        similarity: What compares.
    """

    def __init__(self, stack: DomainStack) -> None:
        super().__init__(stack, "Students")
        self._stack = stack
        files = stack.shared.data.apprentice_files
        self._answer = stack.create(
            "AnswerLinear",
            module="answer_linear",
            description="Answers for linear students of the apprentice",
            timeout=ANSWER_TIMEOUT,
            environment={"APPRENTICE_BUCKET": files.bucket.bucket_name},
            computes=True,
            # A call waits for it, and at first for numpy and an artifact to be loaded.
            memory_mb=WHOLE_PROCESSOR_MB,
        )
        files.grant_read(self._answer.function, names=MODELS)
        self.similarity = self._add_similarity(stack)
        self.ask_environment: Mapping[str, str] = {
            "ANSWER_LINEAR_FUNCTION": self._answer.function.function_name,
            "SCORE_SIMILARITY_FUNCTION": self.similarity.function.function_name,
        }

    def _add_similarity(self, stack: DomainStack) -> ServiceFunction:
        files = stack.shared.data.apprentice_files
        similarity = stack.create(
            "ScoreSimilarity",
            module="score_similarity",
            description="Says how alike answers of the apprentice are in meaning",
            timeout=EMBED_TIMEOUT,
            environment={
                "APPRENTICE_BUCKET": files.bucket.bucket_name,
                # Lambda has no semaphores for it to look for, and two texts need no threads.
                "JOBLIB_MULTIPROCESSING": "0",
                "TOKENIZERS_PARALLELISM": "false",
            },
            embeds=True,
            memory_mb=EMBED_MB,
        )
        files.grant_read(similarity.function, names=EMBEDDINGS)
        return similarity

    def grant_compare(self, comparing: ServiceFunction) -> None:
        """Lets a function have answers compared by their meaning."""
        iam.Grant.add_to_principal(
            grantee=comparing.function,
            actions=["lambda:InvokeFunction"],
            resource_arns=[self.similarity.function.function_arn],
        )

    def grant_ask(self, asking: ServiceFunction) -> None:
        """Lets a function ask students, those that SageMaker hosts too, and note that it did."""
        grant_invoke(asking, prefix=self._stack.shared.service_name)
        self._stack.shared.data.apprentice.grant_write(asking.function, "UpdateItem", keys=HOSTINGS)
        iam.Grant.add_to_principal(
            grantee=asking.function,
            actions=["lambda:InvokeFunction"],
            resource_arns=[self._answer.function.function_arn],
        )

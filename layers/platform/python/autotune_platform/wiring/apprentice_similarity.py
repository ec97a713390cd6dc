"""Parts that compare texts by their meaning."""

from functools import cached_property

from autotune_platform.apprentice.similarity.files import EmbeddingFiles
from autotune_platform.apprentice.similarity.hosting import EmbeddingHost
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice import StudentEnvironment


class SimilarityParts:
    """What reads embedding models, and compares by them."""

    def __init__(self, environment: StudentEnvironment) -> None:
        self.environment = environment

    @cached_property
    def embedding_host(self) -> EmbeddingHost:
        files = EmbeddingFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3())
        return EmbeddingHost(files=files)

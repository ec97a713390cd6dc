"""Parts that answer for linear students."""

from functools import cached_property

from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.students.hosting import StudentHost
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice import StudentEnvironment


class StudentParts:
    """What reads artifacts, and answers by them."""

    def __init__(self, environment: StudentEnvironment) -> None:
        self.environment = environment

    @cached_property
    def model_files(self) -> ModelFiles:
        return ModelFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3())

    @cached_property
    def student_host(self) -> StudentHost:
        return StudentHost(files=self.model_files)

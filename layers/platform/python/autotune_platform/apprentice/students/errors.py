"""Why there is no student."""


class UntrainableError(Exception):
    """Examples from which this kind of student cannot be trained; the message says why."""


class BadArtifactError(Exception):
    """What is stored is no artifact of a student, or not the one that was asked for."""

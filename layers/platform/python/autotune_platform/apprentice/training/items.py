"""How trainings lie in the table ``apprentice``.

``pk=apt_…#trainings``: ``sk=training#000001`` is a training, and ``sk=last`` says which one is
under way, of which there is one at most, and how many there were. ``sk=certificate#000001`` is the
certificate of a version that a training made. ``pk=apt_…#jobs``: ``sk=job#<name>`` is a job that is
not paid for yet; it outlives its training and its task.
"""

TRAINING = "training#"
LAST = "last"
CERTIFICATE = "certificate#"
JOB = "job#"


def trainings_of(task_id: str) -> str:
    """Return the partition of a task's trainings."""
    return f"{task_id}#trainings"


def jobs_of(task_id: str) -> str:
    """Return the partition of a task's jobs that are not paid for."""
    return f"{task_id}#jobs"


def training_key(number: int) -> str:
    """Return the sort key of a training; such keys sort as the numbers do."""
    return f"{TRAINING}{number:06d}"


def certificate_key(version: int) -> str:
    """Return the sort key of a version's certificate."""
    return f"{CERTIFICATE}{version:06d}"

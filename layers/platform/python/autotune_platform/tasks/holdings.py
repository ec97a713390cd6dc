"""What tasks keep."""

from autotune_platform.storage.data_holders import DataHolder, RegistryHolding

HOLDER = DataHolder(
    "tasks",
    [
        RegistryHolding(
            key="task_* / record",
            what="tasks: name, graders, settings, instructions to reviewers",
            erased="`DELETE /api/v1/tasks/{id}`",
        ),
        RegistryHolding(
            key="task_* / deleted_task",
            what="ids of deleted tasks",
            retained="their scores can still be listed",
        ),
    ],
)

"""What is said of a model that is not hosted: which instances, and what an operator can do."""

from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingError,
    ApprenticeTrainingHosting,
    ApprenticeTrainingHostLack,
)
from autotune_platform.apprentice.hosting.lacking import has_no_type
from autotune_platform.apprentice.hosting.models import Hosting, Lack

_ERRORS: dict[str | None, ApprenticeTrainingError] = {
    "no_capacity": "hosting_capacity",
    "limit": "hosting_quota",
}
_DIFFERS = (
    "other weights lie at training.baseModel than this model was trained on: have those put back "
    "and this model hosted, or train again"
)


def shown(base: Hosting) -> ApprenticeTrainingHosting:
    """Return what is known of a base's instance."""
    lacking = base.lacking
    if lacking is None:
        return ApprenticeTrainingHosting(
            instance_type=base.instance_type or "", refusal=base.refusal
        )
    return ApprenticeTrainingHosting(
        instance_type=base.instance_type or "",
        lacks=[
            ApprenticeTrainingHostLack(instance_type=one, lack=lack)
            for one, lack in lacking.lacks.items()
        ],
        since=lacking.since,
        tried_again_at=lacking.not_before,
        refusal=base.refusal,
    )


def why_not_hosted(
    hosting: Hosting, base: Hosting | None
) -> tuple[ApprenticeTrainingError, str | None]:
    """Return the error of a model whose hosting was given up, and what can be done about it."""
    error = _ERRORS.get(hosting.error, "not_hosted")
    if hosting.error == "base_differs":
        return error, _DIFFERS
    if hosting.error == "refused" and base is not None and base.refusal is not None:
        return error, f"SageMaker takes no such model, whatever the instance: {base.refusal}"
    if hosting.error == "limit" and hosting.refusal is not None:
        return error, f"the account may host no more: {hosting.refusal}"
    lacks = dict(base.lacking.lacks) if base is not None and base.lacking is not None else {}
    # What types lacked before says nothing of what was refused, or taken down, on the last one.
    if error == "not_hosted" and not (
        hosting.error == "refused" and base is not None and has_no_type(base)
    ):
        return error, hosting.error
    if not lacks and base is not None and base.instance_type:
        lacks[base.instance_type] = "quota" if hosting.error == "limit" else "capacity"
    return error, "; ".join(_said(lacks)) or None


def _said(lacks: dict[str, Lack]) -> list[str]:
    without = [one for one, lack in lacks.items() if lack == "capacity"]
    beyond = [one for one, lack in lacks.items() if lack == "quota"]
    refused = [one for one, lack in lacks.items() if lack == "refused"]
    said = []
    if refused:
        said.append(
            f"SageMaker takes no {' or '.join(refused)} for endpoints here: put other "
            "training.instanceTypes"
        )
    if without:
        said.append(f"SageMaker has no {' or '.join(without)}: put other training.instanceTypes")
    if beyond:
        said.append(
            f"the account's quota has no room for {' or '.join(beyond)} for endpoint usage: have "
            "it raised"
        )
    return said

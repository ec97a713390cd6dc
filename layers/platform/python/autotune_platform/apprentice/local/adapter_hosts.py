"""What a host of adapters says of who answered: AWS's container LMI, which is DJL Serving and vLLM.

SageMaker routes by the component that an invocation names, and says to the container which adapter
that is: ``X-Amzn-SageMaker-Adapter-Identifier``, a name of SageMaker's own, beside the component's
as ``X-Amzn-SageMaker-Adapter-Alias``. LMI has the identifier in place of the request's ``model``
(``djl_python/lmi_vllm/vllm_async_service.py``), refuses one that it did not load with 424, and vLLM
answers with it (``OpenAIServingModels.model_name``). LMI of before 0.34 names nobody
(``output_formatter.py``). So what is said is none of our names as a rule, and the component, whose
name is used once, says which version it is: unless the answer names the base, or another of ours.
See ADR 0098.
"""

from typing import Final

from autotune_platform.apprentice.local.contract import ServedModel

_BASES: Final = frozenset({"lmi", "/opt/ml/model"})
"""What a base is called by LMI and by vLLM where it has no name of ours (``served_model_name``)."""


def answered_by(said: str | None, served: ServedModel) -> str | None:
    """Return the name of what answered: the version's, unless the answer says otherwise.

    Args:
        said: ``model`` of the answer; None where it has none.
        served: the version that was asked.
    """
    if served.component is None or served.task_id is None:
        return said
    if said is None or served.model in said:
        return served.model
    # Names of ours begin with the stack's, whatever task they are of, and bases' do, too.
    stack = served.model.partition(served.task_id.replace("_", "-"))[0]
    return said if said in _BASES or said.startswith(stack) else served.model

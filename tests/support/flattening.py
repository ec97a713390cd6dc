"""Nested stacks as one template: what a parameter or an output passes on is what it stands for."""

from typing import Any

Json = dict[str, Any]


def flattened(root: Json, nested: dict[str, Json]) -> Json:
    """Return a template with the resources of all, and no reference from stack to stack.

    Args:
        root: Template of the stack that the others are nested in.
        nested: Templates by logical id of their resource in the root.
    """
    whole = _Whole(root, nested)
    resources: Json = {}
    for name, template in {None: root, **nested}.items():
        for logical_id, resource in template["Resources"].items():
            if resource["Type"] == "AWS::CloudFormation::Stack":
                continue
            assert logical_id not in resources, "with one id twice, references are ambiguous"
            resources[logical_id] = whole.resolved(resource, within=name)
    outputs = whole.resolved(root.get("Outputs", {}), within=None)
    return {"Resources": resources, "Outputs": outputs}


class _Whole:
    """Follows references through parameters and outputs of nested stacks."""

    def __init__(self, root: Json, nested: dict[str, Json]) -> None:
        self._root = root
        self._nested = nested

    def resolved(self, value: Any, *, within: str | None) -> Any:
        """Return a value with references to the resources themselves.

        Args:
            value: Any part of a template.
            within: Logical id of the nested stack that it is in; None for the root.
        """
        match value:
            case {"Ref": str(parameter)} if self._is_passed(parameter, within):
                given = self._root["Resources"][within]["Properties"]["Parameters"][parameter]
                return self.resolved(given, within=None)
            case {"Fn::GetAtt": [str(stack), str(output)]} if (
                within is None and stack in self._nested
            ):
                published = self._nested[stack]["Outputs"][output.removeprefix("Outputs.")]["Value"]
                return self.resolved(published, within=stack)
            case dict():
                return {key: self.resolved(part, within=within) for key, part in value.items()}
            case list():
                return [self.resolved(part, within=within) for part in value]
        return value

    def _is_passed(self, parameter: str, within: str | None) -> bool:
        return within is not None and parameter in self._nested[within].get("Parameters", {})

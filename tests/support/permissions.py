"""What functions are granted, what they were seen to use of it, and what one says of the other."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from local.decisions import Decision, kind_at_sagemaker
from local.deployment import SERVICE_STACK_NAME
from tests.support.flattening import Json, flattened

OWN_LOGS = "own log group"
SUMMARY_NAME = "permissions"
SUMMARY = pytest.StashKey[str]()
"""What the end-to-end tests used of the functions' permissions, in one line."""

_LOGICAL_ID = re.compile(r"(?P<name>\w+?)[0-9A-F]{8}")
_KIND = re.compile(r"(?<=[a-z])(Table|Bucket|Queue|StateMachine)$")
_EXPORT_PREFIX = "autotune-data:ExportsOutputFnGetAtt"


@dataclass(frozen=True, order=True)
class Grant:
    """One thing that a function may do.

    Attributes:
        resource: its name, and what follows it, such as ``Completions/index/openBatches``.
        keys: partition keys that it is kept to, with ``*``; empty where it is kept to none.
    """

    function: str
    action: str
    resource: str
    keys: str = ""

    def allows(self, decision: Decision) -> bool:
        """Return whether a decision of its function is one that this grant allows."""
        return (
            decision.action == self.action
            and fnmatchcase(named(decision.resource), self.resource)
            and (not self.keys or all(fnmatchcase(key, self.keys) for key in decision.keys))
        )

    def __str__(self) -> str:
        return " ".join(filter(None, [self.function, self.action, self.resource, self.keys]))


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """Grants that need not be seen in use; each name may have ``*``.

    Attributes:
        why: the reason, for whoever reviews it again.
        is_rare: whether it hangs on timing, so that a run may see it or not.
        suite: the suite of chaos that uses it every time.
    """

    function: str
    action: str
    resource: str
    why: str
    keys: str = "*"
    is_rare: bool = False
    suite: str | None = None

    def covers(self, grant: Grant) -> bool:
        """Return whether this speaks of a grant."""
        return all(
            fnmatchcase(getattr(grant, name), getattr(self, name))
            for name in ("function", "action", "resource", "keys")
        )

    def __str__(self) -> str:
        return f"{self.function} {self.action} {self.resource} {self.keys}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Grants beside decisions.

    Attributes:
        functions: all that there are.
        silent: those of them that ask AWS for nothing, with the reason.
        rarely_called: those that a run may call or not, with the reason.
    """

    functions: Collection[str]
    grants: Collection[Grant]
    decisions: Collection[Decision]
    reviewed: Sequence[Reviewed]
    silent: Mapping[str, str]
    rarely_called: Mapping[str, str]

    @cached_property
    def used(self) -> set[Grant]:
        """Grants that allowed something."""
        by_function: dict[str, list[Decision]] = {}
        for decision in self.decisions:
            if decision.is_allowed:
                by_function.setdefault(decision.function, []).append(decision)
        return {
            grant
            for grant in self.grants
            if any(map(grant.allows, by_function.get(grant.function, ())))
        }

    @cached_property
    def seen(self) -> set[str]:
        """Functions that decisions are about."""
        return {decision.function for decision in self.decisions}

    def denied(self) -> list[str]:
        """Return what roles were refused."""
        return sorted(
            f"{each.function} was denied {each.action} on {named(each.resource)} {list(each.keys)}"
            for each in self.decisions
            if not each.is_allowed
        )

    def unused(self) -> list[str]:
        """Return grants that nothing used, and functions that nothing called, without a reason."""
        grants = [
            f"{grant} is granted, not used and not reviewed"
            for grant in sorted(set(self.grants) - self.used)
            if not any(each.covers(grant) for each in self.reviewed)
        ]
        functions = [
            f"{name} was not called and is not reviewed"
            for name in sorted(set(self.functions) - self.seen)
            if name not in self.silent and name not in self.rarely_called
        ]
        return functions + grants

    def used_after_all(self) -> list[str]:
        """Return what the list says is never seen in use, and was."""
        grants = [
            f"{grant} is used, and the list says: {each.why}"
            for each in self.reviewed
            if not each.is_rare and each.suite is None
            for grant in sorted(self.used)
            if each.covers(grant)
        ]
        return grants + [f"{name} is called" for name in sorted(self.seen & set(self.silent))]

    def missed_by(self, suite: str) -> list[str]:
        """Return what a suite of chaos should have used, and has not."""
        return [
            f"{each} is not used in {suite}"
            for each in self.reviewed
            if each.suite == suite and not any(map(each.covers, self.used))
        ]

    def summary(self) -> str:
        """Return the figures in one line."""
        reviewed = sum(
            any(each.covers(grant) for each in self.reviewed)
            for grant in set(self.grants) - self.used
        )
        return (
            f"permissions: {len(self.seen)} of {len(self.functions)} functions seen, "
            f"{len(self.used)} of {len(self.grants)} grants used, "
            f"{reviewed} reviewed, {len(self.denied())} denials"
        )


def named(resource: str) -> str:
    """Return a recorded resource as grants name it."""
    name, slash, rest = resource.partition("/")
    return _KIND.sub("", name) + slash + rest


def granted_resource(resource: Any) -> str:
    """Return the name of what a policy's resource refers to, with what follows its ARN."""
    if resource == "*":
        return "*"
    suffix = ""
    if "Fn::Join" in resource and resource["Fn::Join"][1][0] == "arn:":
        # Of nothing in the template: partition, and what follows it.
        return kind_at_sagemaker(str(resource["Fn::Join"][1][-1])).removeprefix(":")
    if "Fn::Join" in resource:
        resource, suffix = resource["Fn::Join"][1]
    if "Ref" in resource:
        identifier = resource["Ref"]
    elif "Fn::GetAtt" in resource:
        identifier = resource["Fn::GetAtt"][0]
    else:
        identifier = resource["Fn::ImportValue"].removeprefix(_EXPORT_PREFIX)
    found = _LOGICAL_ID.match(identifier)
    assert found is not None, identifier
    return OWN_LOGS if found["name"].endswith("Logs") else named(found["name"]) + suffix


def statements_of(template: Json, role_logical_id: str) -> list[Json]:
    """Return the statements of a role's policies."""
    return [
        statement
        for policy in template["Resources"].values()
        if policy["Type"] == "AWS::IAM::Policy"
        and {"Ref": role_logical_id} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


def listed(value: Any) -> list[Any]:
    """Return what a policy has as one or as a list, as a list."""
    return value if isinstance(value, list) else [value]


def roles_of(template: Json) -> dict[str, str]:
    """Return the logical id of each function's role by the function's construct."""
    return {
        each["Properties"]["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]: each[
            "Properties"
        ]["Role"]["Fn::GetAtt"][0]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Lambda::Function"
    }


def grants_of(template: Json) -> set[Grant]:
    """Return what the functions of a flattened template may do."""
    return {
        Grant(name, action, granted_resource(resource), keys)
        for name, role in roles_of(template).items()
        for statement in statements_of(template, role)
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
        for keys in _leading_keys(statement)
    }


def _leading_keys(statement: Json) -> Iterable[str]:
    conditions = statement.get("Condition", {}).get("ForAllValues:StringLike", {})
    keys: list[str] = conditions.get("dynamodb:LeadingKeys", [""])
    return keys


def service_template(assembly: Path) -> Json:
    """Return the service's stack of a cloud assembly, with what is nested in it."""
    root = _read(assembly / f"{SERVICE_STACK_NAME}.template.json")
    return flattened(root, dict(_nested(assembly, root)))


def _nested(assembly: Path, root: Json) -> Iterator[tuple[str, Json]]:
    for logical_id, resource in root["Resources"].items():
        if resource["Type"] == "AWS::CloudFormation::Stack":
            digest = "[0-9A-F]" * 8
            file = f"{SERVICE_STACK_NAME}{logical_id}{digest}.nested.template.json"
            (found,) = assembly.glob(file)
            yield logical_id, _read(found)


def _read(file: Path) -> Json:
    template: Json = json.loads(file.read_text())
    return template

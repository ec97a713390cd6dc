"""AWS's token service: who may assume which role, and the keys that come of it.

https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html, read on 2026-11-24. It is
at ``/_sts/``. A role is there once a test adds it to ``World.roles``.
"""

from datetime import UTC, datetime
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from tests.providers.state import World
from tests.providers.wire import Answer, Request

_XML = {"content-type": "text/xml"}


def answer(world: World, request: Request) -> Answer:
    """Answers AssumeRole: only with the external id of the role's trust policy, if it has one."""
    asked = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    arn, external_id = asked.get("RoleArn", ""), asked.get("ExternalId")
    world.assumed.append(asked)
    if world.sts_failures:
        world.sts_failures -= 1
        return _error(500, "InternalFailure", "The request processing has failed.")
    if arn not in world.roles or world.roles[arn] not in (None, external_id):
        message = f"User: arn:aws:sts::999999999999:assumed-role/x is not authorized on {arn}"
        return _error(403, "AccessDenied", message)
    key = f"ASIA{world.ids.new(length=16).upper()}"
    world.keys.setdefault("bedrock", {})[key] = "main"
    expires = datetime.fromtimestamp(world.clock.now() + 3600, UTC)
    body = (
        '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>'
        f"<Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>"
        f"<SessionToken>session-of-{key}</SessionToken>"
        f"<Expiration>{expires:%Y-%m-%dT%H:%M:%SZ}</Expiration></Credentials>"
        "</AssumeRoleResult></AssumeRoleResponse>"
    )
    return Answer(body=body.encode(), headers=_XML)


def _error(status: int, code: str, message: str) -> Answer:
    body = (
        '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>'
        f"<Type>Sender</Type><Code>{code}</Code><Message>{escape(message)}</Message>"
        "</Error></ErrorResponse>"
    )
    return Answer(status, body.encode(), _XML)

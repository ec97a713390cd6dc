"""What the fake API keeps of webhooks, and the routes to them."""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.ids import new_id
from autotune.protocol.webhooks import CreateWebhookRequest, UpdateWebhookRequest
from tests.sdk.fake_registry import Json, ProblemError, Routed, found, now, page


class Webhooks:
    """One organisation's webhooks; ``add_delivery`` lets something happen."""

    def __init__(self) -> None:
        self.webhooks: dict[str, Json] = {}
        self.deliveries: dict[str, dict[str, Json]] = {}

    def add_delivery(self, webhook_id: str, status: str = "delivered") -> str:
        event_id = new_id("evt")
        self.deliveries[webhook_id][event_id] = {
            "eventId": event_id,
            "webhookId": webhook_id,
            "eventType": "score.completed",
            "occurredAt": now(),
            "status": status,
            "attempts": 7 if status == "failed" else 1,
            "nextAttemptAt": None,
            "lastAttemptAt": now(),
            "lastStatus": 500 if status == "failed" else 200,
            "lastError": "rejected" if status == "failed" else None,
            "body": "{}",
        }
        return event_id

    def route(  # noqa: PLR0911 - a routing table
        self, method: str, rest: list[str], parameters: Mapping[str, str], body: bytes
    ) -> Routed:
        match (method, rest):
            case ("POST", []):
                return 201, self._add(CreateWebhookRequest.model_validate_json(body)), {}
            case ("GET", []):
                return 200, {"webhooks": list(self.webhooks.values()), "nextToken": None}, {}
            case ("GET", [id_]):
                return 200, {"webhook": found(self.webhooks, id_)}, {}
            case ("PATCH", [id_]):
                webhook = found(self.webhooks, id_)
                webhook.update(_dump(UpdateWebhookRequest.model_validate_json(body)))
                return 200, {"webhook": webhook}, {}
            case ("DELETE", [id_]):
                found(self.webhooks, id_)
                del self.webhooks[id_]
                return 204, None, {}
            case ("POST", [id_, "rotate-secret"]):
                return 200, {"webhook": found(self.webhooks, id_), "secret": "whsec_Mg=="}, {}
            case (_, [id_, "deliveries", *which]):
                found(self.webhooks, id_)
                return self._route_deliveries(method, self.deliveries[id_], which, parameters)
        raise ProblemError(404, "not_found", f"no route {method} webhooks")

    def _route_deliveries(
        self, method: str, kept: dict[str, Json], which: list[str], parameters: Mapping[str, str]
    ) -> Routed:
        match (method, which):
            case ("GET", []):
                status = parameters.get("status")
                listed = [one for one in kept.values() if status in {None, one["status"]}]
                return 200, page("deliveries", listed[::-1], parameters), {}
            case ("GET", [event_id]):
                return 200, {"delivery": found(kept, event_id)}, {}
            case ("POST", [event_id, "replay"]):
                found(kept, event_id).update(status="pending", attempts=0, nextAttemptAt=now())
                return 202, {"delivery": kept[event_id]}, {}
        raise ProblemError(404, "not_found", f"no route {method} deliveries")

    def _add(self, request: CreateWebhookRequest) -> Json:
        webhook = {
            "eventTypes": "all",
            "description": "",
            **_dump(request),
            "id": new_id("whk"),
            "status": "active",
            "disabledReason": None,
            "failingSince": None,
            "previousSecretUntil": None,
            "createdAt": now(),
            "updatedAt": now(),
        }
        self.webhooks[webhook["id"]] = webhook
        self.deliveries[webhook["id"]] = {}
        return {"webhook": webhook, "secret": "whsec_MQ=="}


def _dump(request: Any) -> Json:
    return dict(request.model_dump(by_alias=True, mode="json", exclude_unset=True))

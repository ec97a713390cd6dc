"""Secrets that a run hands out or is given, as they come to be known."""

import secrets

import httpx

from autotune import AutotuneClient
from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from local.records import LocalProfile
from tests.providers.server import serve
from tests.support.graders import LoopbackGrader
from tests.support.subscribers import Subscriber

_FREE = {f"{kind}{side}_usd": "0.1" for kind in ("", "batch_") for side in ("input", "output")}


class Secrets:
    """Everything that is handed out once, or that proves something, as it comes to be known."""

    def __init__(self, client: AutotuneClient, profile: LocalProfile) -> None:
        self._client = client
        self._profile = profile
        self._http = httpx.Client(trust_env=False, timeout=60)
        self.known: dict[str, str] = {"first API key": profile.api_key.partition(".")[2]}

    def close(self) -> None:
        self._http.close()

    def keys(self) -> None:
        """Make a key, sign a request with it, send it twice, and send another under its name."""
        made = self._client.keys.create(name="marked", role="admin").api_key
        key_id, _, secret = made.partition(".")
        path = "/api/v1/keys/me"
        signed = sign_api_request(
            key_id=key_id,
            secret=secret,
            method="GET",
            path=path,
            query="",
            body=b"",
            request_id=new_id("req"),
        )
        statuses = [
            self._http.get(f"{self._profile.base_url}{to}", headers=signed).status_code
            for to in (path, path, "/api/v1/keys")
        ]
        assert statuses == [200, 401, 401]
        self.known |= {"API key": secret, "signature of a request": signed["x-autotune-signature"]}

    def sessions(self) -> None:
        """Begin a session, act in it, and end it by its code's second use."""
        code = self._client.sessions.create(name="marked").url.partition("#code=")[2]
        address = f"{self._profile.base_url}/api/v1/sessions/exchange"
        begun = self._http.post(address, json={"code": code})
        assert begun.status_code == 200, begun.text
        session_id, secret = begun.json()["session"]["id"], begun.json()["secret"]
        with AutotuneClient(
            base_url=self._profile.base_url, api_key=f"{session_id}.{secret}"
        ) as within:
            assert within.keys.me().id == begun.json()["session"]["keyId"]
        assert self._http.post(address, json={"code": code}).status_code == 401
        self.known |= {"session": secret, "code of a session": code.partition(".")[2]}

    def links(self) -> None:
        """Open reviews by a link, and by one that somebody changed."""
        token = self._client.reviews.link(reviewer_id="anna").url.partition("#")[2]
        for sent, status in ((token, 200), (f"{token[:-2]}AA", 401)):
            answer = self._http.get(
                f"{self._profile.base_url}/api/v1/reviews",
                headers={"authorization": f"Bearer {sent}"},
            )
            assert answer.status_code == status, answer.text
        self.known["review link"] = token.partition(".")[2]

    def reward_urls(self, task_id: str, texts: dict[str, str]) -> None:
        """Ask for a reward of texts at an address, and at one that somebody changed."""
        url = self._client.reward_urls.create(name="marked", task_id=task_id, model_id="m").url
        mac = url.rpartition("-")[2]
        body = {"prompt": texts["prompt"], "response": texts["response"], "label": None}
        for to, status in ((url, 200), (url.replace(mac, mac[::-1]), 404)):
            answer = self._http.post(f"{to}/slime", params={"wait": 30}, json=body)
            assert answer.status_code == status, answer.text
        self.known["reward URL"] = mac

    def graders(self, graders: list[LoopbackGrader]) -> None:
        for number, grader in enumerate(graders):
            assert grader.signatures
            self.known[f"shared secret {number}"] = grader.secret
            self.known[f"signature of a question {number}"] = grader.signatures[-1]
        registered = self._client.graders.register(name="unasked", endpoint=graders[0].url)
        rotated = self._client.graders.rotate_secret(registered.grader.id)
        assert registered.credentials is not None
        self.known["secret before"] = registered.credentials.shared_secret
        self.known["secret after"] = rotated.credentials.shared_secret

    def providers(self) -> None:
        """Ask language models with a key, with one that is refused, and with the one after it."""
        first, refused, second = (f"sk-{secrets.token_hex(30)}" for _ in range(3))
        ways = (("simulated", "/served/v1", "small"), ("openai", "/v1", "gpt-5-mini"))
        with serve() as fake:
            fake.world.prices.add("compatible", "small", (0.1, 0.1, 0.4))
            fake.world.timing.validate_seconds = fake.world.timing.run_seconds = 1
            for dialect in ("*", "compatible"):
                fake.world.keys[dialect] = {first: "main", second: "main"}
            for provider, base, model in ways:
                made = self._client.llm.connections.create(
                    name="marked",
                    provider=provider,
                    base_url=f"{fake.base_url}{base}",
                    api_key=first,
                    prices={model: _FREE},
                    batches="always" if provider == "openai" else "never",
                    min_rows=1,
                )
                row = {
                    "connectionId": made.id,
                    "purpose": "scoring",
                    "model": model,
                    "input": {"user": "q"},
                    "params": {"maxTokens": 100},
                }
                asked = [self._client.llm.enqueue([row]).request_ids[0]]
                change = self._client.llm.connections.update
                assert self._client.llm.wait(asked, timeout=180)[0].status == "completed"
                change(made.id, api_key=refused)
                assert not self._client.llm.connections.verify(made.id, model=model).works
                change(made.id, api_key=second)
                assert self._client.llm.connections.verify(made.id, model=model).works
                self._client.llm.connections.revoke(made.id)
        self.known |= {
            "provider's key": first,
            "refused key": refused,
            "key after it": second,
        }

    def webhook(self, secret: str, webhook_id: str, subscriber: Subscriber) -> None:
        after = self._client.webhooks.rotate_secret(webhook_id).secret
        self.known["webhook secret"] = secret.removeprefix("whsec_")
        self.known["webhook secret after"] = after.removeprefix("whsec_")
        signature = subscriber.received[0].headers["webhook-signature"]
        self.known["signature of an event"] = signature.removeprefix("v1,")

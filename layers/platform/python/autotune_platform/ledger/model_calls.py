import json
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.usage import Usage


class ModelCalls:
    def __init__(self, connections):
        self._c = connections

    def ask(self, connection, key, q):
        body = {
            "model": q.model,
            "messages": [
                *([{"role": "system", "content": q.system}] if q.system else []),
                {"role": "user", "content": q.user},
            ],
            "max_tokens": q.params.max_tokens,
        }
        try:
            r = self._c.request(
                "POST",
                connection.base_url + "/chat/completions",
                headers={
                    "content-type": "application/json",
                    **({"authorization": f"Bearer {key}"} if key else {}),
                },
                content=json.dumps(body).encode(),
            )
        except Exception as e:
            return Refusal("provider_error", str(type(e)))
        if r.status == 429:
            return Refusal("rate_limited", "429")
        if r.status in (401, 403):
            return Refusal("account", "401")
        if r.status >= 500:
            return Refusal("provider_error", "5xx")
        if r.status >= 400:
            return Refusal("rejected", "4xx")
        d = json.loads(r.content)
        u = d.get("usage")
        return Answer(
            d["choices"][0]["message"]["content"],
            "stop",
            Usage(input_tokens=u["prompt_tokens"], output_tokens=u["completion_tokens"])
            if u
            else None,
            d.get("model"),
            d.get("id"),
        )

"""Runs a model for one request, which writes a line on the bill."""

from dataclasses import dataclass
from typing import Any

from tests.providers.answers import REASONING_TOKENS, Ask, tokens_of, with_token
from tests.providers.pricing import Model
from tests.providers.state import Execution, World, fingerprint

ROW_TRAPS = (
    "row_error",
    "rows_missing",
    "poison_row",
    "finish_length",
    "finish_refusal",
    "cached_tokens",
    "other_model",
    "no_usage",
)
# Of these a synchronous call has some too.
ANSWER_TRAPS = (*ROW_TRAPS[3:], "dearer_tier")
REFUSAL = "I cannot help with that."


@dataclass(frozen=True)
class Outcome:
    """What a model answered, before a dialect writes it down.

    Attributes:
        finish: ``stop``, ``length`` or ``refusal``.
        tells_usage: Whether the answer says how many tokens it took.
        tier: At which the call was served and charged.
    """

    text: str
    reasoning: str | None
    finish: str
    served_model: str
    tells_usage: bool
    execution: Execution
    at: float
    tier: str = "default"


def execute(
    world: World,
    provider: str,
    model: Model,
    ask: Ask,
    raw: Any,
    *,
    traps: dict[str, dict[str, Any]],
    batch_id: str | None = None,
    custom_id: str | None = None,
    at: float | None = None,
) -> Outcome:
    """Executes and charges; notes each of the traps that it springs.

    Raises:
        ProviderError: If the answerer refuses to answer; nothing is charged then.
    """
    reply = world.answers.reply(ask)
    token = world.ids.new("tok-", 20)
    for name in ANSWER_TRAPS:
        if name in traps:
            world.traps.note(name, provider, batch_id, [custom_id] if custom_id else [])
    text = with_token(reply.text, token) if reply.has_token else reply.text
    finish = reply.finish
    if "finish_refusal" in traps:
        text, finish = f"[{token}] {REFUSAL}", "refusal"
    reasoning_tokens = REASONING_TOKENS if model.reasons else 0
    if reply.usage is not None:
        reasoning_tokens = reply.usage.reasoning
    output_tokens = tokens_of(text) + reasoning_tokens
    if reply.usage is not None:
        output_tokens = reply.usage.output
    if "finish_length" in traps:
        text = text[: len(token) + 3 + len(text) // 3]
        output_tokens = tokens_of(text) + reasoning_tokens
        finish = "length"
    if ask.max_tokens is not None and output_tokens > ask.max_tokens:
        room = max(ask.max_tokens - reasoning_tokens, 0) * 4
        text = text.encode()[: max(room, len(token) + 2)].decode(errors="ignore")
        output_tokens, finish = ask.max_tokens, "length"
    input_tokens = max(ask.input_tokens, 1) if reply.usage is None else reply.usage.input
    cached_tokens = input_tokens // 4 * 2 if "cached_tokens" in traps else 0
    rates = model.batch if batch_id else model.standard
    tier, times = _tier(raw, traps.get("dearer_tier"))
    served = reply.served_model
    if "other_model" in traps:
        served = traps["other_model"].get("model", f"{ask.model}-other")
    now = world.clock.now() if at is None else at
    execution = Execution(
        token=token,
        provider=provider,
        model=ask.model,
        served_model=served or ask.model,
        mode="batch" if batch_id else "synchronous",
        batch_id=batch_id,
        custom_id=custom_id,
        fingerprint=fingerprint(raw),
        input_tokens=input_tokens,
        cached_tokens=cached_tokens,
        output_tokens=output_tokens,
        reasoning_tokens=min(reasoning_tokens, output_tokens),
        cost_nano_usd=times
        * rates.cost(
            input_tokens=input_tokens, cached_tokens=cached_tokens, output_tokens=output_tokens
        ),
        at=now,
    )
    world.executions.append(execution)
    return Outcome(
        text=text,
        reasoning="First the claims, then their sources." if model.reasons else None,
        finish=finish,
        served_model=execution.served_model,
        tells_usage=reply.tells_usage and "no_usage" not in traps,
        execution=execution,
        at=now,
        tier=tier,
    )


def _tier(raw: Any, dearer: dict[str, Any] | None) -> tuple[str, int]:
    """The tier that serves a request, and how many times the standard price it takes.

    An account may have another default than the standard one, which holds for requests that leave
    the choice to it: https://platform.openai.com/docs/api-reference/chat/create, ``service_tier``.
    """
    asked = raw.get("service_tier") if isinstance(raw, dict) else None
    if dearer is None or not (asked in (None, "auto") or dearer.get("insists")):
        return "default", 1
    return dearer.get("tier", "priority"), dearer.get("times", 2)


def drawn_for_row(
    world: World, provider: str, ask: Ask | None, *, row: int, custom_id: str
) -> dict[str, dict[str, Any]]:
    """The row traps that are set for one row of a batch; they are noted when they are sprung."""
    found = {}
    for name in ROW_TRAPS:
        if not world.traps.wants(name):
            continue
        params = world.traps.take(
            name,
            provider,
            model=ask.model if ask else "",
            row=row,
            custom_id=custom_id,
            prompt=ask.prompt if ask else "",
            quietly=True,
        )
        if params is not None:
            found[name] = params
    return found


def drawn_for_call(world: World, provider: str, ask: Ask) -> dict[str, dict[str, Any]]:
    """The traps of answers that are set for a synchronous call."""
    found = {}
    for name in ANSWER_TRAPS:
        params = world.traps.take(name, provider, model=ask.model, prompt=ask.prompt, quietly=True)
        if params is not None:
            found[name] = params
    return found

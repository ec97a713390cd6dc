"""What the fake charges: a price table and a bill of its own, in integer nano-USD.

Rates were read on the providers' price pages on 2026-11-22 and are written here a second time on
purpose: whoever compares a ledger with this bill compares two tables.
"""

import re
from dataclasses import dataclass, field

_REGION = re.compile(r"^(us|eu|apac|global)\.")


@dataclass(frozen=True)
class Rates:
    """Nano-USD for a thousand tokens: USD for a million tokens, times 1,000,000."""

    input: int
    cached: int
    output: int

    def halved(self) -> "Rates":
        return Rates(self.input // 2, self.cached // 2, self.output // 2)

    def cost(self, *, input_tokens: int, cached_tokens: int, output_tokens: int) -> int:
        """Nano-USD of one execution; cached tokens are part of the input tokens.

        The sum is rounded once, halves up. With the table below it is never a fraction, as long as
        the number of cached tokens is even.
        """
        fresh = input_tokens - cached_tokens
        total = fresh * self.input + cached_tokens * self.cached + output_tokens * self.output
        return (total + 500) // 1000


@dataclass(frozen=True)
class Model:
    """A model that the fake serves, with what it charges for it."""

    name: str
    standard: Rates
    batch: Rates
    reasons: bool = False


def _model(
    name: str,
    usd: tuple[float, float, float],
    *,
    cached_in_batch: float | None = None,
    reasons: bool = False,
) -> Model:
    """A model by its USD for a million tokens: input, cached input, output."""
    standard = Rates(*(round(price * 1_000_000) for price in usd))
    batch = standard.halved()
    if cached_in_batch is not None:
        batch = Rates(batch.input, round(cached_in_batch * 1_000_000), batch.output)
    return Model(name, standard, batch, reasons)


_GPT = [
    _model("gpt-5-mini", (0.25, 0.025, 2.0)),
    _model("gpt-5-nano", (0.05, 0.005, 0.4), reasons=True),
    # No cached rate is listed for batches: the standard one holds.
    _model("gpt-4.1-mini", (0.4, 0.1, 1.6), cached_in_batch=0.1),
]
_CLAUDE = (1.0, 0.1, 5.0)
_FLASH = (0.3, 0.03, 2.5)

_TABLE: dict[str, list[Model]] = {
    "openai": _GPT,
    "azure": [*_GPT, _model("gpt-5-mini-batch", (0.25, 0.025, 2.0))],
    "anthropic": [
        _model("claude-haiku-4-5", _CLAUDE),
        _model("claude-haiku-4-5-20251001", _CLAUDE),
    ],
    # Google lists the same rate for cached tokens in batches.
    "gemini": [
        _model("gemini-2.5-flash", _FLASH, cached_in_batch=0.03, reasons=True),
        _model("gemini-2.5-flash-lite", (0.1, 0.01, 0.4), cached_in_batch=0.01),
    ],
    "openrouter": [
        _model("openai/gpt-5-mini", (0.25, 0.025, 2.0)),
        _model("anthropic/claude-haiku-4.5", _CLAUDE),
    ],
    "bedrock": [
        _model("anthropic.claude-haiku-4-5-20251001-v1:0", (1.1, 0.11, 5.5)),
        _model("amazon.nova-lite-v1:0", (0.06, 0.015, 0.24)),
    ],
    # An OpenAI-compatible server of one's own costs nothing.
    "compatible": [
        _model("local-model", (0, 0, 0)),
        _model("local-reasoner", (0, 0, 0), reasons=True),
    ],
}


@dataclass
class PriceTable:
    """Which models each provider has; tests add models of their own."""

    models: dict[str, dict[str, Model]] = field(
        default_factory=lambda: {
            provider: {model.name: model for model in models} for provider, models in _TABLE.items()
        }
    )

    def find(self, provider: str, name: str) -> Model | None:
        """A model by its name, which at Bedrock may be an ARN or an inference profile."""
        if provider == "bedrock":
            name = _REGION.sub("", name.rpartition("/")[2])
        return self.models.get(provider, {}).get(name)

    def add(self, provider: str, name: str, usd: tuple[float, float, float]) -> None:
        """Adds a model at these USD for a million tokens: input, cached input, output."""
        self.models.setdefault(provider, {})[name] = _model(name, usd)

"""``autotune decks graders propose``: graders from a deck's system prompt, written by a model."""

from typing import Annotated

import typer

from autotune.cli import exit_codes
from autotune.cli.deck_runs import Timeout, ended, nano_usd
from autotune.cli.invocation import Invocation, note, require_id, stop
from autotune.cli.llm_spending import dollars
from autotune.protocol import limits
from autotune.protocol.deck_rubrics import DeckJudge
from autotune.protocol.deck_runs import DeckRun
from autotune.protocol.llm_params import LlmParams

PROPOSER_TOKENS, JUDGE_TOKENS = 16_000, 1_000


def propose(
    invocation: Invocation,
    deck_id: str,
    *,
    connection: Annotated[str, typer.Option(help="Where models are called: llc_...")],
    model: Annotated[str, typer.Option(help="The model that proposes.")],
    judge_model: Annotated[
        str | None, typer.Option(help="The model that judges by them; that of --model without it.")
    ] = None,
    max_tokens: Annotated[
        int,
        typer.Option(
            min=1, max=limits.MAX_LLM_OUTPUT_TOKENS, help="Most tokens of an answer of --model."
        ),
    ] = PROPOSER_TOKENS,
    cap: Annotated[
        str | None,
        typer.Option(
            metavar="USD",
            help="Most US dollars, such as 0.50. Without it, what the estimate says at most.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Start without asking, on a terminal too.")
    ] = False,
    timeout: Timeout = None,
) -> None:
    """Have a model propose three to seven graders from the deck's prompt: say what it costs, wait.

    They grade nothing before `autotune decks graders activate`. The exit status is 1 unless graders
    were stored.
    """
    require_id(connection, "llc", name="connection", listed_by="llm connections")
    graders = invocation.client.decks.graders
    most = None if cap is None else nano_usd(cap)
    proposer = model_of(connection, model, max_tokens)
    found = graders.estimate_proposal(deck_id, proposer=proposer)
    price, bound = dollars(found.estimate_nano_usd), dollars(found.bound_nano_usd)
    note(f"{price} US dollars, at most {bound}")
    if not found.fits:
        note("the budget has no room for all of it now: what does not fit would wait")
    is_asked = not (yes or invocation.as_json) and typer.get_text_stream("stdin").isatty()
    if is_asked and not typer.confirm("Start?", err=True):
        stop("nothing was started", exit_codes.INCOMPLETE)
    judge = model_of(connection, judge_model or model, JUDGE_TOKENS)
    started = graders.propose(deck_id, proposer=proposer, judge=judge, cap_nano_usd=most)
    show_proposal(invocation, started, timeout)


def show_proposal(invocation: Invocation, started: DeckRun, timeout: float | None) -> None:
    """Wait for a proposal, show what has come of it, and end the command."""
    run = ended(invocation, started, timeout)
    proposal = run.proposal
    ids = proposal.grader_ids if proposal is not None else []
    if invocation.as_json:
        invocation.show_json(run)
    else:
        found = invocation.client.decks.graders.list(run.deck_id) if ids else []
        names = {one.id: one.name for one in found}
        for one in ids:
            typer.echo(f"{one}  {names.get(one, '')}")
        for refused in proposal.refused if proposal is not None else ():
            note(f"not kept: {refused.name or 'the answer'}: {', '.join(refused.faults)}")
        reason = f" ({run.stopped_because})" if run.stopped_because else ""
        note(
            f"{run.status}{reason}: {len(ids)} proposed for {dollars(run.cost_nano_usd)} US dollars"
        )
    raise typer.Exit(exit_codes.OK if ids else exit_codes.INCOMPLETE)


def model_of(connection: str, model: str, max_tokens: int) -> DeckJudge:
    """Return a model that is asked, at temperature 0."""
    params = LlmParams(max_tokens=max_tokens, temperature=0.0)
    return DeckJudge(connection_id=connection, model=model, params=params)

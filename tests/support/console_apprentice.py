"""Tasks of the apprentice with something of everything that the console shows of them."""

from datetime import UTC, datetime, timedelta
from random import Random

from autotune_platform.apprentice.routing import Model
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.uses import task_scope
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice_folding import Apprentice
from tests.support.platform import Platform

DAYS = 4
SERVED = {
    "local": {"backend": "vllm", "url": "https://models.example.com/v1"},
    "training": None,
}
_BY_DAY = 40


def filled_apprentice(platform: Platform, connection_id: str) -> Apprentice:
    """Make a task without runs, and one with a version that serves and one in shadow after it.

    Returns:
        the second one, ``intents``; the first is ``idle``.
    """
    Apprentice(platform, connection_id, "idle")
    made = Apprentice(platform, connection_id)
    # Once more, with another budget: the definition stays, and with it all evidence.
    made.put(budgets={"daily": "10", "monthly": "200"}, **SERVED)
    made.add_version(1, **_version(1))
    dice = Random(3)
    now = datetime.now(UTC)
    for back in range(DAYS - 1, -1, -1):
        at = now - timedelta(days=back)
        made.store(
            made.answered(float(dice.random() < 0.985), created_at=at, cost_nano_usd=cost(dice))
            for _ in range(_BY_DAY)
        )
    made.follow()
    [first] = made.evidence.find(made.task.id, [1]).values()
    made.add_version(1, canary_at=first.sequence, **_version(1))
    made.add_version(2, **_version(2))
    made.store(
        made.answered(
            float(dice.random() < 0.94),
            version=2,
            created_at=now,
            phase=3,
            local_version=1,
            answers=Model.LOCAL,
            check="done",
            cost_nano_usd=cost(dice),
        )
        for _ in range(_BY_DAY)
    )
    made.store(
        made.answered(
            created_at=now,
            phase=3,
            local_version=1,
            answers=Model.LOCAL,
            remote=None,
            is_drawn=False,
            unmonitored=place == 0,
            cost_nano_usd=0,
        )
        for place in range(_BY_DAY)
    )
    made.follow()
    money = MoneyBudgets(table=Table("budgets", clients.dynamodb()), outbox=made.table)
    scope = task_scope(made.organization_id, made.task.id)
    money.set_limits(scope, MoneyLimits(day=10_000_000, month=200_000_000))
    assert money.reserve([scope], 8_500_000, lambda _: [])
    return made


def _version(number: int) -> dict[str, object]:
    return {
        "backend": "vllm",
        "model": f"intents-{number}",
        "digest": f"sha256:{number:064x}",
        "created_at": datetime.now(UTC).isoformat(),
        "created_by": "key_x",
    }


def newest_run(apprentice: Apprentice) -> str:
    """Return the id of a run of today, the one that is listed first."""
    path = f"/api/v1/apprentice/tasks/{apprentice.name}/runs"
    [run] = apprentice.platform.call("GET", path, query={"limit": 1}).json["runs"]
    return str(run["id"])


def cost(dice: Random) -> int:
    """Return what an answer cost, in billionths of a US dollar."""
    return dice.randint(80_000, 160_000)

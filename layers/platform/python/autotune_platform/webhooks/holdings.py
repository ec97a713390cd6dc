"""What webhooks keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding, RegistryHolding

HOLDER = DataHolder(
    "webhooks",
    [
        RegistryHolding(
            key="org_*#webhooks / whk_*",
            what="webhooks: address, event types; no secret",
            erased="`DELETE /api/v1/webhooks/{id}`",
        ),
        RegistryHolding(
            key="* / event#*",
            what="events beside what they happened to, until they are published",
            days=30,
            retained="an event is published once it is stored",
        ),
        Holding(
            place="table ledger",
            key="* / event#*",
            what="events of batches and budgets beside what they happened to, until published",
            days=30,
            retained="an event is published once it is stored",
        ),
        Holding(
            place="table decks",
            key="dck_* / event#*",
            what="events of runs, edits and proposals of a deck, until published",
            days=30,
            retained="an event is published once it is stored",
        ),
        Holding(
            place="table apprentice",
            key="apt_* / event#*",
            what="alarms, promotions and trainings of versions of an apprentice, until published",
            days=30,
            retained="an event is published once it is stored",
        ),
        Holding(
            place="table apprentice",
            key="money#org_*#apt_* / event#*",
            what="events of what trainings of a task may cost, until published",
            days=30,
            retained="an event is published once it is stored",
        ),
        Holding(
            place="table deliveries",
            key="whk_* / evt_*",
            what="deliveries: the event as it is sent, such as a verdict",
            of="completion",
            days=30,
            retained="subscribers have it; it shows what they were sent",
        ),
        Holding(
            place="table deliveries",
            key="whk_* / drain",
            what="who delivers to a webhook at the moment",
            days=1,
            retained="it goes by itself",
        ),
        Holding(
            place="queues",
            key="Webhooks",
            what="ids of webhooks with something to deliver",
            days=14,
            retained="a message goes when it is handled",
        ),
    ],
)

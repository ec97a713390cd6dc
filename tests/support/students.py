"""Intents that are made up, for students that are trained in tests."""

import random

_TOPICS = ("balance", "weather", "music", "flight", "alarm", "recipe", "parcel", "insurance")
_VERBS = ("show", "cancel", "explain")
_FILLERS = ("please", "my", "the", "for", "me", "now", "a", "quick", "today", "hello")


def made_up(count, *, seed=1, errors=0.0):
    """Return rows of 24 intents: a verb and a topic among other words, some taught wrong."""
    chance = random.Random(seed)
    rows = []
    for _ in range(count):
        verb, topic = chance.choice(_VERBS), chance.choice(_TOPICS)
        words = [verb, topic, *chance.sample(_FILLERS, 4)]
        chance.shuffle(words)
        intent = f"{verb}_{topic}"
        if chance.random() < errors:
            intent = f"{verb}_{chance.choice(_TOPICS)}"
        rows.append(({"text": " ".join(words)}, {"intent": intent}))
    return rows

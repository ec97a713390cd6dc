"""What ``autotune decks agreement`` says of labels that came since a calibration."""

from tests.support.ledger import ledger as make_ledger
from tests.support.published_decks import PublishedDeck


def test_without_a_fresh_label_nothing_is_said_to_be_predicted(api, run):
    with make_ledger(api.platform) as ledger:
        deck = PublishedDeck(ledger)
        grader_id = deck.add_grader()
        deck.add_levels(63)
        deck.label(grader_id)
        deck.finish(deck.start())
        assert deck.publish(grader_id)["uncalibratedBecause"] is None
        (said,) = [
            line
            for line in run("decks", "agreement", deck.deck_id, grader_id).stdout.splitlines()
            if "fresh" in line
        ]
        assert said.endswith("none yet")
        assert "predicted" not in said

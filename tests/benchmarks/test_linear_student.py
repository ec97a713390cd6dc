"""The benchmark of the linear student, on intents that are made up."""

import json

from benchmarks.linear_student import measure, queries
from tests.support.students import made_up


def test_it_measures_agreement_with_a_teacher_that_errs(tmp_path):
    rows = made_up(1_600)
    intents = sorted({right["intent"] for _, right in rows})
    domains = {"one": intents[:12], "two": intents[12:]}
    lines = [
        json.dumps(
            {"split": "train", "text": f"{asked['text']} {place}", "intent": right["intent"]}
        )
        for place, (asked, right) in enumerate(rows)
    ]
    (tmp_path / "clinc_domains.json").write_text(json.dumps(domains))
    out_of_scope = json.dumps({"text": "what", "intent": "oos"})
    (tmp_path / "clinc150.jsonl").write_text("\n".join([*lines, out_of_scope]))
    found = queries(tmp_path)
    assert len(found) == 1_600
    wrong = [one for one in found if one.taught != one.intent]
    assert 0.02 < len(wrong) / len(found) < 0.06
    domain_of = {intent: name for name, members in domains.items() for intent in members}
    assert all(domain_of[one.taught] == domain_of[one.intent] for one in wrong)
    figures = measure(found, 800, held_out=400, asked_about=400)
    assert figures["accuracy"] > figures["agreement"] > 0.85
    assert 0 <= figures["calibration_error"] < 0.2
    assert figures["gated_share"] > 0.5
    assert figures["gated_agreement"] > 0.9

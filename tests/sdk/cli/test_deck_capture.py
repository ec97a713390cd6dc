"""``autotune decks capture``: which chat completions become samples."""

from autotune.cli import exit_codes


def test_capture_is_off_set_shown_and_switched_off(run):
    assert "captures         off" in run("decks", "capture", "show").stdout
    asked = ("--sampling-rate", 0.25, "--retention-days", 7, "--redact", "a+", "--redact", r"\d{4}")
    made = run("decks", "capture", "set", *asked, "--keep", "team", "--group-by", "team")
    for line in ("captures         on", "samplingRate     0.25", "retentionDays    7"):
        assert line in made.stdout
    (shown,) = run("decks", "capture", "show", "--json").json_lines
    assert shown["redactions"] == ["a+", r"\d{4}"]
    assert (shown["metadataNames"], shown["groupBy"]) == (["team"], "team")
    assert shown["updatedAt"]
    (off,) = run("decks", "capture", "off", "--json").json_lines
    kept = ("samplingRate", "retentionDays", "redactions", "metadataNames", "groupBy")
    assert [off[name] for name in kept] == [shown[name] for name in kept]
    assert off["enabled"] is False


def test_a_pattern_that_cannot_run_is_refused_by_name(run):
    refused = run("decks", "capture", "set", "--redact", "(")
    assert refused.exit_code == exit_codes.USAGE
    assert "redactions[0]" in refused.stderr

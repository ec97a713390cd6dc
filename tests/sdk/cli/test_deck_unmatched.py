"""``autotune decks samples match``, ``unmatched``, ``adopt`` and ``dismiss``."""

from autotune.cli import exit_codes
from tests.support.decks import chat


def test_a_file_finds_its_decks_and_a_prompt_becomes_one(api, run, write_jsonl):
    body = {"name": "d", "systemPrompt": "Mine."}
    deck_id = api.platform.call("POST", "/api/v1/decks", body).json["deck"]["id"]
    mine, none = (chat("q", output="a", system=text) for text in ("Mine.", "Nobody's prompt."))
    file = write_jsonl([mine, none, none])
    done = run("decks", "samples", "match", file)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        exit_codes.OK,
        "added 1; no deck has the prompts of 2",
    )
    assert done.stdout.split()[1] == deck_id
    again = run("decks", "samples", "match", file, "--json").json_lines[0]
    assert (again["accepted"], again["rejectedLines"]) == (1, 0)
    assert again["samples"][0]["sampleId"] == done.stdout.split()[0]

    (listed,) = run("decks", "unmatched", "--json").json_lines
    assert (listed["calls"], listed["excerpt"]) == (2, "Nobody's prompt.")
    assert "Nobody's prompt." in run("decks", "unmatched").stdout
    shown = run("decks", "unmatched", listed["id"])
    assert shown.stdout.endswith("\nNobody's prompt.\n")
    adopted = run("decks", "adopt", listed["id"], "--name", "new")
    assert adopted.stderr == "2 samples\n"
    names = {one["id"]: one["name"] for one in run("decks", "list", "--json").json_lines}
    assert names[adopted.stdout.strip()] == "new"
    assert run("decks", "unmatched", "--json").stdout == ""


def test_lines_without_a_prompt_are_put_aside_and_a_prompt_is_dismissed(run, write_jsonl):
    file = write_jsonl([{"input": "q", "output": "a"}, chat("q", output="a", system="None.")])
    done = run("decks", "samples", "match", file)
    assert done.exit_code == exit_codes.INCOMPLETE
    assert "request.messages" in done.stderr
    (listed,) = run("decks", "unmatched", "--json").json_lines
    dismissed = run("decks", "dismiss", listed["id"])
    assert dismissed.stderr == f"dismissed {listed['id']}\n"
    assert run("decks", "unmatched", "--json").stdout == ""
    assert run("decks", "unmatched", "ump_" + "0" * 26).exit_code == exit_codes.NOT_FOUND

"""``autotune decks``: decks from prompts and from files, and back."""

import re
from pathlib import Path

import pytest

from autotune import format_deck_file, parse_deck_file
from autotune.cli import exit_codes
from tests.support.deck_files import GRADER, PROMPT, WRITTEN
from tests.support.http_faults import Fault

OTHER = GRADER.replace("Tone", "Clarity").replace("Is it kind?", "Is it clear?")
JUDGE = (
    '[judge]\nconnection = "{}"\nmodel = "small"\nparams = {{ maxTokens = 400 }}\n+++\n\n# System'
)


@pytest.fixture
def connection_id(api):
    body = {"name": "lab", "provider": "openai", "apiKey": "sk-test-0123456789"}
    answer = api.platform.call("POST", "/api/v1/llm-connections", body)
    assert answer.status == 201, answer.text
    return answer.json["connection"]["id"]


@pytest.fixture
def write(tmp_path):
    def to(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return to


def test_a_deck_is_made_from_a_prompt_shown_changed_rolled_back_and_archived(run, write):
    prompt = write("support.md", f"\ufeff{PROMPT}\r\n")
    made = run("decks", "create", prompt, "--description", "d", "--holdout-share", 1, "--json")
    (deck,) = made.json_lines
    assert (deck["name"], deck["systemPrompt"], deck["holdoutShare"]) == ("support", PROMPT, 1)
    shown = run("decks", "show", deck["id"])
    assert "name             support\n" in shown.stdout
    assert shown.stdout.endswith(f"\n\n{PROMPT}\n")
    assert "support" in run("decks", "list").stdout

    second = write("second.md", "You help {{customer}}.")
    changed = run(
        "decks", "update", deck["id"], "--prompt", second, "--note", "shorter", "--name", "s"
    )
    assert "version          2" in changed.stdout
    listed = run("decks", "versions", deck["id"]).stdout.splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [["2", "1"], ["1", "-"]]
    assert "customer" in listed[1]
    assert "shorter" in listed[1]
    assert run("decks", "show", deck["id"], "--version", 1).stdout.endswith(f"\n\n{PROMPT}\n")
    (back,) = run("decks", "update", deck["id"], "--version", 1, "--json").json_lines
    assert (back["version"], back["systemPrompt"], back["name"]) == (1, PROMPT, "s")

    archived = run("decks", "archive", deck["id"])
    assert (archived.stdout, archived.stderr) == ("", f"archived {deck['id']}\n")
    (again,) = run("decks", "update", deck["id"], "--active", "--json").json_lines
    assert again["status"] == "active"
    assert run("decks", "delete", deck["id"]).stderr == f"deleted {deck['id']}\n"
    assert run("decks", "show", deck["id"]).exit_code == exit_codes.NOT_FOUND


def test_a_prompt_may_come_from_stdin_and_a_file_of_a_deck_is_imported_instead(run, write):
    (deck,) = run("decks", "create", "-", "--name", "n", "--json", stdin="Help.\n").json_lines
    assert deck["systemPrompt"] == "Help."
    for arguments, told in [
        (["create", "-"], "--name is needed"),
        (["create", write("a.deck.md", WRITTEN)], "autotune decks import"),
        (["create", "none.md"], "none.md: No such file"),
        (["create", write("empty.md", "\n")], "empty.md is empty: expected a system prompt"),
        (["update", deck["id"], "--note", "x"], "give --prompt, too"),
        (["update", deck["id"], "--version", 1, "--prompt", "a.md"], "--version or --prompt"),
    ]:
        ran = run("decks", *arguments)
        assert (ran.exit_code, told in ran.stderr) == (exit_codes.USAGE, True), ran.stderr
    assert run("decks", "show", "dck_none").exit_code == exit_codes.NOT_FOUND


def test_an_imported_deck_is_exported_as_the_same_file(api, run, write, connection_id, tmp_path):
    text = WRITTEN.replace("+++\n\n# System", JUDGE.format(connection_id)) + OTHER
    file = write("support.deck.md", text)
    (made,) = run("decks", "import", file, "--json").json_lines
    deck_id, (first, second) = made["deckId"], made["graderIds"]
    listed = run("decks", "graders", "list", deck_id).stdout
    assert listed.count("proposed") == 2
    assert listed.count("import") == 2
    exported = run("decks", "export", deck_id)
    assert exported.stdout == format_deck_file(parse_deck_file(text))
    again = tmp_path / "again.deck.md"
    assert "2 graders" in run("decks", "export", deck_id, "-o", again).stderr
    assert again.read_text("utf-8") == exported.stdout
    (told,) = run("decks", "export", deck_id, "-o", again, "--json").json_lines
    assert told == {"deckId": deck_id, "graders": 2, "file": str(again)}
    unwritable = run("decks", "export", deck_id, "-o", tmp_path)
    assert (unwritable.exit_code, str(tmp_path) in unwritable.stderr) == (exit_codes.USAGE, True)
    (copy,) = run("decks", "import", again, "--name", "copy", "--json").json_lines
    renamed = exported.stdout.replace('name = "Support"', 'name = "copy"')
    assert run("decks", "export", copy["deckId"]).stdout == renamed

    activated = run("decks", "graders", "activate", deck_id, "--all")
    assert [line.split()[:2] for line in activated.stdout.splitlines()] == [
        [first, "active"],
        [second, "active"],
    ]
    published = run("decks", "graders", "publish", deck_id, "--all")
    names = published.stdout.split()
    assert len(names) == len(set(names)) == 2
    assert published.stderr == "".join(
        f"{name}, version 1: not calibrated, not_judged\n" for name in ("Tone", "Clarity")
    )
    (told,) = run("decks", "graders", "publish", deck_id, second, "--json").json_lines
    assert told["published"]["graderId"] == names[1]
    shown = run("decks", "agreement", deck_id, second).stdout
    assert f"version 1, the current one, as {names[1]}, not calibrated: not judged" in shown
    unlabelled = run("decks", "estimate", deck_id, "--labelled", "--repeat")
    assert "no such sample" in unlabelled.stderr
    both = run("decks", "estimate", deck_id, "--labelled", "--split", "holdout")
    assert (both.exit_code, "labelled" in both.stderr) == (exit_codes.USAGE, True)
    assert run("decks", "graders", "publish", deck_id).exit_code == exit_codes.USAGE
    (task,) = run("decks", "task", deck_id, "--uncalibrated", "allow", "--json").json_lines
    assert [one["graderId"] for one in task["graders"]] == names
    assert (task["quorum"], task["uncalibrated"]) == (1, "allow")
    refused = run("decks", "task", deck_id, "--uncalibrated", "refuse")
    assert (refused.exit_code, "not calibrated" in refused.stderr) == (exit_codes.USAGE, True)
    assert "retired" in run("decks", "graders", "retire", deck_id, second).stdout
    kept = parse_deck_file(run("decks", "export", deck_id, "--no-connections").stdout)
    assert [grader.name for grader in kept.graders] == ["Tone"]
    assert (kept.judge.model, kept.judge.connection) == ("small", None)


def test_importing_into_a_deck_changes_what_differs_and_nothing_the_second_time(
    api, run, write, connection_id
):
    text = WRITTEN.replace("+++\n\n# System", JUDGE.format(connection_id))
    (made,) = run("decks", "import", write("a.deck.md", text), "--json").json_lines
    deck_id, (tone,) = made["deckId"], made["graderIds"]
    changed = text.replace("Is it kind?", "Is it friendly?").replace("Be brief", "Be short") + OTHER
    changed = changed.replace("You help with", "You assist with").replace('"Support"', '"Desk"')
    file = write("a.deck.md", changed)
    for _ in range(2):
        (brought,) = run("decks", "import", file, "--into", deck_id, "--json").json_lines
        assert (brought["deckId"], brought["graderIds"][0]) == (deck_id, tone)
        assert run("decks", "export", deck_id).stdout == format_deck_file(parse_deck_file(changed))
        versions = run("decks", "versions", deck_id, "--json").json_lines
        assert [one["version"] for one in versions] == [2, 1]
        of_grader = run("decks", "graders", "versions", deck_id, tone, "--json").json_lines
        assert [one["version"] for one in of_grader] == [2, 1]
    assert len(run("decks", "graders", "list", deck_id, "--json").json_lines) == 2
    first = run("decks", "graders", "show", deck_id, tone, "--version", 1)
    assert "Is it kind?" in first.stdout
    assert "+3  Warm,\nand to the point.\n" in first.stdout
    assert "Not applicable when: There is no answer." in first.stdout
    back = run("decks", "graders", "update", deck_id, tone, "--version", 1, "--name", "Kind")
    assert back.stdout.split()[1:] == ["proposed", "version", "1", "Kind"]

    share = write("b.deck.md", text.replace("deck = 1", "deck = 1\nholdoutShare = 0.2"))
    refused = run("decks", "import", share, "--into", deck_id)
    assert (refused.exit_code, "for good" in refused.stderr) == (exit_codes.USAGE, True)
    twice = run("decks", "import", write("c.deck.md", text + GRADER), "--into", deck_id)
    assert (twice.exit_code, "of the same name" in twice.stderr) == (exit_codes.USAGE, True)
    run("decks", "graders", "update", deck_id, tone, "--name", "Clarity")
    shared = ("--shared-share", 0.5, "--shared-raters", 3, "--json")
    (told,) = run("decks", "graders", "update", deck_id, tone, *shared).json_lines
    assert (told["sharedShare"], told["sharedRaters"]) == (0.5, 3)
    twice = run("decks", "import", file, "--into", deck_id)
    assert "has several graders Clarity" in twice.stderr


def test_an_import_that_is_cut_short_goes_on_into_the_deck_that_there_is(api, run, write):
    file = write("a.deck.md", WRITTEN + OTHER)
    api.misbehave(Fault(status=503, where="POST .*/graders"))
    ran = run("decks", "import", file)
    assert ran.exit_code == exit_codes.UNAVAILABLE
    deck_id = ran.stderr.split()[0]
    assert f"the same command with --into {deck_id} goes on" in ran.stderr
    (brought,) = run("decks", "import", file, "--into", deck_id, "--json").json_lines
    assert len(brought["graderIds"]) == 2
    assert len(run("decks", "list", "--json").json_lines) == 1


def test_a_judge_is_named_where_the_file_names_none(run, write, connection_id):
    file = write("a.deck.md", WRITTEN)
    judge = ("--connection", connection_id, "--model", "small", "--max-tokens", 99)
    (made,) = run("decks", "import", file, *judge, "--json").json_lines
    (grader,) = run("decks", "graders", "list", made["deckId"], "--json").json_lines
    assert grader["judge"] == {
        "connectionId": connection_id,
        "model": "small",
        "params": {"maxTokens": 99, "temperature": 0.0},
    }
    lacking = write(
        "b.deck.md", WRITTEN.replace("+++\n\n# System", JUDGE.replace("connection", "#").format(1))
    )
    for arguments, told in [
        ([lacking], "--connection is needed"),
        ([file, "--connection", "lab"], "--connection takes an id"),
        ([file, "--prompt", file], "has a system prompt of its own"),
    ]:
        ran = run("decks", "import", *arguments)
        assert ran.exit_code in (exit_codes.USAGE, exit_codes.NOT_FOUND)
        assert told in ran.stderr
    assert len(run("decks", "list", "--json").json_lines) == 1


def test_a_broken_file_is_told_by_line_and_nothing_is_made(run, write):
    ran = run("decks", "import", write("a.deck.md", WRITTEN.replace("- **0**: Neither.\n", "")))
    assert ran.exit_code == exit_codes.USAGE
    assert ran.stderr == (
        "autotune: a.deck.md, line 29: grader Tone, levels: expected seven levels; there is no 0\n"
    )
    wrong = write("b.deck.md", "x")
    wrong.write_bytes(b"\xff")
    assert "expected UTF-8" in run("decks", "import", wrong).stderr
    assert run("decks", "list", "--json").json_lines == []


AIBFF = "# Advice\n\nJudge it.\n\n" + "".join(
    f"- **{level:+d}**: Level {level}.\n" for level in range(-3, 4)
)


def test_graders_of_aibff_become_a_deck_or_part_of_one(run, write, tmp_path):
    grader = write("advice.deck.md", f"{AIBFF}\n![s](samples.toml)\n")
    alone = run("decks", "import", grader)
    assert (alone.exit_code, "give --prompt" in alone.stderr) == (exit_codes.USAGE, True)
    prompt = write("p.md", "Help.\n")
    (made,) = run("decks", "import", grader, "--prompt", prompt, "--json").json_lines
    assert made["notes"] == ["samples.toml is not read"]
    added = run("decks", "graders", "add", made["deckId"], grader, "--json")
    assert added.json_lines[0]["rubric"]["levels"][0] == "Level -3."
    assert "samples.toml is not read" in added.stderr
    refused = run(
        "decks",
        "graders",
        "add",
        made["deckId"],
        write("z.deck.md", AIBFF.replace("Level 0", "N/A")),
    )
    assert (refused.exit_code, "0 is a level like the others" in refused.stderr) == (2, True)

    (tmp_path / "graders").mkdir()
    write("graders/advice.deck.md", AIBFF)
    deck = write(
        "help.deck.md", '+++\ngraders = ["graders/advice.deck.md"]\n+++\n# Help\n\nYou help.\n'
    )
    (made,) = run("decks", "import", deck, "--json").json_lines
    (shown,) = run("decks", "show", made["deckId"], "--json").json_lines
    assert (shown["name"], shown["systemPrompt"]) == ("Help", "You help.")
    for path in ("../a.deck.md", "/etc/passwd", "graders/../../a.deck.md"):
        deck = write("help.deck.md", f'+++\ngraders = ["{path}"]\n+++\n# Help\n\nYou help.\n')
        ran = run("decks", "import", deck)
        assert (ran.exit_code, f"{path}: expected a .deck.md in" in ran.stderr) == (2, True)


def test_graders_of_a_file_are_added_by_name_and_deleted(run, write):
    file = write("a.deck.md", WRITTEN + OTHER)
    deck_id = run("decks", "create", write("p.md", "Help."), "--json").json_lines[0]["id"]
    none = run("decks", "graders", "add", deck_id, file, "--only", "Wit")
    assert "has no grader Wit: it has Tone, Clarity" in none.stderr
    added = run("decks", "graders", "add", deck_id, file, "--only", "Clarity")
    assert added.stderr == "Clarity is proposed\n"
    grader_id = added.last_line
    assert run("decks", "graders", "activate", deck_id).exit_code == exit_codes.USAGE
    refused = run("decks", "graders", "activate", deck_id, grader_id)
    assert (refused.exit_code, "judge" in refused.stderr) == (exit_codes.USAGE, True)
    assert run("decks", "graders", "delete", deck_id, grader_id).stderr == f"deleted {grader_id}\n"
    assert run("decks", "graders", "show", deck_id, grader_id).exit_code == exit_codes.NOT_FOUND


def test_the_commands_of_the_guide_run(run, shell, write, connection_id, tmp_path):
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "deck-files.md").read_text("utf-8")
    (example,) = re.findall(r"^`````markdown\n(.*?)^`````$", guide, re.M | re.S)
    file = write("support.deck.md", example)
    commands = re.findall(r"^```sh\n(.*?)^```$", guide, re.M | re.S)
    assert len(commands) == 2
    edit = "sed -i.bak 's/Never promise/Do not promise/' support.deck.md"
    ran = shell.run(
        "\n".join([commands[0], edit, commands[1]]), cwd=tmp_path, CONNECTION=connection_id
    )
    assert ran.returncode == 0, ran.stderr
    (deck,) = run("decks", "list", "--json").json_lines
    assert (deck["name"], deck["version"], deck["graders"]) == ("Support answers", 2, 2)
    exported = example.replace("llc_06h0b5l1a1d1pgc4qv0m7k3s2g", connection_id)
    written = parse_deck_file(file.read_text("utf-8"))
    assert written.system_prompt.replace("Do not promise", "Never promise") == (
        parse_deck_file(exported).system_prompt
    )
    judges = [written.judge_of(grader) for grader in written.graders]
    assert {judge.connection for judge in judges} == {connection_id}
    assert ran.stdout.count(" active ") == 2

"""``autotune apprentice examples``: brought, listed, exported, counted and deleted."""

import json

import pytest

from autotune.cli import exit_codes
from tests.support.apprentice import configuration
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def task(api):
    with make_ledger(api.platform) as ledger:
        asked = configuration(ledger.connect())
        for name in ("support", "others"):
            put = api.platform.call("PUT", f"/api/v1/apprentice/tasks/{name}", asked)
            assert put.status == 200
        yield put.json["task"]


@pytest.fixture
def file(tmp_path):
    def write(*lines):
        path = tmp_path / "examples.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    return write


def line(number):
    return json.dumps({"input": {"text": f"question {number}"}, "output": {"intent": "open"}})


def examples(run, *words):
    return run("apprentice", "examples", *words)


def test_what_is_exported_is_imported_elsewhere(run, task, file):
    shown = examples(run, "import", "support", file(line(0), line(1)))
    assert (shown.exit_code, shown.stdout) == (0, "added 2, there before 0\n")
    exported = examples(run, "export", "support")
    assert {json.loads(one)["input"]["text"] for one in exported.stdout.splitlines()} == {
        "question 0",
        "question 1",
    }
    again = examples(run, "import", "others", file(*exported.stdout.splitlines()), "--json")
    assert again.json_lines == [{"added": 2, "repeated": 0, "rejected": []}]
    (counted,) = examples(run, "counts", "others", "--json").json_lines
    assert (counted["examples"], counted["selections"]["imported"]) == (2, 2)


def test_examples_are_listed_and_deleted(run, task, file):
    examples(run, "import", "support", file(line(0)))
    lines = examples(run, "list", "support").stdout.splitlines()
    assert lines[0].split() == ["ID", "SELECTION", "SIDE", "INPUT", "OUTPUT", "RUN", "AT"]
    example_id = lines[1].split()[0]
    assert example_id.startswith("exm_")
    assert examples(run, "delete", "support", example_id).exit_code == 0
    assert examples(run, "list", "support", "--json").json_lines == []
    before = examples(run, "export", "support", "--definition", task["definitionHash"])
    assert before.stdout == ""


def test_faulty_lines_are_named_by_their_numbers(run, task, file):
    source = file(line(0), "", '{"input": {"text": 1}, "output": {"intent": "open"}}')
    shown = examples(run, "import", "support", source)
    assert shown.exit_code == exit_codes.INCOMPLETE
    assert f"{source}, line 3: input.text" in shown.stderr
    assert shown.stdout == "added 1, there before 0\n"
    shown = examples(run, "import", "support", source, "--json")
    assert [one["line"] for one in shown.json_lines[0]["rejected"]] == [3]


def test_nothing_is_sent_of_a_file_with_a_line_that_is_no_object(run, task, file):
    source = file(line(0), "no json")
    shown = examples(run, "import", "support", source)
    assert shown.exit_code not in (exit_codes.OK, exit_codes.INCOMPLETE)
    assert f"{source}, line 2" in shown.stderr
    assert examples(run, "list", "support", "--json").json_lines == []
    assert "is empty" in examples(run, "import", "support", file("")).stderr

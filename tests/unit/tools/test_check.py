from collections.abc import Mapping

import pytest

from tools import check
from tools.check import (
    folders_of,
    module_of,
    path_of,
    read_report,
    references,
    select,
    touched_tests,
)

VERDICTS = "layers/platform/python/autotune_platform/verdicts"
TESTS = {
    "tests/component/scoring/test_grading.py": "from functions.scoring import grade_chunk",
    "tests/component/scoring/test_limits.py": "from tests.support.parts import admission",
    "tests/component/webhooks/test_guide.py": "GUIDE = Path('docs') / 'guides' / 'webhooks.md'",
    "tests/component/exports/test_requests.py": "patch('autotune_platform.exports.service._wait')",
    "tests/e2e/test_exports.py": "import autotune_platform.exports.service",
    "tests/infra/test_alarms.py": "",
    "tests/sdk/client/test_scores.py": "from autotune.client import Client",
    "tests/sdk/client/test_waiting.py": "from autotune.client import Client",
    "tests/unit/verdicts/test_panels.py": "from autotune_platform.verdicts.panels import Panel",
}


def touched(*changed: str, importers: Mapping[str, set[str]] | None = None) -> dict[str, int]:
    tests = {path: references(source) for path, source in TESTS.items()}
    return touched_tests(changed, tests, importers or {})


def test_a_changed_test_is_touched() -> None:
    assert touched("tests/infra/test_alarms.py") == {"tests/infra/test_alarms.py": 0}


def test_what_imports_a_module_is_closer_than_what_is_beside_it() -> None:
    assert touched("functions/scoring/grade_chunk.py") == {
        "tests/component/scoring/test_grading.py": 1,
        "tests/component/scoring/test_limits.py": 2,
    }


def test_helpers_touch_the_tests_that_import_them() -> None:
    assert touched("tests/support/parts.py") == {"tests/component/scoring/test_limits.py": 1}


def test_what_is_prepared_for_a_folder_touches_all_of_it() -> None:
    found = touched("tests/component/scoring/conftest.py")
    assert set(found) == {path for path in TESTS if path.startswith("tests/component/scoring/")}


def test_a_module_that_is_named_as_a_text_is_touched() -> None:
    found = touched("layers/platform/python/autotune_platform/exports/service.py")
    assert found == {"tests/component/exports/test_requests.py": 1, "tests/e2e/test_exports.py": 1}


def test_a_guide_touches_the_test_of_its_examples() -> None:
    assert touched("docs/guides/webhooks.md") == {"tests/component/webhooks/test_guide.py": 1}


def test_a_test_of_the_same_name_is_closest_in_its_folder() -> None:
    assert touched("layers/sdk/python/autotune/client/scores.py") == {
        "tests/sdk/client/test_scores.py": 1,
        "tests/sdk/client/test_waiting.py": 2,
    }


def test_tests_of_what_imports_a_changed_module_come_last() -> None:
    importers = {"autotune_platform.verdicts.filters": {"autotune_platform.exports.reading"}}
    assert touched(f"{VERDICTS}/filters.py", importers=importers) == {
        "tests/unit/verdicts/test_panels.py": 2,
        "tests/component/exports/test_requests.py": 3,
    }


def test_what_nothing_is_known_of_touches_nothing() -> None:
    assert touched("docs/images/review.png", "README.md", "layers/sdk/pyproject.toml") == {}


@pytest.mark.parametrize(
    ("path", "module"),
    [
        (f"{VERDICTS}/service.py", "autotune_platform.verdicts.service"),
        ("layers/sdk/python/autotune/client/scores.py", "autotune.client.scores"),
        ("functions/scoring/grade_chunk.py", "functions.scoring.grade_chunk"),
    ],
)
def test_a_path_and_its_module(path: str, module: str) -> None:
    assert module_of(path) == module
    assert path_of(module) == path


def test_a_package_is_imported_by_its_folder() -> None:
    assert module_of("layers/sdk/python/autotune/__init__.py") == "autotune"


def test_the_closest_run_as_far_as_time_goes() -> None:
    found = {"far": 3, "near": 1, "long": 2, "beside": 2, "own": 0}
    cost = {"far": 1.0, "near": 10.0, "long": 50.0, "beside": 20.0, "own": 9.0}
    selection = select(found, cost, seconds=20)
    assert selection.run == ["own", "near", "beside", "far"]
    assert selection.left_out == ["long"]


def test_what_was_changed_runs_whatever_it_takes() -> None:
    assert select({"own": 0}, {"own": 900.0}, seconds=1).run == ["own"]


def test_what_needs_the_whole_stack_is_left_out() -> None:
    path = "tests/e2e/test_exports.py"
    assert select({path: 0}, {path: 1.0}, seconds=100).left_out == [path]


def test_what_there_was_no_time_for_is_known_from_the_report() -> None:
    seen, cut_off = read_report(
        "<testsuites><testsuite>"
        "<testcase file='tests/a.py' time='1.5'/><testcase file='tests/a.py' time='2'/>"
        "<testcase file='tests/b.py' time='0.1'><skipped message='no browser'/></testcase>"
        "<testcase file='tests/c.py' time='3'/>"
        "<testcase file='tests/c.py' time='0'><skipped message='no time left for it'/></testcase>"
        "</testsuite></testsuites>"
    )
    assert seen == {"tests/a.py": 3.5, "tests/b.py": 0.1}
    assert cut_off == ["tests/c.py"]


def test_what_is_not_begun_in_time_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTUNE_CHECK_UNTIL", "0")
    with pytest.raises(pytest.skip.Exception, match="no time"):
        check.pytest_runtest_setup()
    monkeypatch.delenv("AUTOTUNE_CHECK_UNTIL")
    check.pytest_runtest_setup()


def test_folders_that_mirror_sources_are_there() -> None:
    """Of each mirror at least one folder or file is in this repository."""
    sources = {
        f"{VERDICTS}/x.py": None,
        "layers/platform/python/autotune_platform/scoring/x.py": "tests/component/scoring/",
        "functions/scoring/api.py": "tests/component/access/test_matrix.py",
        "layers/sdk/python/autotune/protocol/x.py": "tests/unit/platform/test_openapi.py",
        "infra/stacks/x.py": "tests/infra/",
        "examples/x/y.py": "tests/examples/",
        "tools/x.py": "tests/unit/tools/",
    }
    for source, expected in sources.items():
        assert expected is None or expected in folders_of(source)
        assert expected is None or (check.ROOT / expected).exists()


def test_modules_of_this_repository_know_who_imports_them() -> None:
    found = check.importers()
    assert "functions.completions.scores_api" in found["autotune_platform.verdicts.filters"]
    assert "tools.openapi" in found["autotune_platform.access.routes"]

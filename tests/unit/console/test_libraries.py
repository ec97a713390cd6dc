"""What the console has of others is what its lock names, and nothing of it makes code of text."""

import json
import re

import pytest

from tools.console_libraries import (
    CONSOLE,
    FILES,
    VENDOR,
    UnknownTextError,
    copies,
    installed,
    versions,
)


def held():
    return {
        file.relative_to(VENDOR).as_posix(): file.read_bytes()
        for file in VENDOR.rglob("*")
        if file.is_file()
    }


def test_what_is_held_is_what_npm_installs_by_the_locks_digests():
    with installed() as packages:
        assert held() == copies(packages)


def test_every_package_is_pinned_exactly_and_by_digest_and_names_no_registry():
    lock = json.loads((CONSOLE / "package-lock.json").read_text())["packages"]
    wanted = json.loads((CONSOLE / "package.json").read_text())["dependencies"]
    assert wanted == versions() == dict(sorted(wanted.items()))
    assert {name.removeprefix("node_modules/") for name in lock if name} == set(FILES)
    for name, package in lock.items():
        if name:
            assert package["integrity"].startswith("sha512-")
            assert "resolved" not in package


def test_a_copy_that_cannot_be_changed_as_it_must_is_not_made(tmp_path):
    for name, files in FILES.items():
        for source in (*files, "LICENSE"):
            file = tmp_path / name / source
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("nothing that is replaced")
    with pytest.raises(UnknownTextError, match="0 times"):
        copies(tmp_path)


def test_libraries_evaluate_no_text_and_import_by_path():
    for path, content in held().items():
        if path.endswith(".js"):
            text = content.decode()
            assert not re.search(r"\beval\(|new Function\b|\bFunction\(", text), path
            assert "sourceMappingURL" not in text
            for name in re.findall(r'^import\b.*?\bfrom ?"([^"\n]+)"', text, re.MULTILINE):
                assert name.startswith("./"), path


def test_the_console_imports_the_versions_that_are_pinned():
    named = set()
    for file in (
        *CONSOLE.glob("*.*"),
        *CONSOLE.glob("components/*"),
        *CONSOLE.glob("pages/**/*.js"),
    ):
        named |= set(re.findall(r"vendor/([a-z]+)@([\d.]+)/", file.read_text()))
    assert named == set(versions().items())

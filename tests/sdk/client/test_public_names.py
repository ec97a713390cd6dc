import importlib
import inspect
import subprocess
import sys

import pytest

import autotune


def test_every_public_name_is_there():
    assert len(autotune.__all__) == len(set(autotune.__all__)) > 60
    for name in autotune.__all__:
        assert repr(getattr(autotune, name)) == name or getattr(autotune, name).__name__ == name
    assert set(autotune.__all__) <= set(dir(autotune))


@pytest.mark.parametrize("package", ["autotune", "autotune.client", "autotune.grader"])
def test_a_star_import_takes_the_public_names_and_nothing_else(package):
    taken = {}
    exec(f"from {package} import *", taken)
    taken.pop("__builtins__")
    assert set(taken) == set(importlib.import_module(package).__all__)
    assert not any(inspect.ismodule(value) for value in taken.values())
    assert not {"TYPE_CHECKING", "Any", "exported"} & set(taken)


def test_modules_can_be_imported_by_name_without_a_client():
    program = (
        "import sys\nfrom autotune import protocol\n"
        "sys.exit('autotune.client.clients' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = autotune.Nothing


def test_the_protocol_loads_no_client():
    program = (
        "import sys, autotune.protocol.signing, autotune.protocol.completions\n"
        "loaded = {'httpx', 'autotune.client', 'autotune.cli', 'typer'} & set(sys.modules)\n"
        "sys.exit(str(loaded) if loaded else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_methods_carry_signature_and_docstring_for_help(client):
    assert client.tasks.get.__name__ == "get_task"
    assert "Read a task." in client.tasks.get.__doc__


def test_coroutine_methods_are_known_as_such():
    client = autotune.AsyncAutotuneClient(base_url="http://a.example", api_key="key_1.cafe")
    assert inspect.iscoroutinefunction(client.tasks.get)
    assert inspect.iscoroutinefunction(client.exports.download)
    assert inspect.isasyncgenfunction(client.tasks.list)
    assert inspect.isasyncgenfunction(client.completions.submit_many)

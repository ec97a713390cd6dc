import subprocess
import sys

import pytest

import autotune


def test_every_public_name_is_there_and_typed():
    assert sorted(autotune.__all__) == sorted(autotune._HOMES)
    for name in autotune.__all__:
        assert getattr(autotune, name).__name__ == name
    assert set(autotune.__all__) <= set(dir(autotune))


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

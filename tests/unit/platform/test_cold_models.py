"""A function builds the models that a request needs, and none while it is imported."""

import json
import subprocess
import sys

from benchmarks.cold_import import handlers

BUILT = """
import gc, importlib, json, sys

for handler in {handlers!r}:
    importlib.import_module(handler)

from pydantic import BaseModel, TypeAdapter

def below(model):
    for one in model.__subclasses__():
        yield one
        yield from below(one)

models = [
    f"{{one.__module__}}.{{one.__name__}}"
    for one in below(BaseModel)
    if one.__module__.startswith("autotune") and one.__pydantic_complete__
]
adapters = [
    repr(one)
    for one in gc.get_objects()
    if isinstance(one, TypeAdapter) and one.pydantic_complete
]
print(json.dumps(models + adapters))
"""


def test_imports_build_no_model() -> None:
    # A model is also built for a default like "= Limits()", where "default_factory" waits.
    finished = subprocess.run(
        [sys.executable, "-c", BUILT.format(handlers=handlers())],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(finished.stdout) == []

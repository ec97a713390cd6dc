import json
import shutil
import subprocess
import sys

import pytest

from functions.console.serve_pages import assets
from infra.config import REPOSITORY_ROOT, BuildPlatform, DeploymentConfig, running_python_version
from infra.constructs.bundling import (
    BundlingFailedError,
    DependencyBundling,
    SourceBundling,
    content_hash,
    source_files,
)
from infra.constructs.service_package import FUNCTION_FILES, LAYERS, SDK_FILES

HERE = DeploymentConfig.create(target="local", environment={}).build_platform
ELSEWHERE = BuildPlatform(python_version="3.99", uv_arguments=(), identity="elsewhere")

HANDLERS = sorted(
    ".".join(path.relative_to(REPOSITORY_ROOT).with_suffix("").parts)
    for path in (REPOSITORY_ROOT / "functions").glob("*/*.py")
    if path.name != "__init__.py"
)


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "source" / "tool"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "__init__.py").write_text("ANSWER = 42\n")
    (folder / "py.typed").touch()
    (folder / "__pycache__" / "__init__.cpython-39.pyc").write_bytes(b"stale")
    (folder / "notes.txt").write_text("not code")
    return folder


def bundle_sources(package, output, *, platform=HERE):
    bundling = SourceBundling(
        root=package.parent,
        packages=(package.name,),
        destination="python",
        mount="/opt",
        platform=platform,
    )
    return bundling.try_bundle(str(output))


def test_sources_are_copied_without_caches_and_compiled(package, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    assert bundle_sources(package, output) is True
    copied = {path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()}
    tag = sys.implementation.cache_tag
    assert copied == {
        "python/tool/__init__.py",
        "python/tool/py.typed",
        f"python/tool/__pycache__/__init__.{tag}.pyc",
    }


def test_bytecode_is_valid_whatever_the_modification_time(package, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    bundle_sources(package, output)
    [compiled] = output.rglob("*.pyc")
    # PEP 552: bit 0 says that the file is checked by hash, bit 1 that it is checked at all.
    assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 0b01
    assert b"/opt/python/tool/__init__.py" in compiled.read_bytes()


def test_nothing_is_compiled_for_another_python(package, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    bundle_sources(package, output, platform=ELSEWHERE)
    assert not list(output.rglob("*.pyc"))


def test_sources_that_do_not_compile_stop_the_build(package, tmp_path):
    (package / "broken.py").write_text("def :\n")
    output = tmp_path / "out"
    output.mkdir()
    with pytest.raises(BundlingFailedError, match="SyntaxError"):
        bundle_sources(package, output)


def test_a_requirement_without_a_hash_stops_the_build(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("httpx==0.28.1\n")
    bundling = DependencyBundling(requirements=requirements, platform=HERE)
    with pytest.raises(BundlingFailedError, match="must have a hash"):
        bundling.try_bundle(str(tmp_path / "out"))


def test_a_missing_package_stops_the_build(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        source_files(tmp_path, ("absent",))


def test_an_asset_is_named_after_its_sources_alone(package):
    root = package.parent

    def digest(platform=HERE):
        return content_hash(source_files(root, (package.name,)), root=root, platform=platform)

    first = digest()
    shutil.rmtree(package / "__pycache__")
    (package / "notes.txt").write_text("still not code")
    assert digest() == first
    assert digest(ELSEWHERE) != first
    (package / "__init__.py").write_text("ANSWER = 43\n")
    assert digest() != first


def test_the_sdk_layer_leaves_out_what_the_server_does_not_use():
    files = source_files(LAYERS / "sdk" / "python", SDK_FILES)
    folders = {path.relative_to(LAYERS / "sdk" / "python" / "autotune").parts[0] for path in files}
    assert folders == {"__init__.py", "protocol", "py.typed"}


def test_the_code_of_functions_holds_the_pages_and_others_terms_but_nothing_installed(tmp_path):
    pages = REPOSITORY_ROOT / "console"
    held = {
        file.relative_to(pages).as_posix() for file in source_files(REPOSITORY_ROOT, ("console",))
    }
    assert set(assets()) <= held
    assert {path for path in held if path.endswith("/LICENSE")} == {
        f"vendor/{folder.name}/LICENSE" for folder in (pages / "vendor").iterdir()
    }
    assert "console" in FUNCTION_FILES
    installed = tmp_path / "console" / "node_modules" / "preact" / "index.js"
    installed.parent.mkdir(parents=True)
    installed.touch()
    assert source_files(tmp_path, ("console",)) == []


def test_the_layer_of_functions_that_compute_is_numpy_alone(numpy_paths):
    (folder,) = numpy_paths
    held = {path.name.split("-")[0] for path in folder.iterdir()}
    assert held - {"numpy.libs"} == {"numpy"}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 90_000_000


def test_the_layer_of_what_embeds_has_nothing_that_downloads_models(similarity_paths):
    (folder,) = similarity_paths
    held = {path.name.split("-")[0] for path in folder.iterdir()}
    assert held - {"numpy.libs"} == {
        "cloudpickle",
        "joblib",
        "model2vec",
        "numpy",
        "tokenizers",
        "tqdm",
    }
    files = [path for path in folder.rglob("*") if path.is_file()]
    # With the layer of dependencies it has to be below Lambda's 250 MB.
    assert sum(path.stat().st_size for path in files) < 110_000_000


def test_the_aws_layer_is_built_for_graviton_and_the_lambda_runtime():
    platform = DeploymentConfig.create(target="aws", environment={}).build_platform
    assert platform.uv_arguments == (
        "--python-platform",
        "aarch64-manylinux_2_28",
        "--python-version",
        "3.13",
    )
    assert platform.runs_here == (running_python_version() == "3.13")


_IMPORT = """
import gc, importlib, json, os, sys, traceback

def collections():
    return sum(generation["collections"] for generation in gc.get_stats())

folders = int(sys.argv[1])
sys.path[:0] = sys.argv[2 : 2 + folders]
import functions
before = collections()
# What nearly all import, and takes most of the time of it, is imported once for all.
import aws_lambda_powertools.event_handler, botocore.session, pydantic

for handler in sys.argv[2 + folders :]:
    reads, writes = os.pipe()
    if os.fork():
        os.close(writes)
        with os.fdopen(reads) as told:
            print(json.dumps([handler, told.read()]), flush=True)
        os.wait()
    else:
        try:
            importlib.import_module(handler).lambda_handler
            said = str(collections() - before)
        except BaseException:
            said = traceback.format_exc()
        os.write(writes, said.encode())
        os._exit(0)
"""


@pytest.fixture(scope="module")
def imported(aws, deployed_paths, numpy_paths, similarity_paths):
    """What became of importing each handler, in a process of its own: how often garbage was
    collected, or a traceback."""
    computing = set(aws.handlers_with_layer("Numbers"))
    embedding = set(aws.handlers_with_layer("Similarity"))
    found = {}
    for handlers, paths in (
        (sorted(computing & set(HANDLERS)), [*deployed_paths, *numpy_paths]),
        (sorted(embedding & set(HANDLERS)), [*deployed_paths, *similarity_paths]),
        ([one for one in HANDLERS if one not in computing | embedding], deployed_paths),
    ):
        assert handlers
        finished = subprocess.run(
            [
                *(sys.executable, "-I", "-S", "-c", _IMPORT),
                *(str(len(paths)), *map(str, paths), *handlers),
            ],
            capture_output=True,
            text=True,
            check=True,
            env={},  # no variable of a function either: nothing may be read at import time
        )
        found |= dict(json.loads(line) for line in finished.stdout.splitlines())
    return found


@pytest.mark.parametrize("handler", HANDLERS)
def test_a_handler_imports_what_is_deployed_alone_without_looking_for_garbage(imported, handler):
    assert imported[handler] == "0", imported[handler]


_SERVE = """
import sys

sys.path[:0] = sys.argv[1:]
from functions.console import serve_pages

for path in ("/console", "/review", "/console/v/app.js", "/review/v/review/page.js"):
    event = {"rawPath": path, "requestContext": {"http": {"method": "GET"}}}
    print(serve_pages.lambda_handler(event, None)["statusCode"])
print(serve_pages.__file__)
"""


def test_pages_are_served_from_what_is_deployed(deployed_paths):
    finished = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _SERVE, *map(str, deployed_paths)],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    *statuses, file = finished.stdout.split()
    assert statuses == ["200"] * 4
    assert str(REPOSITORY_ROOT) not in file

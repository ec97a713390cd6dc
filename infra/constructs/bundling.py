"""Builds code assets on this machine, without Docker."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsii
import uv
from aws_cdk import (
    Acknowledgment,
    AssetHashType,
    BundlingOptions,
    DockerImage,
    ILocalBundling,
    Validations,
)
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from infra.config import BuildPlatform

SOURCE_SUFFIXES = frozenset({".css", ".html", ".js", ".json", ".py", ".svg", ".typed"})
# Where Lambda unpacks layers and code: compiled tracebacks name these paths, not ours.
LAYER_MOUNT = "/opt"
CODE_MOUNT = "/var/task"


class BundlingFailedError(RuntimeError):
    """A command that builds a code asset failed; the message ends with what it printed."""


@jsii.implements(ILocalBundling)
class DependencyBundling:
    """Installs pinned wheels with uv, for the target platform, into ``python/`` of a layer."""

    def __init__(self, *, requirements: Path, platform: BuildPlatform) -> None:
        self._requirements = requirements
        self._platform = platform

    def try_bundle(self, output_dir: str, *_options: Any, **_named_options: Any) -> bool:
        """Fills the layer; the answer False would make the CDK turn to Docker.

        Raises:
            BundlingFailedError: If a pin has no wheel for the platform or a hash differs.
        """
        installed = Path(output_dir) / "python"
        run_build_command(
            [
                uv.find_uv_bin(),
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--require-hashes",
                "--requirement",
                str(self._requirements),
                "--target",
                str(installed),
                *self._platform.uv_arguments,
                "--only-binary",
                ":all:",
            ]
        )
        # uv's lock file and console scripts have no use in a layer.
        (installed / ".lock").unlink(missing_ok=True)
        shutil.rmtree(installed / "bin", ignore_errors=True)
        compile_bytecode(Path(output_dir), mount=LAYER_MOUNT, platform=self._platform)
        return True


@jsii.implements(ILocalBundling)
class SourceBundling:
    """Copies our own packages as they are, without caches."""

    def __init__(
        self,
        *,
        root: Path,
        packages: tuple[str, ...],
        destination: str,
        mount: str,
        platform: BuildPlatform,
    ) -> None:
        self._root = root
        self._packages = packages
        self._destination = destination
        self._mount = mount
        self._platform = platform

    def try_bundle(self, output_dir: str, *_options: Any, **_named_options: Any) -> bool:
        """Fills the asset; the answer False would make the CDK turn to Docker.

        Raises:
            BundlingFailedError: If a source file does not compile.
        """
        for source in source_files(self._root, self._packages):
            copy = Path(output_dir) / self._destination / source.relative_to(self._root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        compile_bytecode(Path(output_dir), mount=self._mount, platform=self._platform)
        return True


def dependencies_code(*, requirements: Path, platform: BuildPlatform) -> lambda_.Code:
    """Asset of a layer with the packages that a requirements file pins with hashes."""
    return _code(
        folder=requirements.parent,
        bundling=DependencyBundling(requirements=requirements, platform=platform),
        asset_hash=content_hash((requirements,), root=requirements.parent, platform=platform),
    )


def layer_code(*, root: Path, packages: tuple[str, ...], platform: BuildPlatform) -> lambda_.Code:
    """Asset of a layer with some of the packages and files under a folder.

    Args:
        root: Folder on the import path, such as ``layers/sdk/python``.
        packages: Folders and files under it that the layer holds.
        platform: Python that the layer is compiled for.
    """
    return _code(
        folder=root,
        bundling=SourceBundling(
            root=root,
            packages=packages,
            destination="python",
            mount=LAYER_MOUNT,
            platform=platform,
        ),
        asset_hash=content_hash(source_files(root, packages), root=root, platform=platform),
    )


def function_code(
    scope: Construct,
    construct_id: str,
    *,
    root: Path,
    packages: tuple[str, ...],
    platform: BuildPlatform,
) -> lambda_.Code:
    """Code of functions in any stack: the CDK's own code assets belong to one stack each."""
    asset = s3_assets.Asset(
        scope,
        construct_id,
        path=str(root),
        asset_hash=content_hash(source_files(root, packages), root=root, platform=platform),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=_locally(
            SourceBundling(
                root=root,
                packages=packages,
                destination=".",
                mount=CODE_MOUNT,
                platform=platform,
            )
        ),
    )
    Validations.of(asset).acknowledge(
        Acknowledgment(
            id="Annotation::@aws-cdk/aws-lambda:codeFromBucketObjectVersionNotSpecified",
            reason=(
                "The key of an asset is a digest of its content, so that code that has changed "
                "has another key, and every function is updated."
            ),
        )
    )
    return lambda_.Code.from_bucket_v2(asset.bucket, asset.s3_object_key)


def source_files(root: Path, packages: Iterable[str]) -> list[Path]:
    """The files that belong to packages and single files under a folder, sorted by path.

    Raises:
        FileNotFoundError: If one of them does not exist.
    """
    found: list[Path] = []
    for name in packages:
        path = root / name
        if not path.exists():
            message = f"{path} is not there to be bundled"
            raise FileNotFoundError(message)
        candidates = [path] if path.is_file() else path.rglob("*")
        found += [
            each for each in candidates if _is_source(each.relative_to(root)) and each.is_file()
        ]
    return sorted(found)


def _is_source(path: Path) -> bool:
    if "node_modules" in path.parts:
        return False
    # Others' files go out with the terms under which they may.
    return path.suffix in SOURCE_SUFFIXES or path.name == "LICENSE"


def content_hash(files: Iterable[Path], *, root: Path, platform: BuildPlatform) -> str:
    """Digest of paths, contents and platform: the same sources give the same asset everywhere."""
    digest = hashlib.sha256()
    # Bytecode goes in only where this interpreter can compile it, so it is part of the identity.
    for part in (platform.identity, f"bytecode={platform.runs_here}"):
        digest.update(part.encode() + b"\0")
    for file in files:
        body = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()}\0{len(body)}\0".encode())
        digest.update(body)
    return digest.hexdigest()


def compile_bytecode(folder: Path, *, mount: str, platform: BuildPlatform) -> None:
    """Compiles every source under a folder, so that a cold start need not.

    CDK archives reset modification times, which makes ordinary bytecode stale; bytecode with an
    unchecked hash is used as it is. Where the running interpreter's version is not the platform's
    nothing is compiled, because its bytecode would be ignored there.

    Raises:
        BundlingFailedError: If a source file does not compile.
    """
    if not platform.runs_here:
        return
    run_build_command(
        [
            sys.executable,
            "-m",
            "compileall",
            "-q",
            "--invalidation-mode",
            "unchecked-hash",
            "-s",
            str(folder),
            "-p",
            mount,
            str(folder),
        ]
    )


def run_build_command(command: list[str]) -> None:
    """Runs a command of the build.

    Raises:
        BundlingFailedError: If it does not end with 0.
    """
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        output = (finished.stderr.strip() or finished.stdout.strip())[-2000:]
        message = f"{' '.join(command)} ended with {finished.returncode}: {output}"
        raise BundlingFailedError(message)


def _code(*, folder: Path, bundling: ILocalBundling, asset_hash: str) -> lambda_.Code:
    return lambda_.Code.from_asset(
        str(folder),
        asset_hash=asset_hash,
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=_locally(bundling),
    )


def _locally(bundling: ILocalBundling) -> BundlingOptions:
    # The image is never pulled: local bundling succeeds or raises.
    return BundlingOptions(image=DockerImage.from_registry("scratch"), local=bundling)

"""The program that jobs of SageMaker run, as an archive whose bytes say only what is in it."""

import gzip
import io
import tarfile
import tempfile
from pathlib import Path

from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from infra.config import REPOSITORY_ROOT

FOLDER = REPOSITORY_ROOT / "training_code"
ARCHIVE = "sourcedir.tar.gz"


def archive_of(folder: Path) -> bytes:
    """Returns a gzipped tar file of a folder's Python files; the same files are the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(folder.rglob("*.py")):
            content = file.read_bytes()
            entry = tarfile.TarInfo(file.relative_to(folder).as_posix())
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


class TrainingCode(assets.Asset):
    """The archive in the bucket of assets."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / ARCHIVE
            file.write_bytes(archive_of(FOLDER))
            super().__init__(scope, construct_id, path=str(file))

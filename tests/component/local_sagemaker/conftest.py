from collections.abc import Iterator

import pytest

from tests.support.local_sagemaker import Lab, laboratory


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One server for the tests of a module, each of which has names of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ):
            patch.setenv(name, value)
        with laboratory(tmp_path_factory.mktemp("sagemaker")) as made:
            yield made


@pytest.fixture(autouse=True)
def no_faults_left(lab: Lab) -> Iterator[None]:
    """Each planted fault happens in its own test."""
    yield
    left = lab.faults.planted()
    lab.faults.clear()
    assert not left

"""An artifact that a stranger wrote: it is refused, and nothing in it is run."""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from autotune_platform.apprentice.students.artifacts import (
    digest_of,
    from_bytes,
    to_bytes,
)
from autotune_platform.apprentice.students.errors import BadArtifactError
from autotune_platform.apprentice.students.files import MOST_BYTES
from autotune_platform.apprentice.students.linear import train
from tests.support.students import made_up


@pytest.fixture(scope="module")
def content():
    return to_bytes(train(made_up(200)))


def arrays_of(content):
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def written(arrays):
    made = io.BytesIO()
    np.savez(made, **arrays)
    return made.getvalue()


def about(content, **changes):
    arrays = arrays_of(content)
    known = json.loads(arrays["about"].tobytes())
    changed = json.dumps({**known, **changes}).encode()
    return written({**arrays, "about": np.frombuffer(changed, np.uint8)})


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {one.filename: archive.read(one) for one in archive.infolist()}


def zipped(members, how=zipfile.ZIP_STORED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return made.getvalue()


def test_a_rewritten_one_is_read(content):
    from_bytes(written(arrays_of(content)))
    from_bytes(zipped(members_of(content)))
    from_bytes(about(content, doubt=0.1))


def test_another_digest_is_refused(content):
    from_bytes(content, digest=digest_of(content))
    flipped = bytearray(content)
    flipped[len(flipped) // 2] ^= 1
    with pytest.raises(BadArtifactError, match="digest"):
        from_bytes(bytes(flipped), digest=hashlib.sha256(content).hexdigest())


class Planted:
    """A pickle that would say so if it ever were loaded."""

    loaded = False

    def __reduce__(self):
        return (setattr, (Planted, "loaded", True))


def test_a_pickle_is_never_loaded(content):
    arrays = arrays_of(content)
    planted = np.array([Planted()] * len(arrays["idf"]), dtype=object)
    made = io.BytesIO()
    np.savez(made, allow_pickle=True, **{**arrays, "idf": planted})
    for hostile in (made.getvalue(), pickle.dumps(Planted())):
        with pytest.raises(BadArtifactError):
            from_bytes(hostile)
    members = {**members_of(content), "idf.npy": pickle.dumps(Planted())}
    with pytest.raises(BadArtifactError):
        from_bytes(zipped(members))
    assert not Planted.loaded
    pickle.loads(pickle.dumps(Planted()))
    assert Planted.loaded, "it would have said so"


def test_a_cut_off_one_is_refused(content):
    for length in (*range(0, 400, 7), *range(0, len(content), len(content) // 50)):
        with pytest.raises(BadArtifactError):
            from_bytes(content[:length])


def test_flipped_bits_are_refused_or_harmless(content):
    """Without a digest, bits of numbers may differ; nothing else may come of it."""
    for place in range(0, len(content), len(content) // 300):
        flipped = bytearray(content)
        flipped[place] ^= 0x41
        try:
            model = from_bytes(bytes(flipped))
        except BadArtifactError:
            continue
        text, confidence = model.answer({"text": "show balance"})
        assert text in model.classes
        assert 0 <= confidence <= 1


@pytest.mark.parametrize("shape", ["(99999999999,)", "(-1,)", "(1, 2)", "(1e9,)", "('a',)", "()"])
def test_a_shape_that_claims_more_is_refused(content, shape):
    members = members_of(content)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    start = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    body = members["idf.npy"][128:]
    members["idf.npy"] = start + header.ljust(117).encode() + b"\n" + body
    with pytest.raises(BadArtifactError):
        from_bytes(zipped(members))


@pytest.mark.parametrize("name", ["hashes", "idf", "weights", "classes", "about"])
def test_an_array_of_another_type_is_refused(content, name):
    arrays = arrays_of(content)
    for changed in (arrays[name].astype(np.float64), arrays[name][..., None], arrays[name][1:]):
        with pytest.raises(BadArtifactError):
            from_bytes(written({**arrays, name: changed}))
    del arrays[name]
    with pytest.raises(BadArtifactError):
        from_bytes(written(arrays))


def test_a_bomb_is_not_unpacked(content):
    members = {**members_of(content), "classes.npy": b"[" * 200_000_000}
    hostile = zipped(members, zipfile.ZIP_DEFLATED)
    assert len(hostile) < MOST_BYTES
    with pytest.raises(BadArtifactError, match="claim"):
        from_bytes(hostile)


def test_more_bytes_than_any_student_has_are_refused():
    with pytest.raises(BadArtifactError, match="at most"):
        from_bytes(bytes(MOST_BYTES + 1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("idf", np.nan),
        ("idf", -1),
        ("weights", np.inf),
        ("hashes", 0),
    ],
)
def test_numbers_that_are_none_are_refused(content, name, value):
    arrays = {key: one.copy() for key, one in arrays_of(content).items()}
    arrays[name][5] = value
    with pytest.raises(BadArtifactError):
        from_bytes(written(arrays))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"sharpness": 0},
        {"sharpness": True},
        {"sharpness": 1e300},
        {"doubt": 2},
        {"doubt": "0.1"},
        {"mostCharacters": 10**9},
        {"mostCharacters": 0},
        {"candidates": {}},
        {"candidates": [2]},
        {"candidates": [0.5] * 5_000},
    ],
)
def test_settings_out_of_range_are_refused(content, changes):
    with pytest.raises(BadArtifactError):
        from_bytes(about(content, **changes))


@pytest.mark.parametrize("classes", ["{}", "[1, 2]", '["a"]', "[[]]", "[" * 2_000, "x"])
def test_classes_of_another_form_are_refused(content, classes):
    arrays = arrays_of(content)
    with pytest.raises(BadArtifactError):
        from_bytes(written({**arrays, "classes": np.frombuffer(classes.encode(), np.uint8)}))

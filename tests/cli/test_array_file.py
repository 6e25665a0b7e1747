"""`--input A=FILE.npy`: what a file claims is judged before memory is taken, and nothing is taken for floats
that is none."""

import os
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from mdh.cli.command_line import CommandLine
from mdh.cli.inputs import Array, parse_inputs
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.source import Source
from tests.hostile.npy import VALUES, header_file

C_TEXT = """
void f(const T A[4][6], T y[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
            y[i] += A[i][j];
}
"""


def _loaded(path: Path, dtype: str = "float") -> Array:
    program = read_program(Source("f.c", C_TEXT), defines={"T": dtype})
    word = f"A={path}"
    return parse_inputs(CommandLine.of(("run", "f.c", "--input", word)), (word,), program).arrays["A"]


def _refused(path: Path, dtype: str = "float") -> str:
    with pytest.raises(Failed) as failed:
        _loaded(path, dtype)
    (one,) = failed.value.diagnostics
    assert one.labels
    return f"{one.code} {one.headline}"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (header_file(shape=b"(1000000000000000,)"), "F115"),
        (header_file(shape=b"(4, 6)", data=b""), "F115"),
        (header_file(shape=b"(-4, -6)"), "F115"),
        (header_file(shape=b"(" * 900 + b")" * 900), "F115"),
        (header_file(shape=b"-" * 3000 + b"4"), "F115"),
        (header_file(shape=b"(0x" + b"f" * 99 + b",)"), "F115"),
        (header_file(shape=b"4, 6" + b" " * 10_000_000, version=2), "F115"),
        (header_file(descr=b"'|O'"), "F115"),
        (header_file(descr=b"[('a', '<i2'), ('b', '<i2')]"), "F117"),
        (header_file(descr=b"'|V4'"), "F117"),
        (header_file(descr=b"'>f4'"), "F117"),
        (header_file(version=4), "F115"),
        (b"PK\x03\x04", "F115 .* is an .npz archive"),
        (b"PK", "F115 .* is an .npz archive"),
        (b"", "F115 .* is not a .npy file"),
    ],
)
def test_files_that_give_no_array(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    assert re.match(said, _refused(path))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_and_order_is_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(header_file(version=version))
    assert np.array_equal(_loaded(path), VALUES)
    np.save(path, np.asfortranarray(VALUES))
    assert np.array_equal(_loaded(path), VALUES)


def test_two_plain_bytes_are_bfloat16_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    values = VALUES.astype(ml_dtypes.bfloat16)
    np.save(path, values)
    assert np.array_equal(_loaded(path, "__bf16"), values)
    assert _refused(path, "_Float16").startswith("F117")
    path.write_bytes(header_file(descr=b"[('a', 'i1'), ('b', 'i1')]", data=bytes(48)))
    assert _refused(path, "__bf16").startswith("F117")


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    for name in ("pipe", "loop", "none", "."):
        assert _refused(tmp_path / name).startswith("F115")
    assert "not a regular file" in _refused(Path("/dev/zero"))


def test_an_array_beyond_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npy"
    np.save(path, VALUES)
    load = np.load

    def short(file: str, mmap_mode: str | None, **rest: bool) -> object:
        if mmap_mode is None:
            raise MemoryError
        return load(file, mmap_mode=mmap_mode, **rest)  # type: ignore[call-overload]

    monkeypatch.setattr(np, "load", short)
    assert "memory" in _refused(path)

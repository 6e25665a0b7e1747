"""Array files as somebody might write them who wishes mdh ill, given as `--input A=FILE`."""

import io
import tempfile
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from mdh.cli.command_line import CommandLine
from mdh.cli.inputs import parse_inputs
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.source import Source
from tests.hostile.pieces import damaged
from tests.hostile.verdict import Verdict, judged

_C = """
void f(const float A[4][6], float y[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
            y[i] += A[i][j];
}
"""
VALUES = np.arange(24, dtype=np.float32).reshape(4, 6)
_DESCR = (
    b"'<f4'", b"'>f4'", b"'|O'", b"'<f8'", b"'|V4'", b"'<U1'", b"'<M8[ns]'", b"'<c8'", b"[('a', '<f4')]",
    b"[('a', '<i2'), ('b', '<i2')]", b"('<f4', (2,))", b"[]", b"'|S0'", b"''", b"None", b"3", b"'f4,f4'",
    b"{}", b"[('a', '|O')]", b"[('', '<f4')]", b"['<f4']", b"'<f4' * 9", b"'\\x00'",
)  # fmt: skip
_SHAPE = (
    b"(4, 6)", b"(6, 4)", b"(24,)", b"()", b"(0,)", b"(-4, -6)", b"(-1, 24)", b"(4, -6)",
    b"(1000000000000000,)", b"(1 << 60,)", b"(9223372036854775807, 9223372036854775807)", b"(4.0, 6.0)",
    b"(True, 24)", b"(4, 6, 1)", b"[4, 6]", b"4", b"(2147483648, 4)", b"(0x" + b"f" * 99 + b",)",
    b"(4L, 6L)", b"('4', 6)", b"((4, 6),)", b"(0, 9223372036854775807)", b"(1,) * 64",
    b"(" + b"1, " * 70 + b"24)", b"(4, 6" + b")" * 90, b"(" * 900 + b")" * 900, b"-" * 3000 + b"4",
)  # fmt: skip
_ORDER = (b"True", b"False", b"1", b"None", b"'x'")
_NOISE = (
    b"\x93NUMPY",
    b"PK\x03\x04",
    b"\x80\x04.",
    b"(" * 200,
    b"[" * 200,
    b"{" * 200,
    b"'descr': ",
    b"\\x",
    b"#",
    b"1e999",
    b"\x00" * 64,
)


@cache
def _program() -> Program:
    return read_program(Source("f.c", _C))


@cache
def array_files() -> tuple[bytes, ...]:
    """Files that fit the parameter, and some of other kinds."""
    out = [header_file(), header_file(order=b"True"), header_file(version=2), header_file(version=3)]
    for array in (VALUES, VALUES.astype(">f4"), VALUES.astype("f8"), np.asfortranarray(VALUES)):
        file = io.BytesIO()
        np.save(file, array)
        out.append(file.getvalue())
    objects, archive = io.BytesIO(), io.BytesIO()
    np.save(objects, np.array([None] * 24, dtype=object), allow_pickle=True)
    np.savez_compressed(archive, A=VALUES)
    return (*out, objects.getvalue(), archive.getvalue())


def header_file(
    descr: bytes = b"'<f4'",
    order: bytes = b"False",
    shape: bytes = b"(4, 6)",
    version: int = 1,
    data: bytes = VALUES.tobytes(),
) -> bytes:
    """A file of that header, whatever it says."""
    head = b"{'descr': " + descr + b", 'fortran_order': " + order + b", 'shape': " + shape + b", }"
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return (
        b"\x93NUMPY"
        + bytes((version, 0))
        + len(head).to_bytes(2 if version == 1 else 4, "little")
        + head
        + data
    )


def mutate_npy(data: bytes, chance: Random) -> bytes:
    """Another header before the values, or damage."""
    match chance.randrange(5):
        case 0 | 1:
            values = data[-96:] * chance.choice((0, 1, 1, 2))
            shape = chance.choice((b"(4, 6)", *_SHAPE))
            return header_file(
                chance.choice(_DESCR), chance.choice(_ORDER), shape, chance.choice((1, 2, 3, 4)), values
            )
        case 2:
            head = bytearray(data[:12])
            head[chance.randrange(len(head) or 1)] = chance.randrange(256)
            return bytes(head) + data[12:]
        case _:
            return damaged(data, chance, (*_NOISE, *_DESCR, *_SHAPE))


def judge_npy(data: bytes) -> Verdict:
    """What loads are 24 numbers that stand in the file, in the order of the C array."""

    def work() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.npy"
            path.write_bytes(data)
            word = f"A={path}"
            line = CommandLine.of(("run", "f.c", "--input", word))
            loaded = parse_inputs(line, (word,), _program()).arrays["A"]
            return _wrong(loaded, data)

    return judged(work, placed=True)


def _wrong(loaded: np.ndarray, data: bytes) -> str | None:
    if loaded.dtype != np.float32 or loaded.shape not in ((4, 6), (24,)):
        return f"{loaded.dtype} {loaded.shape} was loaded"
    stored = (loaded.tobytes(), loaded.T.tobytes())
    return (
        None
        if any(data.endswith(s) for s in stored) or any(s in data for s in stored)
        else "other numbers were loaded"
    )

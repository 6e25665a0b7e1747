"""The system's C compiler as the judge of meanings: a C file built as a library and called."""

import ctypes
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mdh.include import FOLDER
from mdh.ir.dtype import DType
from mdh.ir.program import Program
from mdh.source import Source
from tests.support.arrays import Arrays

FLAGS = ("-std=gnu11", "-O1", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared", f"-I{FOLDER}")
SCALARS = {
    "f32": ctypes.c_float, "f64": ctypes.c_double, "i8": ctypes.c_int8, "i16": ctypes.c_int16,
    "i32": ctypes.c_int32, "i64": ctypes.c_int64, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
}  # fmt: skip


@cache
def compiler() -> str | None:
    """The C compiler's path, None where there is none."""
    return shutil.which("cc") or shutil.which("gcc")


@cache
def knows(ctype: str) -> bool:
    """Whether the compiler has the type (`__bf16` came with GCC 13)."""
    text = f"float f({ctype} *x) {{ return (float)x[0]; }}\n"
    done = subprocess.run(
        [str(compiler()), "-x", "c", "-c", "-", "-o", "/dev/null"],
        input=text, text=True, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0


_LOADED: dict[tuple[str, ...], ctypes.CDLL] = {}
"""By the text, the name and the options: tests of several folders run the same programs."""


def _loaded(source: Source, name: str, options: tuple[str, ...], folder: Path) -> ctypes.CDLL:
    """The compiled text as a library. It is built in `folder`, once a process."""
    key = (source.text, name, *options)
    if key not in _LOADED:
        path, library = folder / f"{name}.c", folder / f"{name}.so"
        path.write_text(source.text, encoding="utf-8")
        command = [str(compiler()), *FLAGS, *options, str(path), "-o", str(library), "-lm"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        _LOADED[key] = ctypes.CDLL(str(library))
    return _LOADED[key]


def run_native(
    source: Source, program: Program, folder: Path, sizes: Mapping[str, int], arrays: Arrays,
    scalars: Mapping[str, float] | None = None, *, flags: tuple[str, ...] = (),
) -> Arrays:  # fmt: skip
    """What the compiled C function leaves in the arrays that `program` says it writes."""
    options = (*flags, *(f"-D{k}={v}" for k, v in sizes.items()))
    mine = {k: v.copy() for k, v in arrays.items()}
    arguments: list[Any] = []
    for name in program.params:
        if name in mine:
            arguments.append(ctypes.c_void_p(mine[name].ctypes.data))
        else:
            scalar = program.scalar_of[name]
            value = (scalars or {}).get(name, scalar.size)
            arguments.append(_scalar(scalar.dtype, value))
    function = _loaded(source, program.name, options, folder)[program.name]
    function.restype = None
    function(*arguments)
    written = frozenset[str]().union(*(s.written for s in program.stages))
    return {k: v for k, v in mine.items() if k in written}


def _scalar(dtype: DType, value: Any) -> Any:
    return SCALARS[dtype.name](int(value) if not dtype.is_float else float(value))

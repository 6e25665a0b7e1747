"""`--input NAME=FILE.npy` and `--input NAME=NUMBER`: values of the C function's parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from mdh.cli.array_file import NoArrayError, read_array
from mdh.cli.command_line import CommandLine
from mdh.cli.console import log
from mdh.ir.dtype import BF16, EIGHTHS
from mdh.ir.program import Buffer, Program
from mdh.reference.numbers import holds, numpy_dtype, range_text
from mdh.verify.index_data import index_limits
from mdh.wording import meant

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Inputs:
    """The values that the user gave. Other parameters get random values."""

    arrays: dict[str, Array] = field(default_factory=dict)
    scalars: dict[str, int | float] = field(default_factory=dict)


def parse_inputs(line: CommandLine, words: Sequence[str], program: Program) -> Inputs:
    """The inputs. Raises Failed F115 for files that cannot be read, F117 for values that do not fit the
    parameter."""
    out = Inputs()
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            headline = f"--input `{word}` is not NAME=FILE.npy or NAME=NUMBER"
            raise line.fail("F115", headline, word, help="write --input A=a.npy")
        if name not in program.params:
            hint = meant(name, program.params, always=f"parameters: {', '.join(program.params)}")
            raise line.fail("F115", f"`{program.name}` has no parameter `{name}`", word, help=hint)
        if name in out.arrays or name in out.scalars:
            raise line.fail("F115", f"--input gives `{name}` twice", word, help="keep one of the two")
        if name in program.buffer_of:
            out.arrays[name] = _array(line, word, value, program.buffer_of[name])
            _indexes_inside(line, word, out.arrays[name], index_limits(program).get(name))
        else:
            scalar = program.scalar_of[name]
            out.scalars[name] = _number(line, word, value, whole=not scalar.dtype.is_float)
            if scalar.size is not None and out.scalars[name] != scalar.size:
                headline = f"`{name}` is bound to {scalar.size} and given as {value}"
                raise line.fail("F117", headline, word, help=f"bind it by -D {name}={value}")
            if not holds(scalar.dtype, out.scalars[name]):
                hint = f"its type {scalar.dtype} holds {range_text(scalar.dtype)}"
                raise line.fail("F117", f"`{name}` cannot hold {value}", word, help=hint)
    return out


def _array(line: CommandLine, word: str, path: str, buffer: Buffer) -> Array:
    """The elements that the program reaches. Nothing is converted, cut or padded. Raises Failed F115,
    F117."""
    try:
        # the file's header is checked before memory is taken for it
        array = read_array(path, lambda dtype, shape: _demand_fit(line, word, dtype, shape, buffer))
    except NoArrayError as error:
        hint = "give one .npy file a parameter, which numpy.save wrote, of plain numbers"
        raise line.fail("F115", f"`{path}` {error}", word, help=hint) from None
    if _unnamed(array.dtype, buffer):
        array = array.view(numpy_dtype(buffer.dtype))
    size = prod(buffer.shape)
    if buffer.short(array.shape):
        log(f"`{buffer.name}` ends within its last row: 0 is taken for the rest")
        return np.concatenate([array, np.zeros(size - array.size, array.dtype)])
    if buffer.takes(array.shape):
        if array.size > size:
            log(f"`{buffer.name}`: the program reaches {size:,} of the {array.size:,} elements")
        return array.reshape(-1)[:size] if array.size > size else array
    return array


def _demand_fit(
    line: CommandLine, word: str, dtype: np.dtype[Any], shape: tuple[int, ...], buffer: Buffer
) -> None:
    """Raises Failed F117 if type or shape differ."""
    wanted = numpy_dtype(buffer.dtype)
    if dtype != wanted and not _unnamed(dtype, buffer):
        headline = f"`{buffer.name}` holds {buffer.dtype} ({wanted}), the file {dtype}"
        raise line.fail("F117", headline, word, help=f"convert it: array.astype('{wanted}')")
    if shape != buffer.shape and not buffer.short(shape) and not buffer.takes(shape):
        headline = f"`{buffer.name}` has shape {_shape(buffer.shape)}, the file {_shape(shape)}"
        raise line.fail("F117", headline, word, help="bind other sizes by -D, or give another array")


def _unnamed(dtype: np.dtype[Any], buffer: Buffer) -> bool:
    """Whether this may be a type that .npy files have no name for: numpy saves it as plain bytes."""
    return buffer.dtype in (BF16, *EIGHTHS) and dtype == np.dtype(f"V{buffer.dtype.bytes}")


def _indexes_inside(line: CommandLine, word: str, array: Array, below: int | None) -> None:
    """Raises Failed F117 for an index array that points outside of the array that it indexes."""
    if below is None or array.size == 0 or (array.min() >= 0 and array.max() < below):
        return
    worst = int(array.min()) if array.min() < 0 else int(array.max())
    headline = f"the file holds the index {worst}; indices are from 0 to {below - 1}"
    raise line.fail("F117", headline, word, help="give indices inside of the array")


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "a scalar"


def _number(line: CommandLine, word: str, text: str, *, whole: bool) -> int | float:
    try:
        return int(text, 0) if whole else float(text)
    except ValueError:
        kind = "a whole number" if whole else "a number"
        raise line.fail("F115", f"`{text}` is not {kind}", word) from None

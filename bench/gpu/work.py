"""A case's program, and the bytes that it has to move."""

from math import prod

from bench.cases import arrays_of, written
from bench.gpu.cases import Case
from mdh.ir.program import Program


def moved_bytes(case: Case, program: Program) -> int:
    """Each array once, those that the case adds to twice."""
    if case.touched is not None:
        return case.touched
    outputs = written(program) if case.adds else frozenset[str]()
    return sum(_bytes(program, n) * (2 if n in outputs else 1) for n in arrays_of(program))


def rotated_bytes(case: Case, program: Program) -> int:
    """Of the memory that one call touches and no other one does."""
    if case.touched is not None:
        return case.touched
    return sum(_bytes(program, n) for n in arrays_of(program))


def is_double(program: Program) -> bool:
    return any(b.dtype.name == "f64" for b in program.buffers)


def _bytes(program: Program, name: str) -> int:
    buffer = program.buffer_of[name]
    return prod(buffer.shape) * buffer.dtype.bytes

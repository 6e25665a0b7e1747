"""The entries of a schedule step for a stage: dimensions, inputs and outputs, ready to paste."""

from collections.abc import Sequence
from dataclasses import dataclass

from mdh.ir.program import Dim, Program, Result, Stage


@dataclass(frozen=True, slots=True)
class DimRow:
    """One dimension: its loop in the C was `for (name = start; …; name += step)`."""

    name: str
    extent: int
    kind: str
    start: int
    step: int


@dataclass(frozen=True, slots=True)
class BufferRow:
    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Entries:
    """A stage as a schedule sees it. skeleton: a legal first step that changes nothing. nan: what its minima
    and maxima of floats do with NaNs."""

    stage: str
    dims: tuple[DimRow, ...]
    inputs: tuple[BufferRow, ...]
    outputs: tuple[BufferRow, ...]
    skeleton: str
    nan: tuple[str, ...] = ()


def entries_of(
    program: Program, stage: Stage, *, only: bool = True, fused: Sequence[Sequence[str]] = ()
) -> Entries:
    """only: the program has no other stage. fused: which of its dimensions are one in `stage`."""
    inputs, outputs = program.inputs(stage), program.outputs(stage)
    return Entries(
        stage.name,
        tuple(DimRow(d.name, d.extent, _kind(stage, d), d.start, d.step) for d in stage.dims),
        tuple(_buffer(program, name) for name in inputs),
        tuple(_buffer(program, name) for name in outputs),
        _skeleton(stage, inputs, outputs, [f"fuse {', '.join(group)}" for group in fused], only=only),
        nan_sentences(stage),
    )


def _kind(stage: Stage, dim: Dim) -> str:
    """`cc`, or the class with the operators that combine along it: `pw(+)`, `ps(max)`; then, where open sizes
    give the extent, how: `cc open(M)`."""
    kind, ops = dim.kind.value, sorted({r.op.name for r in stage.results if r.op is not None})
    out = kind if kind == "cc" or not ops else f"{kind}({', '.join(ops)})"
    return out if dim.open is None else f"{out} open({dim.open})"


def _buffer(program: Program, name: str) -> BufferRow:
    buffer = program.buffer_of[name]
    size = buffer.dtype.bytes
    for n in buffer.shape:
        size *= n
    return BufferRow(name, buffer.dtype.name, buffer.shape, size)


def _skeleton(
    stage: Stage, inputs: tuple[str, ...], outputs: tuple[str, ...], fuses: list[str], *, only: bool
) -> str:
    """A first step; in a section of its own if the program has several stages."""
    tiles = ", ".join(str(d.extent) if d.open is None else "^" for d in stage.dims)
    carets = ",".join("^" for _ in stage.dims)
    ins, outs = ",".join("^" for _ in inputs), ",".join("^" for _ in outputs)
    memory = f"( {ins} ; {outs} )" if inputs else f"( ; {outs} )"
    dims, sources = ", ".join(d.name for d in stage.dims), ", ".join(inputs) or "no input"
    names = f"// {dims}: {sources} -> {', '.join(outputs)}"
    lines = [*fuses, f"1: (de-)comp( {tiles} ) {memory} ( {carets} )"]
    if only:
        return "\n".join([names, *lines])
    return "\n".join([f"stage {stage.name} {{ {names}", *(f"  {line}" for line in lines), "}"])


def nan_sentences(stage: Stage) -> tuple[str, ...]:
    """What minima and maxima of floats do with NaNs (docs/floats.md has the table), one for each way in which
    the stage compares floats."""
    said = (_sentence(r) for r in stage.results)
    return tuple(dict.fromkeys(s for s in said if s))


def _sentence(result: Result) -> str:
    op = result.op
    if op is None or op.name.removeprefix("arg") not in ("min", "max") or not result.types[0].is_float:
        return ""
    if op.nan:
        return f"f{op.name}: a NaN only where all values are NaN, as in C"
    if op.ordered:
        return f"{op.name}: compared in C's order, which gives C's result"
    if op.takes:
        return f"{op.name}: C's result, or that of the numbers alone"
    return f"{op.name}: passed over, save one that it starts from, as in C"

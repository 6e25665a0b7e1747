"""The meaning of a Program as plain data. It is equal for programs that differ only in their text."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from mdh.ir.dtype import DType
from mdh.ir.expr import Var
from mdh.ir.program import Dim, LocalValue, Operator, Program, Stage
from mdh.ir.turns import Turns

LATER = ("open", "values")
"""Fields of open sizes and of constants."""


def program_meaning(program: Program) -> list[Any]:
    """Nested lists that JSON can hold. They have every extent, type, operator, index and constant. They leave
    out places in the C, its macros, comments, and the names of loop variables and scalar locals."""
    return [
        program.name,
        program.strict_fp,
        list(program.params),
        [_data(b, {}) for b in program.buffers],
        [_data(s, {}) for s in program.scalars],
        [_stage(s) for s in program.stages],
        *([list(program.allowed)] if program.allowed else []),
        *([["loops", *map(_turns, program.loops)]] if program.loops else []),
    ]


def _turns(x: Turns) -> list[Any]:
    where = [[[list(t) for t in f.terms], f.const] for f in x.where]
    return [x.var, x.trips, x.first, x.last, *([where] if where else [])]


def _stage(stage: Stage) -> list[Any]:
    """A stage. Loop variables are numbered from the outermost, locals in their order."""
    names = {d.name: f"loop {n}" for n, d in enumerate(stage.dims)}
    names |= {let.name: f"local {n}" for n, let in enumerate(stage.lets)}
    return [
        stage.name,
        [_data(d, names) for d in stage.dims],
        [_data(let, names) for let in stage.lets],
        [_data(r, names) for r in stage.results],
    ]


def _data(value: object, names: dict[str, str]) -> Any:
    match value:
        case DType():
            return value.name
        case Enum():
            return value.value
        case float():
            # exact, and defined for infinities and negative zero
            return value.hex()
        case tuple():
            return [_data(v, names) for v in value]
        case Var(name, dtype):
            return ["Var", names.get(name, name), dtype.name]
        case Dim() | LocalValue():
            return [type(value).__name__, names[value.name], *_fields(value, names, but="name")]
        case Operator():
            rest = [value.ordered, _data(value.rounded, names)] if value.ordered else []
            if value.takes and not value.ordered:
                # combined as `x > m ? x : m` is
                return ["Operator", value.name, "first", value.nan]
            return ["Operator", value.name, value.tie, value.nan, *rest, *(["takes"] if value.takes else [])]
        case _ if is_dataclass(value):
            return [type(value).__name__, *_fields(value, names)]
        case _:
            return value


def _fields(value: Any, names: dict[str, str], but: str = "") -> list[Any]:
    """The fields that take part in equality, in their order. Those of LATER are left out where they say
    nothing, so that keys of programs without such things are those of before there were any."""
    given = ((f.name, getattr(value, f.name)) for f in fields(value) if f.compare and f.name != but)
    return [_data(v, names) for name, v in given if v or name not in LATER]

"""Programs that a front end has written as loop nests in C."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mdh.diagnostics import Diagnostic
from mdh.frontend.assemble import assembled
from mdh.frontend.bound import BoundText
from mdh.frontend.constant_parameters import with_constants
from mdh.frontend.open_program import read_at_ends
from mdh.frontend.program import program_of
from mdh.ir import syntax as c
from mdh.ir.names import C_WORDS, fresh
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.source import Span

INT = c.CType(("int",))


@dataclass(frozen=True, slots=True)
class FunctionInC:
    """A function in C. span: the place of its name, or of what stands for it. sizes: values of its parameters
    that are sizes. written: the array parameters that it writes. remarks: warnings."""

    function: c.Function
    span: Span
    sizes: Mapping[str, int]
    written: frozenset[str]
    remarks: tuple[Diagnostic, ...] = ()


def read_nest(
    text: BoundText,
    written: Callable[[BoundText], FunctionInC],
    *,
    strict_fp: bool,
    allow: Iterable[str],
    opens: Sequence[OpenSize],
) -> Program:
    """The Program of a text. written: the text as a nest. opens: sizes that stay open; the text is bound to
    their largest values. Raises Failed C1xx."""
    allowed = tuple(allow)

    def read(at: BoundText) -> Program:
        nest = written(at)
        found = assembled(
            with_constants(nest.function, nest.sizes, at), at.source, nest.span, nest.sizes, nest.written
        )
        found = replace(found, remarks=nest.remarks)
        return program_of(found, strict_fp=strict_fp, allow=allowed)

    if not opens:
        return read(text)
    return read_at_ends(
        opens,
        lambda sizes: read(replace(text, sizes={**text.sizes, **sizes})),
        lambda: has_conditions(written(text).function),
    )


def loop(name: str, end: c.Expression, body: c.Statement, span: Span, first: int = 0) -> c.Statement:
    """`for (int name = first; name < end; name++) body`."""
    return c.ForStatement(
        c.Declaration(name, INT, initial=number(first), span=span),
        c.Infix("<", c.Name(name), end),
        c.Assignment(c.Name(name), "+=", c.Number("1")),
        body,
        span,
    )


def number(n: int) -> c.Expression:
    """C has no negative literals."""
    return c.Number(str(n)) if n >= 0 else c.Prefix("-", c.Number(str(-n)))


_MACRO = re.compile(r"__\w*|(?:M|FP|HUGE|MATH|INT|UINT|SIZE|FLT|DBL)_[A-Z0-9_]+|linux|unix|defined")
"""Names that the preprocessor or the headers of C replace."""


def c_name(name: str, taken: set[str]) -> str:
    """A name that C can have, which is taken from now on."""
    if _MACRO.fullmatch(name):
        name = f"named{name}" if name[0] == "_" else f"named_{name}"
    return fresh(name if name[0].isalpha() or name[0] == "_" else f"_{name}", taken)


def words(functions: Iterable[str]) -> set[str]:
    """Names that are taken in C. functions: of math.h by their double names."""
    known = tuple(functions)
    return {*C_WORDS, *known, *(f"{name}f" for name in known)}


def has_conditions(f: c.Function) -> bool:
    """Whether some value is chosen by a condition."""
    for s in c.walked(f.body):
        left = [s.value] if isinstance(s, c.Assignment) else []
        while left:
            e = left.pop()
            if isinstance(e, c.Conditional) or (isinstance(e, c.Infix) and e.op in ("&&", "||")):
                return True
            left += c.operands(e)
    return False

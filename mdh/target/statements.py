"""Statements as indented C lines; both targets share all of it but what Dialect spells."""

from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load
from mdh.ir.intrinsic import COORDINATES
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    AwaitKernels,
    Barrier,
    Comment,
    Commit,
    Fence,
    For,
    ForKind,
    If,
    Let,
    Move,
    Stmt,
    Store,
    Wait,
    While,
)
from mdh.ir.walk import trips
from mdh.target.clike import is_single, text
from mdh.target.dialect import Body, Dialect, PrintScope
from mdh.target.names import fresh
from mdh.target.offset import counter_type
from mdh.target.widest import access_bytes

INDENT = "    "
WIDTH = 110


def block(body: Body, scope: PrintScope, dialect: Dialect) -> list[str]:
    """Lines of a sequence of statements; what one of them declares holds for those after it."""
    out: list[str] = []
    for s in body:
        if isinstance(s, Alloc):
            scope = scope.with_buffers(s.buf)
        out.extend(statement(s, scope, dialect))
        if isinstance(s, Let):
            scope = replace(scope, known=scope.known.after(s))
    return out


def statement(s: Stmt, scope: PrintScope, dialect: Dialect) -> list[str]:
    match s:
        case Comment():
            return _comment(s, WIDTH - len(INDENT) * scope.depth)
        case Alloc(buf, _):
            return declaration(s, scope, dialect) if buf.space is Space.RM else dialect.packed(buf, scope)
        case Let():
            return [_let(s, scope, dialect)]
        case Store():
            return dialect.store(s, scope)
        case Move():
            return dialect.move(s, scope)
        case Atomic():
            return dialect.atomic(s, scope)
        case For():
            return _for(s, scope, dialect)
        case While(cond, body):
            head = f"while ({text(cond, scope, dialect)})"
            return braced(head, block(body, scope.inner(), dialect)) if body else [head + " {}"]
        case If():
            return _if(s, scope, dialect)
        case Barrier():
            return dialect.barrier(s, scope)
        case Fence():
            return [dialect.fence()]
        case Commit():
            return dialect.commit()
        case Wait(pending):
            return dialect.wait(pending)
        case AwaitKernels():
            return dialect.await_kernels()
        case _:
            return dialect.instruction(s, scope)


def _comment(s: Comment, width: int) -> list[str]:
    line = f"// {s.text}"
    return [line] if len(line) <= width or not s.wrapped else [f"// {part}" for part in s.wrapped]


def _let(s: Let, scope: PrintScope, dialect: Dialect) -> str:
    value = text(s.value, scope, dialect)
    if isinstance(s.value, Call) and s.value.fn in COORDINATES:
        value = value.removeprefix("(int)")  # the declaration converts
    return f"const {dialect.value_type(s.dtype)} {scope.name(s.name)} = {value};"


def _for(s: For, scope: PrintScope, dialect: Dialect) -> list[str]:
    var = scope.name(s.var)
    counter = dialect.value_type(counter_type(s.start, s.stop, s.step))
    inside = replace(scope.inner(), known=scope.known.within_loop(s))
    step = f"++{var}" if s.step == Const(1, s.step.dtype) else f"{var} += {text(s.step, scope, dialect)}"
    start, stop = text(s.start, scope, dialect), text(s.stop, scope, dialect, 11)
    head = f"for ({counter} {var} = {start}; {var} < {stop}; {step})"
    body = [*dialect.opening(s, inside), *block(s.body, inside, dialect)]
    return [*unroll(s, dialect), *braced(head, body)]


def unroll(s: For, dialect: Dialect) -> list[str]:
    if s.kind is ForKind.SEQ:
        return [dialect.unroll(1, None)] if s.factor == 1 else []
    return [dialect.unroll(s.factor, trips(s))]


def _if(s: If, scope: PrintScope, dialect: Dialect) -> list[str]:
    then = block(s.then, scope.inner(), dialect)
    if s.cond == Const(1, I32) and not s.orelse:  # a block for its declarations' sake
        return ["{", *indented(then), "}"]
    head = f"if ({text(s.cond, scope, dialect)})"
    if not s.orelse:
        return braced(head, then)
    chained = len(s.orelse) == 1 and isinstance(s.orelse[0], If)
    orelse = block(s.orelse, scope if chained else scope.inner(), dialect)
    if len(then) == len(orelse) == 1:
        return [head, INDENT + then[0], "else", INDENT + orelse[0]]
    opened = [f"{head} {{", *indented(then)]
    if chained:
        return [*opened, f"}} else {orelse[0]}", *orelse[1:]]
    return [*opened, "} else {", *indented(orelse), "}"]


def braced(head: str, lines: list[str]) -> list[str]:
    """A body of one plain line needs no braces."""
    if len(lines) == 1 and not lines[0].startswith(("//", "#", "const ")):
        return [head, INDENT + lines[0]]
    return [f"{head} {{", *indented(lines), "}"]


def indented(lines: list[str], by: str = INDENT) -> list[str]:
    return [by + line if line else line for line in lines]


def assignment(place: str, value: str) -> str:
    return f"{place} = {value};"


def updated(s: Store) -> tuple[str, Expr] | None:
    """(op, right side) when the store has C's form `place op= right`."""
    match s.value:
        case Binary("+" | "-" | "*" | "/" | "&" | "|" | "^" as op, Load(buffer, index, _, lanes), right, _):
            if buffer == s.buffer and index == s.index and lanes == s.lanes:
                return op, right
    return None


def declaration(s: Alloc, scope: PrintScope, dialect: Dialect) -> list[str]:
    """`float acc[64] = {};`, `float sum = 0.0f;`, or a declaration and a loop for other values."""
    buf = s.buf
    name = scope.name(buf.name)
    align = access_bytes(buf, scope.lanes)
    lead = dialect.aligned(align) if buf.lanes == 1 and align > buf.dtype.bytes else ""
    head = f"{lead}{dialect.element_type(buf)} {name}"
    if is_single(buf):
        return [f"{head};" if s.init is None else f"{head} = {dialect.stored(buf, s.init, scope)};"]
    head += f"[{buf.elements}]"
    if s.init is None:
        return [f"{head};"]
    if isinstance(s.init, Const) and s.init.value == 0 and str(s.init.value)[0] != "-":
        zeros = dialect.zeros(buf)
        if zeros:
            return [f"{head} = {zeros};"]
    i = fresh("i", scope.names.values(), dialect.language)
    return [
        f"{head};",
        dialect.unroll(0, buf.elements),
        f"for (int {i} = 0; {i} < {buf.elements}; ++{i})",
        f"    {name}[{i}] = {dialect.stored(buf, s.init, scope)};",
    ]

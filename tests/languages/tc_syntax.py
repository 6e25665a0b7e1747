"""Programs in Tensor Comprehensions as the tests make them, and their texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
LEVEL = {op: n + 1 for n, ops in enumerate(_LEVELS) for op in ops}
"""How tightly an operator binds, as in C."""
COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||"))
_UNARY = len(_LEVELS) + 1


@dataclass(frozen=True)
class Num:
    """A literal."""

    text: str
    value: float
    is_float: bool


@dataclass(frozen=True)
class Name:
    """An index, a scalar or a size."""

    name: str


@dataclass(frozen=True)
class Extent:
    """`A.0`."""

    tensor: str
    position: int


@dataclass(frozen=True)
class At:
    """`A(i, k)`."""

    tensor: str
    subscripts: tuple["Expr", ...]


@dataclass(frozen=True)
class Apply:
    """`fmaxf(x, y)`, or a cast."""

    function: str
    arguments: tuple["Expr", ...]


@dataclass(frozen=True)
class Unary:
    op: str
    operand: "Expr"


@dataclass(frozen=True)
class Binary:
    op: str
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True)
class Choose:
    """`cond ? then : other`."""

    cond: "Expr"
    then: "Expr"
    other: "Expr"


Expr = Num | Name | Extent | At | Apply | Unary | Binary | Choose


@dataclass(frozen=True)
class Define:
    """`target(indices) op value where …`. op: of the reduction, empty for `=`; fresh: with `!`. where: first
    value and end of indices."""

    target: str
    indices: tuple[str, ...]
    op: str
    fresh: bool
    value: Expr
    where: tuple[tuple[str, Expr, Expr], ...] = ()


@dataclass(frozen=True)
class Call:
    """`(targets) = function(arguments)`."""

    targets: tuple[str, ...]
    function: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Param:
    """kind: as it is written. A scalar has no extents."""

    kind: str
    extents: tuple[str | int, ...]
    name: str


@dataclass(frozen=True)
class Func:
    name: str
    params: tuple[Param, ...]
    results: tuple[str, ...]
    body: tuple[Define | Call, ...]


def parts(e: Expr) -> tuple[Expr, ...]:
    match e:
        case At():
            return e.subscripts
        case Apply():
            return e.arguments
        case Unary():
            return (e.operand,)
        case Binary():
            return (e.left, e.right)
        case Choose():
            return (e.cond, e.then, e.other)
        case _:
            return ()


def every(e: Expr) -> Iterator[Expr]:
    """An expression and all that is inside of it."""
    yield e
    for x in parts(e):
        yield from every(x)


def names(e: Expr) -> list[str]:
    return [x.name for x in every(e) if isinstance(x, Name)]


def accesses(e: Expr) -> list[At]:
    return [x for x in every(e) if isinstance(x, At)]


def tokens(e: Expr, level: int = 0) -> list[str]:
    """level: of the operator around it."""
    match e:
        case Num():
            return [e.text]
        case Name():
            return [e.name]
        case Extent():
            return [f"{e.tensor}.{e.position}"]
        case At():
            return [e.tensor, "(", *_listed(e.subscripts), ")"]
        case Apply():
            return [e.function, "(", *_listed(e.arguments), ")"]
        case Unary():
            return _closed([e.op, *tokens(e.operand, _UNARY)], _UNARY, level)
        case Binary():
            own = LEVEL[e.op]
            return _closed([*tokens(e.left, own), e.op, *tokens(e.right, own + 1)], own, level)
        case Choose():
            return _closed([*tokens(e.cond, 1), "?", *tokens(e.then), ":", *tokens(e.other)], 0, level)


def _closed(out: list[str], own: int, level: int) -> list[str]:
    return ["(", *out, ")"] if own < level else out


def _listed(items: tuple[Expr, ...]) -> list[str]:
    return _commas([tokens(x) for x in items])


def _commas(items: list[list[str]]) -> list[str]:
    return [t for n, x in enumerate(items) for t in ([","] if n else []) + x]


def _definition(d: Define) -> list[str]:
    op = ["=" if not d.op else f"{d.op}={'!' if d.fresh else ''}"]
    out = [d.target, "(", *_commas([[i] for i in d.indices]), ")", *op, *tokens(d.value)]
    if d.where:
        ranges = [[i, "in", *tokens(first, 1), ":", *tokens(end, 1)] for i, first, end in d.where]
        out += ["where", *_commas(ranges)]
    return out


def _call(c: Call, rng: Random, before: str) -> list[str]:
    targets = _commas([[t] for t in c.targets])
    # behind a name, a parenthesis would be that of an access
    closed = rng.random() < 0.5 and not (before[-1].isalnum() or before[-1] == "_")
    given = _commas([[a] for a in c.arguments])
    return [*(["(", *targets, ")"] if closed else targets), "=", c.function, "(", *given, ")"]


def _function(f: Func, rng: Random) -> list[str]:
    params = [
        [p.kind, *(["(", *_commas([[str(n)] for n in p.extents]), ")"] if p.extents else []), p.name]
        for p in f.params
    ]
    arrow = "→" if rng.random() < 0.1 else "->"
    out = [
        "def",
        f.name,
        "(",
        *_commas(params),
        ")",
        arrow,
        "(",
        *_commas([[r] for r in f.results]),
        ")",
        "{",
    ]
    for s in f.body:
        out += ["\n", *(_definition(s) if isinstance(s, Define) else _call(s, rng, out[-1]))]
    return [*out, "\n", "}", "\n"]


def text_of(functions: tuple[Func, ...], rng: Random) -> str:
    """The text, with blanks and comments at random."""
    dense = rng.random() < 0.2
    out = ""
    for t in (t for f in functions for t in _function(f, rng)):
        if t == "\n" or not out:
            out += t
            continue
        glued = _is_word(out[-1]) and _is_word(t[0])
        marks = not (_is_word(out[-1]) or _is_word(t[0]) or out[-1] in "(){},\n" or t in "(){},")
        out += " " if glued or marks or not dense else ""
        if rng.random() < 0.02:
            out += rng.choice(["\n  ", "\t", " # C(i) = 1 {\n", "\r\n", "#\n"])
        out += t
    return out


def _is_word(c: str) -> bool:
    return c.isalnum() or c in "_."

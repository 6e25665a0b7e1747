"""A random program as a tree, which prints as C text and from which parts can be taken away.

Sizes are names (`N`), so that a smaller extent is one changed number. Every operand of an `Op` may stand for
the whole, since what keeps a value in range (a divisor that is never 0) is part of the form.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mdh.source import Source


@dataclass(slots=True)
class Op:
    """`form` with a `{}` for each operand. loose: an operand may replace the whole."""

    form: str
    args: list["Expr"]
    loose: bool = True


Expr = str | Op


@dataclass(slots=True)
class Line:
    """One statement. pinned: it gives an array of the function's own its first values."""

    form: str
    args: list[Expr] = field(default_factory=list)
    pinned: bool = False


@dataclass(slots=True)
class If:
    """guard: subscripts below it are in range only where the condition holds."""

    cond: Expr
    then: list["Node"]
    other: list["Node"] = field(default_factory=list)
    guard: bool = False


@dataclass(slots=True)
class For:
    """`var` from `low` to `size - 1 - top`, by `step`; a negative step runs downwards.

    least, most: expressions of outer counters in place of these ends.
    """

    var: str
    size: str
    body: list["Node"]
    low: int = 0
    top: int = 0
    step: int = 1
    style: str = "<"
    ctype: str = "int"
    least: str = ""
    most: str = ""


Node = Line | If | For


@dataclass(slots=True)
class Param:
    """extents as they are written, none for a scalar; flat: a plain pointer."""

    ctype: str
    extents: tuple[str, ...] = ()
    const: bool = False
    flat: bool = False


@dataclass(slots=True)
class Tree:
    """A function. spelling: how its sizes are written: `macro`, `const`, `literal` or `parameter`.

    limits: least and greatest value of index arrays. scalars: arguments. data: what arrays hold, `small`
    numbers or the `edges` of their types.
    """

    name: str
    sizes: dict[str, int]
    spelling: str
    macros: list[str]
    params: dict[str, Param]
    locals: dict[str, Param]
    body: list[Node]
    limits: dict[str, tuple[str, str]]
    scalars: dict[str, float]
    data: str = "small"

    @property
    def defines(self) -> dict[str, int]:
        return dict(self.sizes) if self.spelling == "parameter" else {}

    @property
    def source(self) -> Source:
        return Source(f"{self.name}.c", text_of(self))

    def limit_of(self, name: str) -> tuple[int, int] | None:
        found = self.limits.get(name)
        return None if found is None else (number(found[0], self.sizes), number(found[1], self.sizes))


def number(text: str, sizes: dict[str, int]) -> int:
    """The value of a sum of sizes and numbers: `N + 2`, `M - 1`."""
    total = 0
    for sign, word in re.findall(r"([+-]?)\s*(\w+)", text):
        value = sizes[word] if word in sizes else int(word)
        total += -value if sign == "-" else value
    return total


def expr_text(e: Expr) -> str:
    return e if isinstance(e, str) else e.form.format(*(expr_text(a) for a in e.args))


def head(f: For) -> str:
    """The header of a loop."""
    if f.least or f.most:
        return _varying_head(f)
    v, least = f.var, str(f.low)
    most = f.size if not f.top else f"{f.size} - {f.top}"
    if f.step < 0:
        move = f"{v}--" if f.step == -1 else f"{v} -= {-f.step}"
        end = f"{v} >= {least}" if f.style != ">" else f"{v} > {f.low - 1}"
        return f"for ({f.ctype} {v} = {f.size} - {f.top + 1}; {end}; {move})"
    move = f"{v}++" if f.step == 1 else f"{v} += {f.step}"
    if f.style == "<=":
        end = f"{v} <= {f.size} - {f.top + 1}"
    elif f.style == "!=" and f.step == 1:
        end = f"{v} != {most}"
    elif f.style == "flip":
        end = f"{most} > {v}"
    else:
        end = f"{v} < {most}"
    return f"for ({f.ctype} {v} = {least}; {end}; {move})"


def _varying_head(f: For) -> str:
    """The header of a loop whose ends depend on outer counters."""
    v, least, most = f.var, f.least or str(f.low), f.most or f"{f.size} - {f.top + 1}"
    move = f"{v} {'+' if f.step > 0 else '-'}= {abs(f.step)}" if abs(f.step) > 1 else f"{v}++"
    if f.step < 0:
        move = f"{v}--" if f.step == -1 else move
        end = f"{v} >= {least}" if f.style != ">" else f"{v} > {least} - 1"
        return f"for ({f.ctype} {v} = {most}; {end}; {move})"
    end = f"{v} <= {most}" if f.style in ("<=", "!=") else f"{v} < {most} + 1"
    return f"for ({f.ctype} {v} = {least}; {end}; {move})"


def lines_of(body: list[Node], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for node in body:
        match node:
            case Line(form, args):
                yield pad + form.format(*(expr_text(a) for a in args))
            case If(cond, then, other):
                yield pad + f"if ({expr_text(cond)}) {{"
                yield from lines_of(then, depth + 1)
                if other:
                    yield pad + "} else {"
                    yield from lines_of(other, depth + 1)
                yield pad + "}"
            case For():
                yield pad + head(node) + " {"
                yield from lines_of(node.body, depth + 1)
                yield pad + "}"


def words_of(body: list[Node]) -> set[str]:
    """Every name that the statements mention."""
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines_of(body, 0))))


def declaration(name: str, p: Param) -> str:
    const = "const " if p.const else ""
    if p.flat:
        return f"{const}{p.ctype} *{name}"
    return f"{const}{p.ctype} {name}" + "".join(f"[{e}]" for e in p.extents)


def text_of(tree: Tree) -> str:
    """The C text; parameters and macros that nothing mentions are left out."""
    used = words_of(tree.body)
    lines = ["#include <limits.h>", "#include <math.h>", "#include <stddef.h>", "#include <stdint.h>"]
    macros = [m for m in tree.macros if re.split(r"[\s(]", m)[1] in used]
    params = {n: p for n, p in tree.params.items() if n in used}
    locals_ = {n: p for n, p in tree.locals.items() if n in used}
    shapes = " ".join(e for p in (*params.values(), *locals_.values()) if not p.flat for e in p.extents)
    heads = " ".join(used) + " " + shapes + " " + " ".join(macros)
    sizes = [s for s in tree.sizes if re.search(rf"\b{s}\b", heads)]
    arguments = [declaration(n, p) for n, p in params.items()]
    if tree.spelling == "macro":
        lines += [f"#define {s} {tree.sizes[s]}" for s in sizes]
    elif tree.spelling == "const":
        lines += [f"const int {s} = {tree.sizes[s]};" for s in sizes]
    elif tree.spelling == "parameter":
        arguments = [f"int {s}" for s in tree.sizes] + arguments
    lines += macros
    lines.append(f"void {tree.name}({', '.join(arguments) or 'void'}) {{")
    lines += [f"  {declaration(n, p)};" for n, p in locals_.items()]
    lines += lines_of(tree.body, 1)
    text = "\n".join([*lines, "}"]) + "\n"
    if tree.spelling == "literal":
        for s, n in tree.sizes.items():
            text = re.sub(rf"\b{s}\b", str(n), text)
    return text


def renamed(tree: Tree, names: dict[str, str]) -> Tree:
    """Parameters by other names; `names` goes from the old to the new."""

    def word(text: str) -> str:
        return re.sub(r"\b[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), text)

    def expr(e: Expr) -> Expr:
        return word(e) if isinstance(e, str) else Op(word(e.form), [expr(a) for a in e.args], e.loose)

    def node(n: Node) -> Node:
        match n:
            case Line():
                return Line(word(n.form), [expr(a) for a in n.args], n.pinned)
            case If():
                return If(expr(n.cond), [node(m) for m in n.then], [node(m) for m in n.other], n.guard)
            case For():
                return replace(n, body=[node(m) for m in n.body])

    return replace(
        tree,
        params={names.get(n, n): p for n, p in tree.params.items()},
        body=[node(n) for n in tree.body],
        limits={names.get(n, n): b for n, b in tree.limits.items()},
        scalars={names.get(n, n): s for n, s in tree.scalars.items()},
    )

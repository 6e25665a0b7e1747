"""Random C functions in which statements depend on one another in every way that slices follow."""

from dataclasses import dataclass, field
from random import Random

SIZE = 14
"""Of every dimension of every array."""
VECTORS, MATRICES, INDEX = tuple("STUVWXYZ"), tuple("MNOPQR"), "K"
LOOPS = 6


@dataclass(frozen=True)
class Loop:
    """values: from low to high, in some order."""

    var: str
    low: int
    high: int


@dataclass
class Text:
    rng: Random
    lines: list[str] = field(default_factory=list)
    names: int = 0
    loops: int = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"


@dataclass(frozen=True)
class Scope:
    """floats, integers: names of locals; integers have values below SIZE."""

    loops: tuple[Loop, ...] = ()
    floats: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()


def random_function(seed: int) -> str:
    """The C text of this seed, the same everywhere."""
    rng = Random(f"function {seed}")
    text = Text(rng)
    arrays = [f"float {n}[{SIZE}]" for n in VECTORS] + [f"float {n}[{SIZE}][{SIZE}]" for n in MATRICES]
    scope = Scope()
    for _ in range(rng.choice((0, 0, 1, 2))):
        name = text.fresh("s")
        text.line(1, f"float {name} = {rng.randint(0, 3)};")
        scope = Scope((), (*scope.floats, name))
    for _ in range(rng.randint(1, 4)):
        _loop(text, scope, 1)
    if scope.floats and rng.random() < 0.3:
        text.line(1, f"X[{rng.randrange(SIZE)}] = {scope.floats[-1]};")
    head = f"void f(const int {INDEX}[{SIZE}], {', '.join(arrays)}) {{"
    return "\n".join(["#include <stdint.h>", head, *text.lines, "}"]) + "\n"


def _loop(text: Text, scope: Scope, depth: int) -> None:
    rng, var = text.rng, text.fresh("i")
    text.loops += 1
    low = rng.choice((0, 0, 0, 1, 2))
    high = rng.choice((SIZE - 1, SIZE - 1, SIZE - 2, low + rng.randint(1, 4)))
    kind = rng.choice(("int", "int", "int", "unsigned", "uint8_t", "int64_t"))
    match rng.randrange(6):
        case 0:
            text.line(depth, f"for (int {var} = {high}; {var} >= {low}; {var}--) {{")
        case 1:
            step = rng.choice((2, 3))
            text.line(depth, f"for ({kind} {var} = {low}; {var} <= {high}; {var} += {step}) {{")
        case _:
            text.line(depth, f"for ({kind} {var} = {low}; {var} < {high + 1}; {var}++) {{")
    _body(text, Scope((*scope.loops, Loop(var, low, high)), scope.floats, scope.integers), depth + 1)
    text.line(depth, "}")


def _body(text: Text, scope: Scope, depth: int) -> None:
    rng = text.rng
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        kind = rng.random()
        if kind < 0.12:
            name = text.fresh("s")
            text.line(depth, f"float {name} = {_value(rng, scope)};")
            scope = Scope(scope.loops, (*scope.floats, name), scope.integers)
        elif kind < 0.2:
            name = text.fresh("n")
            text.line(depth, f"int {name} = {_subscript(rng, scope)};")
            scope = Scope(scope.loops, scope.floats, (*scope.integers, name))
        elif kind < 0.35 and depth < 5:
            text.line(depth, f"if ({_value(rng, scope)} > {_value(rng, scope)}) {{")
            _body(text, scope, depth + 1)
            if rng.random() < 0.4:
                text.line(depth, "} else {")
                _body(text, scope, depth + 1)
            text.line(depth, "}")
        elif kind < 0.6 and len(scope.loops) < 3 and text.loops < LOOPS:
            _loop(text, scope, depth)
        else:
            _assignment(text, scope, depth)


def _assignment(text: Text, scope: Scope, depth: int) -> None:
    rng = text.rng
    target = _element(rng, scope)
    if scope.floats and rng.random() < 0.3:
        target = rng.choice(scope.floats)
    op = rng.choice(("=", "=", "=", "+=", "-="))
    text.line(depth, f"{target} {op} {_value(rng, scope)};")


def _value(rng: Random, scope: Scope) -> str:
    terms = [_element(rng, scope) for _ in range(rng.choice((1, 1, 1, 2)))]
    if scope.floats and rng.random() < 0.2:
        terms.append(rng.choice(scope.floats))
    if rng.random() < 0.2:
        terms.append(f"{rng.randint(1, 9)} * 0.125f")
    return " + ".join(terms) if len(terms) < 3 else f"0.5f * ({' - '.join(terms)})"


def _element(rng: Random, scope: Scope) -> str:
    if rng.random() < 0.6:
        return f"{rng.choice(VECTORS)}[{_subscript(rng, scope)}]"
    return f"{rng.choice(MATRICES)}[{_subscript(rng, scope)}][{_subscript(rng, scope)}]"


def _subscript(rng: Random, scope: Scope) -> str:
    """Within 0 … SIZE - 1 for all values of the loops."""
    kind = rng.random()
    if not scope.loops or kind < 0.08:
        return str(rng.randrange(SIZE))
    if kind < 0.2:
        return f"{INDEX}[{_subscript(rng, scope)}]"
    if scope.integers and kind < 0.35:
        return rng.choice(scope.integers)
    a, b = rng.choice(scope.loops), rng.choice(scope.loops)
    choices = [
        f"{a.var} + {rng.randint(0, SIZE - 1 - a.high)}",
        f"{a.var} - {rng.randint(0, a.low)}",
        f"{rng.randint(a.high, SIZE - 1)} - {a.var}",
        a.var, a.var,
    ]  # fmt: skip
    if a.high + b.high < SIZE:
        choices += [f"{a.var} + {b.var}"] * 3
    if 2 * a.high < SIZE:
        choices += [f"2 * {a.var}"] * 2
    if 3 * a.high + b.high < SIZE:
        choices += [f"{a.var} * 3 + {b.var}"] * 2
    return rng.choice(choices)

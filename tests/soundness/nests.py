"""Loops around statements, and the parts that reductions are made of: starts, updates, ends."""

from collections.abc import Sequence
from random import Random

from tests.soundness.pool import Array, Pool, Range, Vars
from tests.soundness.tree import Expr, For, If, Line, Node, Op
from tests.soundness.values import Values

STARTS = {
    "+": "0",
    "*": "1",
    "max": "-100",
    "min": "100",
    "&": "-1",
    "|": "0",
    "^": "0",
    "&&": "1",
    "||": "0",
}
COUNTERS = ("int",) * 12 + ("unsigned", "long", "short", "int8_t", "size_t", "uint8_t")


class Nests:
    """Writes nests. running: how many locals the function's own block has."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.rng: Random = pool.rng
        self.values = Values(pool)
        self.running = 0

    # loops

    def loop(self, size: str, name: str) -> tuple[For, Range]:
        """A loop over `size`, often not all of it."""
        rng, extent = self.rng, self.pool.sizes[size]
        low = rng.choice((0, 0, 0, 0, 0, 1, 2)) if extent > 3 else 0
        top = rng.choice((0, 0, 0, 0, 0, 0, 1)) if extent > 3 else 0
        step = rng.choice((1,) * 14 + (2, 3, -1, -1, -2))
        ctype = "int" if step < 0 else rng.choice(COUNTERS)
        style = rng.choice((">=", ">")) if step < 0 else rng.choice(("<",) * 6 + ("<=", "!=", "flip"))
        return For(name, size, [], low, top, step, style, ctype), Range(size, low, top)

    def whole(self, size: str, name: str) -> tuple[For, Range]:
        return For(name, size, []), Range(size)

    def nest(
        self, sizes: Sequence[str], names: Sequence[str], *, whole: bool = False
    ) -> tuple[list[For], Vars]:
        made = [(self.whole if whole else self.loop)(s, n) for s, n in zip(sizes, names, strict=True)]
        v = {f.var: r for f, r in made}
        return [f for f, _ in made], v

    @staticmethod
    def around(loops: Sequence[For], body: list[Node]) -> list[Node]:
        for f in reversed(loops):
            f.body = body
            body = [f]
        return body

    def guarded(self, body: list[Node], v: Vars, often: float) -> list[Node]:
        """Sometimes under a condition."""
        if self.rng.random() >= often:
            return body
        cond = self.values.condition(v)
        if self.rng.random() < 0.15:
            line = next((n for n in body if isinstance(n, Line)), None)
            if line is not None:
                return [If(cond, body, [Line(line.form, list(line.args))])]
        return [If(cond, body)]

    def store(self, a: Array, index: str, v: Vars, *, near: Array | None = None) -> Line:
        """One assignment to an element."""
        rng = self.rng
        value = self.values.value(a.ctype, v, 2, near=near)
        ops = ("=",) * 7 + (("+=", "-=", "*=") if a.is_float else ("+=", "-=", "^=", "|=", "*="))
        op = rng.choice(ops)
        if op == "*=" and a.is_float:
            value = "2"
        if rng.random() < 0.03 and not a.is_float:
            return Line(f"{index}{rng.choice(('++', '--'))};")
        return Line(f"{index} {op} {{}};", [value])

    def target(self, *shapes: tuple[str, ...]) -> Array:
        found = [a for s in shapes for a in self.pool.writable(*s)]
        return self.rng.choice(found) if found else self.pool.arrays["x"]

    # parts of reductions

    def chain(
        self,
        kept: Sequence[str],
        outer: list[For],
        start: list[Node],
        middle: list[Node],
        end: Sequence[Node],
    ) -> list[Node]:
        """start; middle; end in one nest over `kept`, or cut into nests of their own."""
        if not kept:
            return [*start, *middle, *end]
        parts: list[list[Node]] = [[*start, *middle]] if self.rng.random() < 0.65 else [list(start), middle]
        for e in end:
            if self.rng.random() < 0.3:
                parts[-1] = [*parts[-1], e]
            else:
                parts.append([e])
        out: list[Node] = []
        for n, part in enumerate(p for p in parts if p):
            loops = (
                outer
                if n == 0
                else [For(f.var, f.size, [], f.low, f.top, f.step, f.style, f.ctype) for f in outer]
            )
            out += self.around(loops, part)
        return out

    def operator(self, y: Array) -> str:
        floats = ("+",) * 8 + ("max", "min", "fmax", "fmin", "*", "-")
        return self.rng.choice(
            floats if y.is_float else ("+",) * 6 + ("max", "min", "&", "|", "^", "&&", "||", "*", "-")
        )

    def start(self, y: Array, at: str, v: Vars, op: str) -> list[Node]:
        rng = self.rng
        if rng.random() < 0.2:
            return []
        if rng.random() < 0.25:
            return [Line(f"{at} = {{}};", [self.values.value(y.ctype, v, 1)])]
        if rng.random() < 0.1:
            return [Line(f"{at} *= 2;")]
        return [Line(f"{at} = {STARTS.get(op, '0')};")]

    def update(self, y: Array, at: str, v: Vars, op: str) -> Line | If:
        rng = self.rng
        value = self.values.value(y.ctype, v, 2 if op != "*" else 0, near=None)
        if op == "*" and y.is_float:
            return Line(f"{at} *= ({{}} ? 2 : 1);", [self.values.condition(v, 1)])
        if op in ("fmax", "fmin"):
            end = "" if y.ctype == "double" else "f"
            return Line(f"{at} = {op}{end}({at}, {{}});", [value])
        if op in ("max", "min"):
            sign = ">" if op == "max" else "<"
            if not y.is_float:
                value = Op(f"({y.ctype}){{}}", [value])
            match rng.randint(0, 3):
                case 0:
                    return Line(f"if ({{0}} {sign} {at}) {at} = {{0}};", [value])
                case 1:
                    return Line(f"{at} = {{0}} {sign} {at} ? {{0}} : {at};", [value])
                case 2:
                    return Line(f"{at} = {at} {sign}= {{0}} ? {at} : {{0}};", [value])
                case _:
                    return Line(f"if ({at} {'<' if op == 'max' else '>'}= {{0}}) {at} = {{0}};", [value])
        if op in ("&&", "||"):
            return Line(f"{at} = {{}};", [self.values.logical(op, at, v)])
        if rng.random() < 0.15:
            return Line(f"{at} = {at} {op} {{}};", [value])
        return Line(f"{at} {op}= {{}};", [value])

    def end(self, y: Array, at: str, v: Vars) -> Node:
        """What reads the finished value; it writes it again, or any other array."""
        rng = self.rng
        self.values.begin()
        a = y if rng.random() < 0.25 else self.target(y.dims if y.dims != ("1",) else ("N",))
        index = at if a is y else self.pool.element(a, v, plain=0.85, own=True)
        seen = at if rng.random() < 0.85 or not v else self.pool.element(y, v, plain=0.3)
        if a.is_float or not y.is_float:
            form = rng.choice(("{}", "({} + {})", "({1} > {0} ? {0} : {1})", "({0} > 0 ? {0} : 0)"))
            value: Expr = Op(form, [seen, self.values.value(a.ctype, v, 1)])
        else:
            value = self.values.value(a.ctype, v, 1)
        line = Line(f"{index} {rng.choice(('=', '=', '=', '+='))} {{}};", [value])
        return self.guarded([line], v, 0.12)[0]

    def crossed(self, y: Array, at: str, v: Vars, start: list[Node]) -> tuple[list[Node], list[Node]]:
        """An end that overwrites what the start, or an end before it, reads elsewhere."""
        rng, pool = self.rng, self.pool
        victims = [a for a in pool.writable(*y.dims) if a is not y and a.is_float == y.is_float]
        if not victims:
            return start, []
        victim = rng.choice(victims)
        index = list(v)
        moved = rng.choice(index)
        elsewhere = [f"{v[n].size} - 1 - {n}" if n == moved else n for n in index]
        last = Line(f"{victim.at(index)} = {at};")
        if rng.random() < 0.5:
            return [Line(f"{at} = {victim.at(elsewhere)};")], [last]
        other = self.target(y.dims)
        return start, [Line(f"{other.at(index)} = {at} + {victim.at(elsewhere)};"), last]

    def local_type(self) -> str:
        main = self.pool.main if self.pool.main != "_Float16" else "float"
        return (
            main
            if self.rng.random() < 0.7
            else self.rng.choice([t for t in self.pool.others if t != "_Float16"] or [main])
        )

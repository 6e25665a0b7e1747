"""The forms of statements that random programs are made of, each over loops of its own.

What a form is drawn with (which array, which element) often makes it no longer what it looks like: a
reduction whose start or whose end writes what it reads, a running value that is looked at too early.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from tests.soundness.pool import BINS, FLOATS, INTEGERS, Array, Pool, Range, Vars
from tests.soundness.tree import Expr, For, If, Line, Node, Op, expr_text
from tests.soundness.values import Values

STARTS = {"+": "0", "*": "1", "max": "-100", "min": "100", "&": "-1", "|": "0", "^": "0", "&&": "1", "||": "0"}
COUNTERS = ("int",) * 12 + ("unsigned", "long", "short", "int8_t", "size_t", "uint8_t")


class Forms:
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

    def nest(self, sizes: Sequence[str], names: Sequence[str], *, whole: bool = False) -> tuple[list[For], Vars]:
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
            other: list[Node] = [n for n in body if isinstance(n, Line)][:1]
            return [If(cond, body, [Line(other[0].form, list(other[0].args))] if other else [])] if other else body
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

    # forms

    def map(self) -> list[Node]:
        a = self.target(("N",), ("N",), ("N", "M"), ("M",), ("2 * N",), ("N", "N"), ("K",), ("N + M",))
        names = ["i", "j", "k"]
        sizes = [d for d in a.dims if d in self.pool.sizes]
        if not sizes:
            sizes = ["N", "M"] if "M" in a.dims[0] else ["N"]
        loops, v = self.nest(sizes, names[: len(sizes)])
        at = self.pool.element(a, v, plain=0.85, own=True)
        self.values.written = {a.name: at}
        return self.around(loops, self.guarded([self.store(a, at, v, near=a)], v, 0.3))

    def reduction(self) -> list[Node]:
        """Start, updates and end, in one nest or in several; the end writes any array."""
        rng, pool = self.rng, self.pool
        y = self.target(("N",), ("N",), ("N",), ("M",), ("N", "M"), ("1",))
        kept = [d for d in y.dims if d in pool.sizes]
        reduced = ["M", "N", "K"][: rng.choice((1, 1, 1, 2))] if kept != ["M"] else ["N"]
        reduced = [s for s in reduced if s not in kept] or ["K"]
        names = ["i", "l"][: len(kept)]
        outer, v = self.nest(kept, names, whole=rng.random() < 0.75)
        inner, w = self.nest(reduced, ["j", "k"][: len(reduced)])
        both = {**v, **w}
        at = y.at(list(v)) if kept else "s[0]"
        op = self.operator(y)
        self.values.written = {y.name: ""}
        start = self.start(y, at, v, op)
        update = self.guarded([self.update(y, at, both, op)], both, 0.2)
        extra = self.target(*([tuple(kept), (*kept, *reduced)] if kept else [tuple(reduced)]))
        if rng.random() < 0.1 and extra is not y:
            update.append(Line(f"{pool.element(extra, both, plain=0.9, own=True)} = {{}};",
                               [at if extra.is_float or not y.is_float else "1"]))  # fmt: skip
        end = [self.end(y, at, v) for _ in range(rng.choice((0, 0, 1, 1, 2)))]
        return self.chain(kept, names, outer, start, self.around(inner, update), end)

    def chain(
        self, kept: Sequence[str], names: Sequence[str], outer: list[For], start: list[Node], middle: list[Node],
        end: Sequence[Node],
    ) -> list[Node]:  # fmt: skip
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
            loops = outer if n == 0 else [For(f.var, f.size, [], f.low, f.top, f.step, f.style, f.ctype) for f in outer]
            out += self.around(loops, part)
        return out

    def operator(self, y: Array) -> str:
        floats = ("+",) * 8 + ("max", "min", "fmax", "fmin", "*", "-")
        return self.rng.choice(floats if y.is_float else ("+",) * 6 + ("max", "min", "&", "|", "^", "&&", "||", "*", "-"))

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
            return Line(f"{at} = {at} {op} {{}};", [self.values.condition(v, 1)])
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
            value: Expr = Op(rng.choice(("{}", "({} + {})", "({1} > {0} ? {0} : {1})", "({0} > 0 ? {0} : 0)")),
                             [seen, self.values.value(a.ctype, v, 1)])  # fmt: skip
        else:
            value = self.values.value(a.ctype, v, 1)
        line = Line(f"{index} {rng.choice(('=', '=', '=', '+='))} {{}};", [value])
        return self.guarded([line], v, 0.12)[0]

    def scan(self) -> list[Node]:
        rng, pool = self.rng, self.pool
        a = self.target(("N",), ("N", "M"), ("N", "N"))
        sizes = list(a.dims)
        loops, v = self.nest(sizes, ["i", "j"][: len(sizes)], whole=True)
        self.values.written = {a.name: ""}
        f = loops[-1] if rng.random() < 0.7 else loops[0]
        index = list(v)
        before = [f"{f.var} - 1" if n == f.var else n for n in v]
        if pool.sizes[f.size] > 1 and rng.random() < 0.7:
            f.low = 1
            v[f.var] = Range(f.size, 1)
            op = rng.choice(("+", "+", "-", "max"))
            value = self.values.value(a.ctype, v, 1)
            old, me = a.at(before), a.at(index)
            if op == "max":
                lines: list[Node] = [Line(f"{me} = {{0}} > {old} ? {{0}} : {old};", [value])]
            else:
                lines = [Line(f"{me} = {old} {op} {{}};", [value])]
            return self.around(loops, self.guarded(lines, v, 0.15))
        kind = a.ctype if a.ctype != "_Float16" else "float"
        value = self.values.value(kind, v, 1)
        name = "t"
        if len(loops) == 1:
            self.running += 1
            name = "t" if self.running == 1 else f"t{self.running}"
        store = Line(f"{a.at(index)} = {name};")
        lines = [Line(f"{name} += {{}};", [value]), store]
        if rng.random() < 0.4:
            lines.reverse()
        head: list[Node] = [Line(f"{kind} {name} = {rng.choice((0, 0, 1))};")]
        if len(loops) == 1:
            return [*head, *self.around(loops, lines)]
        return self.around(loops[:1], [*head, *self.around(loops[1:], lines)])

    def best(self) -> list[Node]:
        """The largest or smallest so far, and where it is."""
        rng, pool = self.rng, self.pool
        y = self.target(("N",), ("N",), ("M",), ("1",))
        kept = [d for d in y.dims if d in pool.sizes]
        outer, v = self.nest(kept, ["i"][: len(kept)], whole=True)
        inner, w = self.nest(["N"] if kept == ["M"] else ["M"] if kept else ["N"], ["j"])
        both = {**v, **w}
        at = y.at(list(v)) if kept else "s[0]"
        places = [a for a in pool.writable(*(y.dims if kept else ("K",))) if a is not y and not a.is_float]
        sign = rng.choice((">", ">", "<", ">=", "<="))
        place = rng.choice(places) if places and rng.random() < 0.8 else None
        self.values.written = {y.name: "", **({place.name: ""} if place else {})}
        value = self.values.value(y.ctype, both, 1)
        if not y.is_float:
            value = Op(f"({y.ctype}){{}}", [value])
        inside = f"  {at} = {{0}};"
        begin: list[Node] = [Line(f"{at} = {-90 if sign[0] == '>' else 90};")]
        if place is not None:
            where = place.at(list(v)) if kept else "r[0]"
            inside += f" {where} = j;"
            begin.append(Line(f"{where} = {rng.choice(('-1', '0'))};"))
        test = f"{{0}} {sign} {at}" if rng.random() < 0.7 else f"{at} {sign.translate(str.maketrans('<>', '><'))} {{0}}"
        update: list[Node] = [Line(f"if ({test}) {{{{{inside} }}}}", [value])]
        end = [self.end(y, at, v)] if rng.random() < 0.3 else []
        return self.chain(kept, ["i"], outer, begin, self.around(inner, update), end)

    def flag(self) -> list[Node]:
        y = self.target(("N",), ("M",), ("1",))
        kept = [d for d in y.dims if d in self.pool.sizes]
        loops, v = self.nest([*kept, "N" if kept == ["M"] else "M"], ["i", "j"][: len(kept) + 1])
        at = y.at(list(v)[:-1]) if kept else "s[0]"
        self.values.written = {y.name: ""}
        return self.around(loops, [If(self.values.condition(v), [Line(f"{at} = {self.rng.choice('127')};")])])

    def histogram(self) -> list[Node]:
        rng, pool = self.rng, self.pool
        h = pool.arrays["h"]
        loops, v = self._some()
        y, at = h, f"h[{pool.bin(v)}]"
        mine = [n for n, r in v.items() if r.size == "N"]
        if mine and rng.random() < 0.35:
            y = self.target(("N",))
            at = f"{y.name}[p[{rng.choice(mine)}]]"
        self.values.written = {y.name: ""}
        value = "1" if rng.random() < 0.5 else self.values.value(y.ctype, v, 1)
        op = rng.choice(("+=",) * 8 + ("=", "-=", "-="))
        return self.around(loops, self.guarded([Line(f"{at} {op} {{}};", [value])], v, 0.2))

    def _some(self) -> tuple[list[For], Vars]:
        sizes = ["N"] if self.rng.random() < 0.6 else ["N", "M"]
        return self.nest(sizes, ["i", "j"][: len(sizes)])

    def several(self) -> list[Node]:
        """Several assignments in one loop, with what they share in a local."""
        rng, pool = self.rng, self.pool
        size = rng.choice(("N", "N", "M"))
        sizes = [size, "M"] if size == "N" and pool.writable("N", "M") and rng.random() < 0.4 else [size]
        loops, v = self.nest(sizes, ["i", "j"][: len(sizes)])
        body: list[Node] = []
        shapes = [tuple(sizes)] * 8 + [(size,)]
        targets = [self.target(rng.choice(shapes)) for _ in range(rng.choice((1, 2, 2, 3)))]
        at = [pool.element(a, v, plain=0.95, own=True) for a in targets]
        self.values.written = {a.name: e for a, e in zip(targets, at, strict=True)}
        if rng.random() < 0.5:
            kind = self.local_type()
            if rng.random() < 0.12:
                self.values.written = {}
            body.append(Line(f"{rng.choice(('', 'const '))}{kind} t = {{}};", [self.values.value(kind, v, 1)]))
            self.values.locals_["t"] = kind
            self.values.written = {a.name: e for a, e in zip(targets, at, strict=True)}
        for a, e in zip(targets, at, strict=True):
            line = self.store(a, e, v, near=rng.choice(targets))
            body += self.guarded([line], v, 0.2)
        return self.around(loops, body)

    def local_type(self) -> str:
        main = self.pool.main if self.pool.main != "_Float16" else "float"
        return main if self.rng.random() < 0.7 else self.rng.choice([t for t in self.pool.others if t != "_Float16"] or [main])

    def summed(self) -> list[Node]:
        """A local that sums up over an inner loop."""
        rng, pool = self.rng, self.pool
        y = self.target(("N",), ("M",))
        loops, v = self.nest(list(y.dims), ["i"])
        inner, w = self.nest(["M" if y.dims == ("N",) else "N"], ["j"])
        both = {**v, **w}
        kind = self.local_type()
        name = rng.choice(("t", "t", "acc"))
        targets = [self.target(y.dims) for _ in range(rng.choice((1, 1, 2)))]
        self.values.written = {a.name: "" for a in targets}
        update = Line(f"{name} += {{}};", [self.values.value(kind, both, 2)])
        middle = self.around(inner, self.guarded([update], both, 0.2))
        begin = Line(f"{kind} {name} = {{}};", [rng.choice(("0", "1", self.values.value(kind, v, 0)))])
        self.values.locals_ = {name: kind}
        body: list[Node] = [begin, *middle]
        for a in targets:
            wanted = name if (kind in FLOATS) == a.is_float else self.values.value(a.ctype, v, 1)
            body.append(Line(f"{pool.element(a, v, plain=0.9, own=True)} {rng.choice(('=', '+='))} {{}};", [wanted]))
        return self.around(loops, body)

    def triangular(self) -> list[Node]:
        a = self.target(("N", "N"), ("N", "M"), ("N",))
        loops, v = self.nest(["N", a.dims[1] if len(a.dims) == 2 else "N"], ["i", "j"])
        at = self.pool.element(a, v, plain=0.9, own=True) if len(a.dims) == 2 else f"{a.name}[i]"
        op = "+=" if len(a.dims) == 1 else self.rng.choice(("=", "+="))
        self.values.written = {a.name: at if len(a.dims) == 2 else ""}
        line = Line(f"{at} {op} {{}};", [self.values.value(a.ctype, v, 2, near=a)])
        cond = self.rng.choice(("j <= i", "j < i", "i <= j", "i + j < N", "j != i"))
        return self.around(loops, [If(cond, [line])])

    def branch(self) -> list[Node]:
        """Two sides that assign: the same elements or others, in either order, or a local first."""
        rng, pool = self.rng, self.pool
        size = rng.choice(("N", "N", "M"))
        sizes = [size, "M"] if size == "N" and pool.writable("N", "M") and rng.random() < 0.3 else [size]
        loops, v = self.nest(sizes, ["i", "j"][: len(sizes)])
        targets = [self.target(tuple(sizes)) for _ in range(2)]
        at = [pool.element(a, v, plain=0.97, own=True) for a in targets]
        own = {a.name: e for a, e in zip(targets, at, strict=True)}
        self.values.written = own
        cond = self.values.condition(v)
        if rng.random() < 0.05:
            cond = Op(f"({{}} > {rng.choice((0, 1))})", [rng.choice(at)])
        if rng.random() < 0.35:
            kind = self.local_type()
            sides = [[Line("t = {};", [self.values.value(kind, v, 1)])] for _ in range(2)]
            head = Line(f"{kind} t = {{}};", [self.values.value(kind, v, 0)])
            self.values.locals_ = {"t": kind}
            use = [self.store(a, e, v, near=a) for a, e in zip(targets, at, strict=True)]
            other: list[Node] = list(sides[1]) if rng.random() < 0.6 else []
            return self.around(loops, [head, If(cond, list(sides[0]), other), *use[: rng.choice((1, 1, 2))]])
        then: list[Node] = [self.store(a, e, v, near=rng.choice(targets)) for a, e in zip(targets, at, strict=True)]
        other = [self.store(a, e, v, near=rng.choice(targets)) for a, e in zip(targets, at, strict=True)]
        if rng.random() < 0.5:
            other.reverse()
        if rng.random() < 0.4:
            del then[rng.randrange(len(then))]
        if rng.random() < 0.4:
            del other[rng.randrange(len(other))]
        return self.around(loops, [If(cond, then, other)])

    def twice(self) -> list[Node]:
        """Two updates of one element in one loop, with or without something between them."""
        rng, pool = self.rng, self.pool
        y = self.target(("N",), ("M",))
        kept = list(y.dims)
        outer, v = self.nest(kept, ["i"], whole=rng.random() < 0.75)
        inner, w = self.nest(["N" if kept == ["M"] else "M"], ["j"])
        both = {**v, **w}
        at = y.at(list(v))
        op = self.operator(y)
        self.values.written = {y.name: ""}
        op = "+" if "m" in op and rng.random() < 0.8 else op
        second = op if rng.random() < 0.9 else self.operator(y)
        between: list[Node] = []
        both_dims = [*kept, inner[0].size]
        if rng.random() < 0.5 and (pool.writable(*both_dims) or rng.random() < 0.3):
            a = self.target(*([tuple(both_dims)] * 6), (inner[0].size,), y.dims)
            self.values.written[a.name] = ""
            index = pool.element(a, both, plain=0.95, own=True)
            value = at if a.is_float or not y.is_float else "1"
            if rng.random() < 0.75:
                value = expr_text(self.values.value(a.ctype, both, 1))
            between = [Line(f"{index} = {{}};", [value])]
        body = [self.update(y, at, both, op), *between, self.update(y, at, both, second)]
        end = [self.end(y, at, v)] if rng.random() < 0.3 else []
        return self.chain(kept, ["i"], outer, self.start(y, at, v, op), self.around(inner, body), end)


FORMS: Mapping[str, tuple[int, Callable[[Forms], list[Node]]]] = {
    "map": (9, Forms.map), "reduction": (11, Forms.reduction), "scan": (3, Forms.scan), "best": (3, Forms.best),
    "flag": (2, Forms.flag), "histogram": (3, Forms.histogram), "several": (4, Forms.several),
    "summed": (5, Forms.summed), "triangular": (3, Forms.triangular), "branch": (3, Forms.branch),
    "twice": (2, Forms.twice),
}  # fmt: skip
__all__ = ["BINS", "FORMS", "INTEGERS", "Forms"]

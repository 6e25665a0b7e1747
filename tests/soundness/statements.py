"""The forms of statements that random programs are made of, each over loops of its own.

What a form is drawn with (which array, which element) often makes it no longer what it looks like: a
reduction whose start or whose end writes what it reads, a running value that is looked at too early.
"""

from collections.abc import Callable, Mapping

from tests.soundness.nests import Nests
from tests.soundness.pool import FLOATS, Array, Range, Vars
from tests.soundness.tree import Expr, For, If, Line, Node, Op, expr_text


class Forms(Nests):
    """One method a form."""

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
        if kept and rng.random() < (0.15 if len(kept) == 1 else 0.6):
            start, end = self.crossed(y, at, v, start)
        return self.chain(kept, outer, start, self.around(inner, update), end)

    def scan(self) -> list[Node]:
        rng, pool = self.rng, self.pool
        a = self.target(("N",), ("N", "M"), ("N", "N"))
        sizes = list(a.dims)
        loops, v = self.nest(sizes, ["i", "j"][: len(sizes)], whole=True)
        self.values.written = {a.name: ""}
        f = loops[-1] if rng.random() < 0.7 else loops[0]
        if pool.sizes[f.size] > 1 and rng.random() < 0.7:
            return self._prefix(a, loops, v, f)
        index = list(v)
        kind = a.ctype if a.ctype != "_Float16" else "float"
        value = self.values.value(kind, v, 1)
        name = "t"
        if len(loops) == 1:
            self.running += 1
            name = "t" if self.running == 1 else f"t{self.running}"
        store = Line(f"{a.at(index)} = {name};")
        lines: list[Node] = [Line(f"{name} += {{}};", [value]), store]
        if rng.random() < 0.4:
            lines.reverse()
        head: list[Node] = [Line(f"{kind} {name} = {rng.choice((0, 0, 1))};")]
        if len(loops) == 1:
            return [*head, *self.around(loops, lines)]
        return self.around(loops[:1], [*head, *self.around(loops[1:], lines)])

    def _prefix(self, a: Array, loops: list[For], v: Vars, f: For) -> list[Node]:
        """Each element from the one before it; the first as it is, given by a statement, or by a branch."""
        rng = self.rng
        index = list(v)
        old, me = a.at([f"{n} - 1" if n == f.var else n for n in v]), a.at(index)
        begun = rng.choice(("", "", "", "statement", "branch", "operand"))
        whole = begun in ("branch", "operand")
        inside = {n: Range(r.size, 1) if n == f.var and not whole else r for n, r in v.items()}
        ops = (
            ("+", "+", "+", "-", "max", "&&", "||")
            if a.is_float
            else ("+", "+", "-", "max", "&&", "||", "&", "^")
        )
        op = rng.choice(ops)
        if rng.random() < 0.25:
            self.values.written = {a.name: me}
        if begun == "operand":
            old = f"({f.var} > 0 ? {old} : {self.values.read(v, floats=rng.random() < 0.3) or 2})"
        if op in ("&&", "||"):
            new = self.values.logical(op, old, inside)
        else:
            value = self.values.value(a.ctype, inside, 1, near=a)
            form = "({0} > {1} ? {0} : {1})" if op == "max" else f"({{1}} {op} {{0}})"
            new = Op(form, [value, old])
        if begun == "branch":
            first = self.values.value(a.ctype, v, 1, near=a)
            return self.around(loops, [Line(f"{me} = {f.var} > 0 ? {{}} : {{}};", [new, first])])
        f.low = 0 if whole else 1
        lines = self.around(loops, self.guarded([Line(f"{me} = {{}};", [new])], inside, 0.12))
        if begun != "statement":
            return lines
        self.values.written = {a.name: a.at(["0" if n == f.var else n for n in v])}
        others, w = self.nest(
            [o.size for o in loops if o is not f], [o.var for o in loops if o is not f], whole=True
        )
        start = Line(f"{self.values.written[a.name]} = {{}};", [self.values.value(a.ctype, w, 1, near=a)])
        return [*self.around(others, [start]), *lines]

    def best(self) -> list[Node]:
        """The largest or smallest so far, and where it is."""
        rng, pool = self.rng, self.pool
        if rng.random() < 0.15 and pool.writable("N", "N"):
            return self._two_of_a_row()
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
            if rng.random() < 0.15:
                where = pool.element(place, v, plain=0.4)
            inside += f" {where} = j;"
            begin.append(Line(f"{where} = {rng.choice(('-1', '0'))};"))
        test = (
            f"{{0}} {sign} {at}"
            if rng.random() < 0.7
            else f"{at} {sign.translate(str.maketrans('<>', '><'))} {{0}}"
        )
        update: list[Node] = [Line(f"if ({test}) {{{{{inside} }}}}", [value])]
        end = [self.end(y, at, v)] if rng.random() < 0.3 else []
        return self.chain(kept, outer, begin, self.around(inner, update), end)

    def _two_of_a_row(self) -> list[Node]:
        """A record whose two elements are of one row, and may be one."""
        rng = self.rng
        y = self.target(("N", "N"))
        (loops, v), sign = self.nest(["N", "M"], ["i", "j"]), rng.choice("<>")
        self.values.written = {y.name: ""}
        value = self.values.value(y.ctype, v, 1)
        if not y.is_float:
            value = Op(f"({y.ctype}){{}}", [value])
        at = y.at(["i", "0"])
        where = y.at(["i", rng.choice(("i", "N - 1", "N - 1 - i", "p[i]"))])
        return self.around(
            loops, [Line(f"if ({{0}} {sign} {at}) {{{{ {at} = {{0}}; {where} = j; }}}}", [value])]
        )

    def flag(self) -> list[Node]:
        """Raised where a condition holds; what reads it comes behind, and may write it anew."""
        rng = self.rng
        y = self.target(("N",), ("M",), ("1",))
        kept = [d for d in y.dims if d in self.pool.sizes]
        outer, v = self.nest(kept, ["i"][: len(kept)])
        inner, w = self.nest(["N" if kept == ["M"] else "M"], ["j"])
        both = {**v, **w}
        at = y.at(list(v)) if kept else "s[0]"
        self.values.written = {y.name: ""}
        raised: list[Node] = [If(self.values.condition(both), [Line(f"{at} = {rng.choice('127')};")])]
        start = self.start(y, at, v, "|") if rng.random() < 0.3 else []
        end = [self.end(y, at, v) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
        return self.chain(kept, outer, start, self.around(inner, raised), end)

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
        op = rng.choice(("+=",) * 8 + ("=", "-=", "-=", "||"))
        update = Line(f"{at} {op} {{}};", [value])
        if op == "||":
            update = Line(f"{at} = {{}};", [self.values.logical(op, at, v)])
        body = self.guarded([update], v, 0.2)
        if rng.random() < 0.12:
            a = self.target(("N",), ("1",), ("K",))
            body.append(Line(f"{pool.element(a, v)} = {{}};", [at if a.is_float or not y.is_float else "1"]))
        if rng.random() < 0.15:
            return self._beside(loops, body, v)
        return self.around(loops, body)

    def _beside(self, loops: list[For], body: list[Node], v: Vars) -> list[Node]:
        """A second reduction in the same loop body. It may have a start and an epilogue."""
        s = self.pool.arrays["s"]
        op = self.operator(s)
        self.values.written[s.name] = ""
        start = self.start(s, "s[0]", {}, op)
        body.insert(self.rng.randint(0, len(body)), self.update(s, "s[0]", v, op))
        end = [self.end(s, "s[0]", {})] if self.rng.random() < 0.5 else []
        return [*start, *self.around(loops, body), *end]

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
            body.append(
                Line(f"{rng.choice(('', 'const '))}{kind} t = {{}};", [self.values.value(kind, v, 1)])
            )
            self.values.locals_["t"] = kind
            self.values.written = {a.name: e for a, e in zip(targets, at, strict=True)}
        for a, e in zip(targets, at, strict=True):
            line = self.store(a, e, v, near=rng.choice(targets))
            body += self.guarded([line], v, 0.2)
        return self.around(loops, body)

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
            body.append(
                Line(f"{pool.element(a, v, plain=0.9, own=True)} {rng.choice(('=', '+='))} {{}};", [wanted])
            )
        return self.around(loops, body)

    def before(self) -> list[Node]:
        """A local of the whole function, whose value is of another time than that of its reads."""
        rng = self.rng
        kind = self.local_type()
        self.running += 1
        name = f"b{self.running}"
        value = self.values.value(kind, {}, 1)
        if rng.random() < 0.5:
            value = Op(f"({{}} + {rng.choice(('n', 'alpha') if kind in FLOATS else ('n',))})", [value])
        a = self.target(("N",), ("M",), ("N", "M"), ("1",))
        loops, v = self.nest(list(a.dims) if a.name != "s" else ["M"], ["i", "j"][: len(a.dims)])
        at = self.pool.element(a, v, plain=0.9, own=True)
        if a.name == "s" and a.is_float == (kind in FLOATS):
            value = Op("({} + s[0])", [value]) if rng.random() < 0.5 else "s[0]"
        self.values.locals_ = {name: kind}
        self.values.written = {a.name: at}
        use: Expr = self.values.value(a.ctype, v, 1, near=a)
        if (kind in FLOATS) == a.is_float:
            use = Op(f"({{}} + {name})", [use])
        return [Line(f"{kind} {name} = {{}};", [value]), *self.around(loops, [Line(f"{at} = {{}};", [use])])]

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
        then: list[Node] = [
            self.store(a, e, v, near=rng.choice(targets)) for a, e in zip(targets, at, strict=True)
        ]
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
        return self.chain(kept, outer, self.start(y, at, v, op), self.around(inner, body), end)


FORMS: Mapping[str, tuple[int, Callable[[Forms], list[Node]]]] = {
    "map": (9, Forms.map),
    "reduction": (11, Forms.reduction),
    "scan": (3, Forms.scan),
    "best": (3, Forms.best),
    "flag": (2, Forms.flag),
    "histogram": (3, Forms.histogram),
    "several": (4, Forms.several),
    "summed": (5, Forms.summed),
    "triangular": (3, Forms.triangular),
    "branch": (3, Forms.branch),
    "twice": (2, Forms.twice),
    "before": (2, Forms.before),
}
"""How often each is drawn, and what draws it."""

"""Random C functions of every class that mdh accepts, at sizes that rarely divide anything.

A program is C text, so that a test exercises the whole path. Values stay small: integers never overflow, and
sums of integer-valued floats are exact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random

from mdh.source import Source

EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 19, 23, 24, 29, 31, 32, 37, 41, 53, 64, 67, 97, 101)
FLOATS = ("float", "float", "float", "double", "_Float16")
INTEGERS = ("int", "int", "unsigned", "int8_t", "int16_t", "int64_t", "uint8_t")
EIGHTHS = ("fp8_e4m3", "fp8_e5m2")
EIGHTHS_FROM = 1_000_000
"""Programs of seeds from here on keep some floats in 8 bits."""
POINTS = 3000
"""Most points of an iteration box: an interpreter must run it in a moment."""


@dataclass(frozen=True, slots=True)
class RandomProgram:
    """below: index arrays and the value that their elements stay below."""

    seed: int
    kind: str
    text: str
    below: Mapping[str, int]
    scalars: Mapping[str, float]

    @property
    def source(self) -> Source:
        return Source(f"random_{self.seed}.c", self.text)


@dataclass(frozen=True, slots=True)
class Loop:
    """`var` takes start + step * x for 0 <= x < extent."""

    var: str
    extent: int
    start: int = 0
    step: int = 1

    @property
    def head(self) -> str:
        v, last = self.var, self.start + self.step * (self.extent - 1)
        if self.step < 0:
            return f"for (int {v} = {self.start}; {v} >= {last}; {v} -= {-self.step})"
        move = f"{v}++" if self.step == 1 else f"{v} += {self.step}"
        if self.extent % 2:
            return f"for (int {v} = {self.start}; {v} < {last + 1}; {move})"
        return f"for (int {v} = {self.start}; {v} <= {last}; {move})"

    @property
    def low(self) -> int:
        return min(self.start, self.start + self.step * (self.extent - 1))

    @property
    def high(self) -> int:
        return max(self.start, self.start + self.step * (self.extent - 1))


@dataclass
class Writer:
    """The function under construction: parameters in order and nests of text. eighths: draws which floats are
    kept in 8 bits; None: none is."""

    rng: Random
    params: dict[str, str] = field(default_factory=dict)
    below: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)
    eighths: Random | None = None

    def loops(self, count: int, points: int = POINTS, *, plain: bool = False) -> list[Loop]:
        """`count` loops of at most `points` points together; `plain`: all start at 0 and step by 1."""
        rng, out, left = self.rng, [], points
        for n in range(count):
            extent = rng.choice([e for e in EXTENTS if e <= max(1, left)])
            if rng.random() < 0.6 and n + 1 < count:
                extent = min(extent, 17)
            left //= extent
            start, step = (
                (0, 1) if plain else (rng.choice((0, 0, 0, 0, 1, 3)), rng.choice((1, 1, 1, 1, 2, 3, -1)))
            )
            out.append(Loop("ijklmn"[n], extent, start + (extent - 1 if step < 0 else 0), step))
        rng.shuffle(out)
        return [Loop("ijklmn"[n], x.extent, x.start, x.step) for n, x in enumerate(out)]

    def array(
        self, name: str, ctype: str, indices: Sequence[Sequence[tuple[int, Loop]]], *, written: bool
    ) -> "Array":
        """A parameter big enough for `indices` (a sum of coefficient * loop each) at some offsets."""
        rng = self.rng
        slack = [rng.choice((0, 0, 0, 1, 2)) if not written else rng.choice((0, 0, 0, 1)) for _ in indices]
        lows = [sum(min(c * x.low, c * x.high) for c, x in terms) for terms in indices]
        highs = [sum(max(c * x.low, c * x.high) for c, x in terms) for terms in indices]
        shape = [h - lo + s + 1 for lo, h, s in zip(lows, highs, slack, strict=True)]
        flat = not written and len(shape) > 0 and rng.random() < 0.15
        const = "" if written else "const "
        dims = "".join(f"[{n}]" for n in shape)
        self.params[name] = f"{const}{ctype} *{name}" if flat else f"{const}{ctype} {name}{dims}"
        made = Array(
            name, ctype, tuple(tuple(t) for t in indices), tuple(shape), tuple(lows), tuple(slack), flat
        )
        return made if written else self.shortened(made)

    def shortened(self, a: "Array") -> "Array":
        """An array of floats, perhaps in 8 bits. A written one is from here on `stored` to alone."""
        if self.eighths is None or a.ctype != "float" or self.eighths.random() < 0.4:
            return a
        kind = self.eighths.choice(EIGHTHS)
        self.params[a.name] = self.params[a.name].replace("float", kind, 1)
        return replace(a, ctype=kind)

    def text(self, name: str) -> str:
        head = "#include <math.h>\n#include <stdint.h>\n" + "#include <mdh.h>\n" * (self.eighths is not None)
        args = ", ".join(self.params.values())
        return f"{head}void {name}({args}) {{\n" + "\n".join(self.body) + "\n}\n"


@dataclass(frozen=True, slots=True)
class Array:
    name: str
    ctype: str
    indices: tuple[tuple[tuple[int, Loop], ...], ...]
    shape: tuple[int, ...]
    lows: tuple[int, ...]
    slack: tuple[int, ...]
    flat: bool

    def at(self, offsets: Sequence[int] | None = None) -> str:
        """A C access, which 8-bit floats are converted by; offsets within the slack."""
        place = self._place(offsets)
        return f"{self.ctype}_to_float({place})" if self.ctype in EIGHTHS else place

    def stored(self, value: str) -> str:
        """The statement that stores a value."""
        held = f"{self.ctype}_from_float({value})" if self.ctype in EIGHTHS else value
        return f"{self._place(None)} = {held};"

    def _place(self, offsets: Sequence[int] | None) -> str:
        offsets = offsets or (0,) * len(self.shape)
        parts = [
            affine(terms, off - low) for terms, low, off in zip(self.indices, self.lows, offsets, strict=True)
        ]
        if not self.flat:
            return self.name + "".join(f"[{p}]" for p in parts)
        strides = [prod(self.shape[n + 1 :]) for n in range(len(parts))]
        flat = " + ".join(f"({p}) * {s}" if s != 1 else p for p, s in zip(parts, strides, strict=True))
        return f"{self.name}[{flat}]"

    def anywhere(self, rng: Random) -> str:
        return self.at([rng.randint(0, s) for s in self.slack])


def affine(terms: Sequence[tuple[int, Loop]], constant: int) -> str:
    words = [x.var if c == 1 else f"{c} * {x.var}" for c, x in terms]
    text = " + ".join(words) or "0"
    if constant:
        text += f" {'+' if constant > 0 else '-'} {abs(constant)}"
    return text.removeprefix("0 + ")


def nest(loops: Sequence[Loop], body: Sequence[str], depth: int = 1) -> list[str]:
    """The loops around the lines of `body`."""
    out = []
    for n, loop in enumerate(loops):
        brace = " {" if n + 1 == len(loops) and len(body) > 1 else ""
        out.append("  " * (depth + n) + loop.head + brace)
    out += ["  " * (depth + len(loops)) + line for line in body]
    if loops and len(body) > 1:
        out.append("  " * (depth + len(loops) - 1) + "}")
    return out


def index_of(rng: Random, loops: Sequence[Loop], *, mixed: bool = True) -> list[list[tuple[int, Loop]]]:
    """Index functions over some of `loops`: one each, strided or reversed, or the sum of two (a window)."""
    chosen = [x for x in loops if rng.random() < 0.75] or list(loops[:1])
    rng.shuffle(chosen)
    out: list[list[tuple[int, Loop]]] = []
    while chosen:
        terms = [(rng.choice((1, 1, 1, 1, 1, 2, -1)), chosen.pop())]
        if mixed and chosen and rng.random() < 0.2:
            terms.append((rng.choice((1, 1, 2)), chosen.pop()))
        out.append(terms)
    return out[:4]


def scalar_function(
    rng: Random, w: Writer, loops: Sequence[Loop], ctype: str, count: int, prefix: str = "A"
) -> str:
    """An expression over `count` new input arrays, each read once or twice."""
    reads: list[str] = []
    for n in range(count):
        kinds = INTEGERS if ctype in INTEGERS else (ctype, ctype, *FLOATS, "int8_t")
        kind = ctype if rng.random() < 0.7 else rng.choice(kinds)
        a = w.array(f"{prefix}{n}", kind, index_of(rng, loops), written=False)
        reads.append(a.anywhere(rng))
        if any(a.slack) and rng.random() < 0.6:
            reads.append(a.anywhere(rng))
    one = "1" if ctype in INTEGERS else "0.5f" if ctype != "double" else "0.5"
    text = reads[0]
    for read in reads[1:]:
        text = rng.choice(
            (
                f"{text} * {read}", f"({text} + {read})", f"({text} - {read})", f"{text} * {read}",
                f"({text} > {read} ? {text} : {read})" if len(text) < 40 else f"{text} * {read}",
            )
        )  # fmt: skip
    extra = rng.random()
    if extra < 0.1:
        text = f"({text} + {one})"
    elif extra < 0.2:
        text = f"({ctype})({text})"
    elif extra < 0.25 and loops:
        text = f"({text} + {rng.choice(list(loops)).var})"
    return text


def output(w: Writer, name: str, ctype: str, cc: Sequence[Loop]) -> Array:
    """A written array whose index is a permutation of `cc`, sometimes strided or reversed."""
    rng, order = w.rng, list(cc)
    if rng.random() < 0.4:
        rng.shuffle(order)
    terms = [[(rng.choice((1, 1, 1, 1, 1, 2, -1)), x)] for x in order]
    if not terms:
        terms = [[]]
    return w.array(name, ctype, terms, written=True)


def _map(w: Writer) -> None:
    rng = w.rng
    ctype = rng.choice(FLOATS + INTEGERS)
    loops = w.loops(rng.randint(1, 4))
    value = scalar_function(rng, w, loops, ctype, rng.randint(1, 3))
    c = output(w, "C", ctype, loops)
    op = rng.choice(("=", "=", "=", "+="))
    c = w.shortened(c) if op == "=" else c
    w.body += nest(loops, [c.stored(value) if op == "=" else f"{c.at()} {op} {value};"])


def _contraction(w: Writer) -> None:
    """Reductions with +, min and max (and & | ^ on integers), in every way to start and to finish."""
    rng = w.rng
    ctype = rng.choice(FLOATS + INTEGERS)
    loops = w.loops(rng.randint(1, 4))
    reduced = rng.sample(loops, rng.randint(1, min(2, len(loops))))
    cc = [x for x in loops if x not in reduced]
    value = scalar_function(rng, w, loops, ctype, rng.randint(1, 3))
    ops = ("+", "+", "+", "max", "min") + (("&", "|", "^") if ctype in INTEGERS else ())
    op = rng.choice(ops)
    if op in ("max", "min"):
        # where C would convert after each comparison, the nest is no homomorphism
        value = f"({ctype})({value})"
    c = output(w, "C", ctype, cc)
    form = rng.choice(("perfect", "init", "init", "local", "scale", "finish"))
    c = w.shortened(c) if form == "local" else c
    if form == "perfect":
        w.body += nest(loops, [_update(c.at(), op, value)])
        return
    inner = nest(reduced, [_update("s" if form == "local" else c.at(), op, value)], depth=0)
    start = {"+": "0", "max": "-1000", "min": "1000", "&": "-1", "|": "0", "^": "0"}[op]
    if ctype.startswith("u") and op in "max&":
        start = "1"
    if ctype in ("int8_t", "uint8_t"):
        start = start[:-1] if start.endswith("000") else start
    match form:
        case "local":
            acc = "float" if ctype == "_Float16" else ctype
            lines = [f"{acc} s = {start};", *inner, c.stored(_finish(rng, "s", w, cc, ctype))]
        case "scale":
            lines = [f"{c.at()} *= 2;" if op == "+" else f"{c.at()} = {start};", *inner]
        case "finish":
            lines = [f"{c.at()} = {start};", *inner, f"{c.at()} = {_finish(rng, c.at(), w, cc, ctype)};"]
        case _:
            lines = [f"{c.at()} = {start};", *inner]
    w.body += nest(cc, lines)


def _update(target: str, op: str, value: str) -> str:
    if op in ("max", "min"):
        sign = ">" if op == "max" else "<"
        if len(value) % 2:
            return f"if ({value} {sign} {target}) {target} = {value};"
        return f"{target} = {value} {sign} {target} ? {value} : {target};"
    return f"{target} {op}= {value};"


def _finish(rng: Random, value: str, w: Writer, cc: Sequence[Loop], ctype: str) -> str:
    """An epilogue: none, a ramp, a bias, a scale by a scalar parameter."""
    match rng.randint(0, 3):
        case 0:
            return f"{value} > 0 ? {value} : 0"
        case 1 if cc:
            bias = w.array("bias", ctype, [[(1, rng.choice(list(cc)))]], written=False)
            return f"{value} + {bias.at()}"
        case 2:
            scalar = ctype if ctype != "_Float16" else "float"
            w.params["factor"] = f"{scalar} factor"
            w.scalars["factor"] = 2
            return f"factor * {value}"
        case _:
            return value


def _scan(w: Writer) -> None:
    rng = w.rng
    ctype = rng.choice(("float", "double", "int", "int64_t"))
    cc = w.loops(rng.randint(0, 2), 40, plain=True)
    ps = Loop("p", rng.choice(EXTENTS[4:]) * rng.choice((1, 1, 3)))
    loops = [*cc, ps]
    a = w.array("A", ctype, [[(1, x)] for x in loops], written=False)
    s = w.array("S", ctype, [[(1, x)] for x in loops], written=True)
    if not cc and ps.extent > 1 and rng.random() < 0.25:
        w.body += ["  S[0] = A[0];", *nest([Loop("p", ps.extent - 1, 1)], ["S[p] = S[p - 1] + A[p];"])]
        return
    largest = rng.random() < 0.3
    join = f"t = {a.at()} > t ? {a.at()} : t;" if largest else f"t += {a.at()};"
    start = f"{ctype} t = {-1000 if largest else 0};"
    lines = [join, f"{s.at()} = t;"] if rng.random() < 0.6 else [f"{s.at()} = t;", join]
    w.body += nest(cc, [start, *nest([ps], lines, depth=0)])


def _argbest(w: Writer) -> None:
    rng = w.rng
    ctype = rng.choice(("float", "double", "int"))
    cc, j = w.loops(rng.randint(0, 2), 60), Loop("j0", rng.choice(EXTENTS[4:]))
    value = scalar_function(rng, w, [*cc, j], ctype, rng.randint(1, 2))
    if ctype == "int":
        value = f"(int)({value})"
    best, place = (
        output(w, "best", ctype, cc),
        w.array("place", "int", [[(1, x)] for x in cc] or [[]], written=True),
    )
    sign = rng.choice((">", ">", "<", ">=", "<="))
    start = -1000 if sign.startswith(">") else 1000
    update = [
        f"if ({value} {sign} {best.at()}) {{",
        f"  {best.at()} = {value};",
        f"  {place.at()} = j0;",
        "}",
    ]
    lines = [f"{best.at()} = {start};", f"{place.at()} = -1;", *nest([j], update, depth=0)]
    w.body += nest(cc, lines)


def _histogram(w: Writer) -> None:
    rng = w.rng
    loops = w.loops(rng.randint(1, 2), 1500)
    bins = rng.choice((1, 2, 7, 16, 19, 64))
    ctype = rng.choice(("int", "int", "unsigned", "float"))
    b = w.array("B", "int", [[(1, x)] for x in loops], written=False)
    w.below["B"] = bins
    weight = "1"
    if rng.random() < 0.5:
        weight = w.array("W", ctype, [[(1, x)] for x in loops], written=False).at()
    w.params["H"] = f"{ctype} H[{bins}]"
    w.body += nest(loops, [f"H[{b.at()}] += {weight};"])


def _gather(w: Writer) -> None:
    rng = w.rng
    loops = w.loops(rng.randint(2, 3), plain=True)
    ctype, rows = rng.choice(("float", "double", "int")), rng.choice((3, 8, 17))
    reduced = [loops[-1]] if rng.random() < 0.6 else []
    cc = [x for x in loops if x not in reduced]
    where = w.array("I", "int", [[(1, x)] for x in loops if x is not loops[0]], written=False)
    w.below["I"] = rows
    w.params["E"] = f"const {ctype} E[{rows}][{loops[0].extent}]"
    c = output(w, "C", ctype, cc)
    read = f"E[{where.at()}][{loops[0].var}]"
    if reduced:
        w.body += nest(cc, [f"{c.at()} = 0;", *nest(reduced, [f"{c.at()} += {read};"], depth=0)])
    else:
        w.body += nest(cc, [f"{c.at()} = {read};"])


def _stages(w: Writer) -> None:
    """Two or three nests, the later ones reading what the earlier ones wrote."""
    rng = w.rng
    ctype = rng.choice(("float", "double", "int"))
    i, j = w.loops(2, 1200, plain=True)
    a = w.array("A", ctype, [[(1, i)], [(1, j)]], written=False)
    local = rng.random() < 0.5
    if local:
        w.body.append(f"  {ctype} T[{i.extent}];")
    else:
        w.params["T"] = f"{ctype} T[{i.extent}]"
    w.body += nest([i], ["T[i] = 0;", *nest([j], [f"T[i] += {a.at()};"], depth=0)])
    w.params["R"] = f"{ctype} R[{i.extent}][{j.extent}]"
    w.body += nest([i, j], [f"R[i][j] = {a.at()} - T[i];"])
    if rng.random() < 0.5:
        w.params["U"] = f"{ctype} U[{j.extent}]"
        w.body += nest([j], ["U[j] = 0;", *nest([i], ["U[j] += R[i][j];"], depth=0)])


KINDS: Mapping[str, tuple[int, Callable[[Writer], None]]] = {
    "map": (3, _map),
    "contraction": (8, _contraction),
    "scan": (2, _scan),
    "argbest": (2, _argbest),
    "histogram": (2, _histogram),
    "gather": (2, _gather),
    "stages": (2, _stages),
}


def random_program(seed: int) -> RandomProgram:
    """The program of this seed, the same everywhere."""
    rng = Random(f"program {seed}")
    kind = rng.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    w = Writer(rng, eighths=Random(f"eighths {seed}") if seed >= EIGHTHS_FROM else None)
    KINDS[kind][1](w)
    return RandomProgram(seed, kind, w.text(f"random_{seed}"), dict(w.below), dict(w.scalars))

"""Random C functions of every class that mdh accepts, at sizes that rarely divide anything.

A program is C text, so that a test exercises the whole path. Values stay small: integers never overflow, and
sums of integer-valued floats are exact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from mdh.source import Source
from tests.support.random_parts import EXTENTS, Array, Loop, Writer, index_of, nest

FLOATS = ("float", "float", "float", "double", "_Float16")
INTEGERS = ("int", "int", "unsigned", "int8_t", "int16_t", "int64_t", "uint8_t")
EIGHTHS_FROM = 1_000_000
"""Programs of seeds from here on keep some floats in 8 bits."""


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

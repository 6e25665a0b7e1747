"""Random programs in double that have derivatives: contractions, maps, sums and maxima of rows, windows with
strides, gathers, triangles, and arrays that are overwritten."""

from dataclasses import dataclass, field
from random import Random

UNARY = (
    "tanh({x})", "exp(0.5 * {x})", "sin({x}) * {x}", "{x} * {x}", "1.0 / (1.0 + exp(-{x}))",
    "{x} > 0.1 ? {x} : 0.1 * {x}", "fmax({x}, 0.0)", "sqrt({x} * {x} + 1.0)", "log(2.0 + {x} * {x})",
    "erf({x})", "fabs({x} - 0.3)", "cos({x}) / (2.0 + {x} * {x})", "pow(1.5 + {x} * {x}, 1.3)",
    "atan2({x}, 2.0 + {x} * {x})", "-({x}) * 0.25 + 2.0", "fmin({x}, 0.4 * {x} + 0.2)", "hypot({x}, 1.0)",
    "log1p({x} * {x})", "expm1(0.3 * {x})", "cosh({x} * 0.5) - sinh({x})", "fma({x}, {x}, {x})",
)  # fmt: skip
BINARY = ("{x} * {y}", "{x} + 0.5 * {y}", "{x} / (2.0 + {y} * {y})", "{x} - {y} * {x}", "fmax({x}, {y})",
          "{x} < {y} ? {x} * {x} : {y}", "tanh({x} + {y})")  # fmt: skip
ENDS = ("{x}", "tanh({x})", "{x} * {x}", "{x} > 0.0 ? {x} : 0.0", "{x} / 3.0 + 1.0", "exp(0.1 * {x})")


@dataclass
class RandomLayers:
    """shapes: of all arrays. inputs, results: parameters. lines: of the body. indices: arrays of subscripts,
    with the number that they stay below."""

    rng: Random
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    indices: dict[str, tuple[int, int]] = field(default_factory=dict)
    count: int = 0

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def input(self, shape: tuple[int, ...]) -> str:
        name = f"X{len(self.inputs)}"
        self.inputs.append(name)
        self.shapes[name] = shape
        return name

    def made(self, shape: tuple[int, ...]) -> str:
        self.count += 1
        name = f"T{self.count}"
        self.shapes[name] = shape
        return name

    def some(self, rank: int = 0) -> str:
        """An array of this rank, of any for 0; mostly one that was computed."""
        names = [n for n, s in self.shapes.items() if not rank or len(s) == rank]
        if not names or self.chance(0.2):
            return self.input(tuple(self.rng.randint(2, 5) for _ in range(rank or self.rng.randint(1, 3))))
        return self.rng.choice(names[-4:])

    @property
    def text(self) -> str:
        params = [f"const double {n}{_extents(self.shapes[n])}" for n in self.inputs]
        params += [f"const int {n}[{count}]" for n, (count, _) in self.indices.items()]
        params += [f"double {n}{_extents(self.shapes[n])}" for n in self.results]
        own = [n for n in self.shapes if n not in (*self.inputs, *self.results)]
        head = [f"  double {n}{_extents(self.shapes[n])};" for n in own]
        body = "\n".join([*head, *self.lines])
        return f"#include <math.h>\nvoid f({', '.join(params)}) {{\n{body}\n}}\n"


def random_layers(seed: int) -> RandomLayers:
    d = RandomLayers(Random(f"layers {seed}"))
    kinds = (
        _map,
        _map,
        _two,
        _contraction,
        _contraction,
        _rows,
        _window,
        _gather,
        _triangle,
        _again,
        _diagonal,
    )
    for _ in range(d.rng.randint(1, 4)):
        d.rng.choice(kinds)(d)
    last = [n for n in d.shapes if n not in d.inputs]
    d.results = sorted({last[-1], d.rng.choice(last)})
    return d


def _extents(shape: tuple[int, ...]) -> str:
    return "".join(f"[{n}]" for n in shape)


def _nest(d: RandomLayers, loops: dict[str, int], body: list[str]) -> None:
    for depth, (name, extent) in enumerate(loops.items()):
        d.lines.append("  " * (depth + 1) + f"for (int {name} = 0; {name} < {extent}; {name}++)")
    d.lines += ["  " * (len(loops) + 1) + "{", *("  " * (len(loops) + 2) + b for b in body)]
    d.lines.append("  " * (len(loops) + 1) + "}")


def _at(name: str, index: list[str]) -> str:
    return name + "".join(f"[{i}]" for i in index)


def _loops(shape: tuple[int, ...]) -> dict[str, int]:
    return {"ijkl"[n]: extent for n, extent in enumerate(shape)}


def _map(d: RandomLayers) -> None:
    x = d.some()
    loops = _loops(d.shapes[x])
    y = d.made(d.shapes[x])
    value = d.rng.choice(UNARY).format(x=_at(x, list(loops)))
    _nest(d, loops, [f"{_at(y, list(loops))} = {value};"])


def _two(d: RandomLayers) -> None:
    """A map of two arrays, of which one may have fewer dimensions."""
    x = d.some()
    loops = _loops(d.shapes[x])
    names = list(loops)
    kept = [n for n in names if d.chance(0.7)] or names[:1]
    shape = tuple(loops[n] for n in kept)
    same = [n for n, s in d.shapes.items() if s == shape]
    w = d.rng.choice(same) if same and d.chance(0.6) else d.input(shape)
    y = d.made(d.shapes[x])
    value = d.rng.choice(BINARY).format(x=_at(x, names), y=_at(w, kept))
    _nest(d, loops, [f"{_at(y, names)} = {value};"])


def _contraction(d: RandomLayers) -> None:
    x = d.some()
    loops = _loops(d.shapes[x])
    summed = d.rng.sample(list(loops), d.rng.randint(1, len(loops)))
    other = [n for n in loops if n in summed or d.chance(0.3)]
    extents = {**loops, "m": d.rng.randint(2, 4)}
    letters = d.rng.sample([*other, "m"], len(other) + 1)
    w = d.input(tuple(extents[n] for n in letters))
    kept = [n for n in (*loops, "m") if n not in summed]
    d.rng.shuffle(kept)
    y = d.made(tuple(extents[n] for n in kept))
    term = f"{_at(x, list(loops))} * {_at(w, letters)}"
    _summed(d, y, {n: extents[n] for n in kept}, {n: extents[n] for n in summed}, term)


def _summed(d: RandomLayers, y: str, kept: dict[str, int], summed: dict[str, int], term: str) -> None:
    at, loops = _at(y, list(kept) or ["0"]), ""
    for name, extent in summed.items():
        loops += f"for (int {name} = 0; {name} < {extent}; {name}++) "
    start = "0.0"
    if d.chance(0.3) and kept:
        name = d.rng.choice(list(kept))
        start = f"{d.input((kept[name],))}[{name}]"
    end = d.rng.choice(ENDS)
    body = [f"{at} = {start};", f"{loops}{at} += {term};"]
    if end != "{x}":
        body.append(f"{at} = {end.format(x=at)};")
    if not kept:
        d.shapes[y] = (1,)
    _nest(d, kept, body)


def _rows(d: RandomLayers) -> None:
    """A sum or a maximum along the last dimension."""
    x = d.some(2)
    n, m = d.shapes[x]
    y = d.made((n,))
    if d.chance(0.4):
        call = d.rng.choice(("fmax", "fmin"))
        begin = "-INFINITY" if call == "fmax" else "INFINITY"
        start, first = (begin, 0) if d.chance(0.6) else (f"{x}[i][0]", 1)
        _nest(
            d,
            {"i": n},
            [
                f"{y}[i] = {start};",
                f"for (int j = {first}; j < {m}; j++) {y}[i] = {call}({y}[i], {x}[i][j]);",
            ],
        )
    else:
        _summed(d, y, {"i": n}, {"j": m}, d.rng.choice(UNARY).format(x=f"{x}[i][j]"))


def _window(d: RandomLayers) -> None:
    """A convolution along the first dimension, with a stride."""
    stride, r, n = d.rng.randint(1, 3), d.rng.randint(1, 4), d.rng.randint(2, 5)
    size = stride * (n - 1) + r + d.rng.randint(0, 2)
    x, w, y = d.input((size,)), d.input((r,)), d.made((n,))
    if d.chance(0.3):
        _map_over(d, x)
        x = f"T{d.count}"
    at = f"{stride} * i + r" if stride > 1 else "i + r"
    if stride == 1 and d.chance(0.3):
        at = f"{n + r - 2} - i - r"
    _summed(d, y, {"i": n}, {"r": r}, f"{x}[{at}] * {w}[r]")


def _map_over(d: RandomLayers, x: str) -> None:
    y = d.made(d.shapes[x])
    loops = _loops(d.shapes[x])
    _nest(d, loops, [f"{_at(y, list(loops))} = {d.rng.choice(UNARY).format(x=_at(x, list(loops)))};"])


def _gather(d: RandomLayers) -> None:
    x = d.some(2)
    n, m = d.shapes[x]
    count = d.rng.randint(2, 5)
    index, y = f"I{len(d.indices)}", d.made((count, m))
    d.indices[index] = (count, n)
    value = d.rng.choice(("{x}", "{x} * {x}", "tanh({x})")).format(x=f"{x}[{index}[i]][j]")
    _nest(d, {"i": count, "j": m}, [f"{y}[i][j] = {value};"])


def _triangle(d: RandomLayers) -> None:
    x = d.some(2)
    n, m = d.shapes[x]
    y = d.made((n,))
    cond = d.rng.choice(("j <= i", "j > i", f"{x}[i][j] > 0.0", "i + j < 4"))
    body = [
        f"{y}[i] = 0.0;",
        f"for (int j = 0; j < {m}; j++)",
        f"  if ({cond}) {y}[i] += {x}[i][j] * {x}[i][j];",
    ]
    _nest(d, {"i": n}, body)


def _again(d: RandomLayers) -> None:
    """An array that is computed, and overwritten in part or as a whole by later nests."""
    x = d.some(1)
    (n,) = d.shapes[x]
    y = d.made((n,))
    _nest(d, {"i": n}, [f"{y}[i] = {d.rng.choice(UNARY).format(x=f'{x}[i]')};"])
    z = d.made((n,))
    _nest(d, {"i": n}, [f"{z}[i] = {y}[i] * {y}[i];"])
    if d.chance(0.5) and n > 2:
        _nest(d, {"i": n - 2}, [f"{y}[i + 1] = {z}[i] * {x}[i + 2];"])
    else:
        _nest(d, {"i": n}, [f"{y}[i] = {y}[i] * {z}[i] + {x}[i];"])


def _diagonal(d: RandomLayers) -> None:
    n = d.rng.randint(2, 4)
    x, y = d.input((n, n)), d.made((n,))
    at = d.rng.choice(("x[i][i]", "x[i][0]", f"x[{n - 1} - i][i]")).replace("x", x)
    _nest(d, {"i": n}, [f"{y}[i] = {at} * {at};"])

"""The sums of products and a few more by Halide, with the schedules of its wheel's autoschedulers.

Each autoscheduler is deterministic and takes seconds. Which of them, and which way to write the program, is
fastest on this machine is found by trying all once, and kept in halide.json in $MDH_BENCH_CACHE (or the
system's folder for caches): the first run of all cases spends some minutes on it. Tried with halide 21.0.0.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version as installed
from math import inf, prod
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.cpu.data import Arrays
from bench.cpu.kept import cache_folder, key_of
from bench.cpu.sums import Subscript, Sum, sum_of

hl: Any = import_module("halide")

Call = Callable[[], Any]
SCHEDULERS = ("Adams2019", "Mullapudi2016", "Li2018")
_UNROLLED = 32
"""Terms of a sum that may be written out."""
_PARTS = 4
"""The least work items for each thread. With one item for one thread Adams2019 is five times as slow as with
two or more; the others do not care."""
_FAR = 2
"""A candidate that takes so many times the best one's seconds is not the best."""
_WAYS = ("reduced", "stored", "unrolled")


@dataclass(frozen=True, slots=True)
class Written:
    """A program as Halide reads it: its parameters, and the Func that is its result `out`."""

    out: str
    params: dict[str, Any]
    func: Any


def version() -> str:
    return f"Halide {installed('halide')}, best of {', '.join(SCHEDULERS)}"


def prepare(program: str, arrays: Arrays, threads: int) -> Call | None:
    key = f"{key_of(program, arrays)}, {threads} threads, {hl.get_host_target()}"
    path = cache_folder() / "halide.json"
    kept = dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
    if key in kept:
        return _made(program, arrays, threads, *kept[key])
    made = {names: _made(program, arrays, threads, *names) for names in _candidates(program, arrays)}
    calls = {names: call for names, call in made.items() if call is not None}
    if not calls:
        return None
    times = {names: _seconds(call) for names, call in calls.items()}
    # a second time, lest one moment of other work on the machine decides, but not for those far behind
    near = [names for names, t in times.items() if t < _FAR * min(times.values())]
    best = min(near, key=lambda names: min(times[names], _seconds(calls[names])))
    kept[key] = best
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return calls[best]


def _candidates(program: str, a: Arrays) -> Iterator[tuple[str, str]]:
    for way in _WAYS:
        if _written(program, a, way) is not None:
            for scheduler in SCHEDULERS:
                # this one thinks for a minute about six dimensions
                if (way, scheduler) != ("stored", "Adams2019") or not program.startswith("ccsdt"):
                    yield scheduler, way


def _made(program: str, arrays: Arrays, threads: int, scheduler: str, way: str) -> Call | None:
    """The compiled program bound to its arrays, None where the autoscheduler or the compiler fails. `finish`
    brings the result back."""
    target = hl.get_host_target()
    written = _written(program, arrays, way)
    if written is None:
        return None
    _load(scheduler)
    _fix(written.func.output_buffer(), arrays[written.out].shape)
    written.func.set_estimates([(0, n) for n in reversed(arrays[written.out].shape)])
    try:
        pipeline = hl.Pipeline(written.func)
        pipeline.apply_autoscheduler(
            target, hl.AutoschedulerParams(scheduler, {"parallelism": str(_PARTS * threads)})
        )
        compiled = pipeline.compile_to_callable(list(written.params.values()), target)
    except hl.HalideError:
        return None
    result = _aligned(arrays[written.out])
    buffers = [*(hl.Buffer(arrays[n]) for n in written.params), hl.Buffer(result)]

    def call() -> None:
        compiled(*buffers)

    call.__dict__["finish"] = lambda: np.copyto(arrays[written.out], result)
    return call


def _load(scheduler: str) -> None:
    folder = Path(hl.__file__).parent / "lib64"
    hl.load_plugin(str(folder / f"libautoschedule_{scheduler.lower()}.so"))


def _fix(image: Any, shape: tuple[int, ...]) -> None:
    """The sizes are constants to the compiler, as they are to the others."""
    for place, extent in enumerate(reversed(shape)):
        image.dim(place).set_bounds(0, extent)
        image.dim(place).set_stride(prod(shape[len(shape) - place :]))


def _aligned(like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Zeros that begin at a multiple of 64 bytes: where sizes are constants, a result that is added to is
    taken for aligned to whole vectors, and a schedule that relies on it dies on numpy's own arrays."""
    room = np.zeros(like.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    out: np.ndarray[Any, Any] = room[start : start + like.nbytes].view(like.dtype).reshape(like.shape)
    return out


def _seconds(call: Call) -> float:
    least, end = inf, perf_counter() + 0.1
    for number in range(50):
        start = perf_counter()
        call()
        now = perf_counter()
        least = min(least, now - start)
        if now > end and (number >= 1 or least > 1):
            break
    return least


def _written(program: str, a: Arrays, way: str) -> Written | None:
    """The program in one way, None where it is not written so."""
    described = sum_of(program, a)
    if described is None and program not in _OTHERS:
        return None
    out, make = (described.out, None) if described is not None else _OTHERS[program]
    params = {n: hl.ImageParam(_TYPES[v.dtype.name](), v.ndim, n) for n, v in a.items() if n != out}
    for name, param in params.items():
        _fix(param, a[name].shape)
        param.set_estimates([(0, n) for n in reversed(a[name].shape)])
    if described is not None:
        func = _summed(described, params, a, way)
    else:
        assert make is not None
        func = make(params, a, way)
    return None if func is None else Written(out, params, func)


def _summed(s: Sum, params: dict[str, Any], a: Arrays, way: str) -> Any | None:
    terms = prod(s.extents[x] for x in s.summed)
    spots = {x: hl.Var(x) for x in s.kept}
    place = [spots[x] for x in reversed(s.kept)]
    zero = _TYPES[a[s.out].dtype.name]
    if way == "unrolled":
        if terms > _UNROLLED or s.bias is not None:
            return None
        out = hl.Func("result")
        out[place] = _sum(_term(s, params, {**spots, **at}) for at in _points(s))
        return out
    if way == "reduced" and s.bias is not None:
        return None
    total = hl.Func("total")
    total[place] = hl.cast(zero(), 0)
    domain = hl.RDom([(0, s.extents[x]) for x in s.summed])
    total[place] += _term(s, params, {**spots, **{x: domain[i] for i, x in enumerate(s.summed)}})
    if way == "reduced":
        return total
    out = hl.Func("result")
    out[place] = total[place]
    if s.bias is not None:
        out = hl.Func("result")
        out[place] = hl.max(total[place] + params[s.bias][place[0]], hl.cast(zero(), 0))
    return out


def _points(s: Sum) -> Iterator[dict[str, int]]:
    """Every place of the summed letters."""
    count = prod(s.extents[x] for x in s.summed)
    for number in range(count):
        at, rest = dict[str, int](), number
        for letter in s.summed:
            rest, at[letter] = divmod(rest, s.extents[letter])
        yield at


def _term(s: Sum, params: dict[str, Any], at: dict[str, Any]) -> Any:
    left, right = (params[f.array][[_index(x, at) for x in reversed(f.subscripts)]] for f in s.factors)
    return left * right


def _index(terms: Subscript, at: dict[str, Any]) -> Any:
    return _sum(at[letter] if factor == 1 else at[letter] * factor for factor, letter in terms)


def _sum(parts: Iterator[Any]) -> Any:
    out = next(parts)
    for part in parts:
        out = out + part
    return out


def _jacobi(params: dict[str, Any], a: Arrays, way: str) -> Any | None:
    if way != "unrolled":
        return None
    x, out = params["A"], hl.Func("result")
    i, j, k = hl.Var("i"), hl.Var("j"), hl.Var("k")
    near = x[k + 1, j + 1, i + 1] + x[k + 1, j + 1, i] + x[k + 1, j + 1, i + 2] + x[k + 1, j, i + 1]
    near = near + x[k + 1, j + 2, i + 1] + x[k, j + 1, i + 1] + x[k + 2, j + 1, i + 1]
    out[k, j, i] = near * hl.f32(1 / 7)
    return out


def _row_max(params: dict[str, Any], a: Arrays, way: str) -> Any | None:
    if way == "unrolled":
        return None
    i, total, out = hl.Var("i"), hl.Func("total"), hl.Func("result")
    domain = hl.RDom([(0, a["A"].shape[1])])
    total[i] = hl.f32(-inf)
    total[i] = hl.max(total[i], params["A"][domain[0], i])
    out[i] = total[i]
    return total if way == "reduced" else out


def _gather(params: dict[str, Any], a: Arrays, way: str) -> Any | None:
    if way == "unrolled":
        return None
    b, d, total, out = hl.Var("b"), hl.Var("d"), hl.Func("total"), hl.Func("result")
    domain = hl.RDom([(0, a["I"].shape[1])])
    row = hl.unsafe_promise_clamped(params["I"][domain[0], b], 0, a["E"].shape[0] - 1)
    total[d, b] = hl.f32(0)
    total[d, b] += params["E"][d, row]
    out[d, b] = total[d, b]
    return total if way == "reduced" else out


_TYPES: dict[str, Any] = {
    "float32": lambda: hl.Float(32), "float64": lambda: hl.Float(64), "int32": lambda: hl.Int(32),
}  # fmt: skip
_OTHERS: dict[str, tuple[str, Callable[[dict[str, Any], Arrays, str], Any]]] = {
    "jacobi3d": ("B", _jacobi),
    "row_max": ("best", _row_max),
    "gather_sum": ("O", _gather),
}

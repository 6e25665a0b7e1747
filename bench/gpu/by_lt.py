"""cuBLASLt tuned: the algorithms that its heuristic names and others drawn from all that fit, each timed."""

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_double, c_float, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from itertools import product
from typing import Any

from bench.gpu import lt_types as lt
from bench.gpu.cases import TF32, Case
from bench.gpu.clock import Made, quick
from bench.gpu.gpu import PLACE, Tensors, torch
from bench.gpu.outcome import Algorithms
from mdh.compare.calling import Call

_ASKED, _DRAWN, _LOOKED, _FINAL = 64, 160, 6000, 4
"""Algorithms asked of the heuristic, drawn, looked at to draw them, and timed again."""
_SPACE = 64 << 20


@dataclass(frozen=True, slots=True)
class Shape:
    """D = alpha · left · right + beta · D as the library sees it, by columns: `left` is rows × inner, `right`
    inner × columns, each possibly stored transposed. Names of arrays; the strides of a batch follow."""

    rows: int
    columns: int
    inner: int
    left: str
    right: str
    out: str
    turned: bool = False
    batch: int = 1
    alpha: float = 1.0
    beta: float = 0.0
    bias: str = ""


def shape_of(case: Case) -> Shape | None:
    """Rows of C are columns of the library's: its first factor is our second one."""
    s = case.sizes
    if case.program == "matvec":
        return Shape(s["M"], 1, s["K"], "A", "B", "C", turned=True)
    if case.program == "batched_matmul_t":
        return Shape(s["N"], s["M"], s["K"], "B", "A", "C", turned=True, batch=s["BATCH"])
    if case.program == "matmul_scaled":
        alpha, beta = case.scalars["alpha"], case.scalars["beta"]
        return Shape(s["N"], s["M"], s["K"], "B", "A", "C", alpha=alpha, beta=beta)
    if case.program == "matmul_bias_relu":
        return Shape(s["N"], s["M"], s["K"], "B", "A", "C", bias="bias")
    if case.program == "MLP1":
        return Shape(s["O"], s["B"], s["M"], "W1", "I", "O1", turned=True, bias="B1")
    if case.program in ("matmul_int8_t", "matmul_fp8", "matmul_fp8_bf16", "matmul_tf32_t", "tmm"):
        return Shape(s["N"], s["M"], s["K"], "B", "A", "C", turned=True)
    if case.program in ("matmul_init", "matmul_double", "matmul_bf16", "matmul_half", "matmul_tf32"):
        return Shape(s["N"], s["M"], s["K"], "B", "A", "C")
    return None


@dataclass(frozen=True, slots=True)
class Types:
    """Of the factors, the results, and the scalars; and how sums are computed, by which tensor cores may be
    used (`any_core`)."""

    factors: int
    results: int
    scalars: int
    computes: tuple[int, ...]
    any_core: bool = True


_OF_TYPES = {
    (torch.float64, torch.float64): Types(lt.F64, lt.F64, lt.F64, (lt.COMPUTE_F64,)),
    (torch.bfloat16, torch.float32): Types(lt.BF16, lt.F32, lt.F32, (lt.COMPUTE_F32,)),
    (torch.float16, torch.float16): Types(lt.F16, lt.F16, lt.F32, (lt.COMPUTE_F32,)),
    (torch.int8, torch.int32): Types(lt.I8, lt.I32, lt.I32, (lt.COMPUTE_I32,)),
    (torch.float8_e4m3fn, torch.float32): Types(lt.E4M3, lt.F32, lt.F32, (lt.COMPUTE_F32,)),
    (torch.float8_e4m3fn, torch.bfloat16): Types(lt.E4M3, lt.BF16, lt.F32, (lt.COMPUTE_F32,)),
    (torch.float32, torch.float32): Types(
        lt.F32, lt.F32, lt.F32, (lt.COMPUTE_F32_PEDANTIC, lt.COMPUTE_F32), any_core=False
    ),
}
_ROUNDED = Types(lt.F32, lt.F32, lt.F32, (lt.COMPUTE_F32_FAST_TF32,))


class Tuned:
    """Raises ImportError where the library is not installed."""

    def __init__(self, stream: int) -> None:
        self.library = lt.Library()
        self.handle = c_void_p()
        self.library("Create", byref(self.handle))
        self._space = torch.empty(_SPACE, dtype=torch.uint8, device=PLACE)
        self._stream = c_void_p(stream)

    @property
    def version(self) -> str:
        return str(self.library.version)

    def prepare(
        self, case: Case, sets: Sequence[Tensors], seconds: float, known: Algorithms = ()
    ) -> Made | None:
        """known: to choose from, instead of a search. Raises RefusedError where no algorithm runs."""
        shape = shape_of(case)
        if shape is None:
            return None
        types = _OF_TYPES.get((sets[0][shape.left].dtype, sets[0][shape.out].dtype))
        types = _ROUNDED if case.program in TF32 else types
        if types is None:
            return None
        problems = [_Problem(self, shape, types, kind) for kind in types.computes]
        told = ((problems[n], lt.Algorithm.from_buffer_copy(held)) for n, held in known)
        timed = self._timed(told, sets[0], seconds)
        found = timed or self._timed(self._candidates(problems), sets[0], seconds)
        if not found:
            raise lt.RefusedError("no algorithm runs")
        found.sort(key=lambda t: t[0])
        last = [[p.call(t, a) for t in sets] for _, p, a in found[:_FINAL]]
        warm = min(last, key=lambda calls: quick(calls[:1]))
        cold = min(last, key=quick)
        note = "" if timed else f"{len(found)} algorithms"
        tuned = tuple((problems.index(p), bytes(a)) for _, p, a in found[:_FINAL])
        return Made(warm, cold=cold, note=note, tuned=tuned)

    def _timed(
        self, offered: Iterable[tuple["_Problem", lt.Algorithm]], tensors: Tensors, seconds: float
    ) -> list[tuple[float, "_Problem", lt.Algorithm]]:
        """Those that run, with their seconds, until so many have passed."""
        end = time.perf_counter() + seconds
        timed = list[tuple[float, _Problem, lt.Algorithm]]()
        for problem, algorithm in offered:
            if timed and time.perf_counter() > end:
                break
            try:
                took = quick([problem.call(tensors, algorithm)])
            except (lt.RefusedError, RuntimeError):
                continue
            timed.append((took, problem, algorithm))
        return timed

    def _candidates(self, problems: Sequence["_Problem"]) -> Iterator[tuple["_Problem", lt.Algorithm]]:
        """Those of the heuristic first."""
        for problem in problems:
            for algorithm in problem.suggested():
                yield problem, algorithm
        for algorithm in problems[-1].drawn():
            yield problems[-1], algorithm

    def run(self, problem: "_Problem", pointers: Sequence[int], algorithm: lt.Algorithm) -> Call:
        left, right, out = map(c_void_p, pointers)
        factors = [byref(problem.scalar(x)) for x in (problem.shape.alpha, problem.shape.beta)]
        arguments = (
            self.handle, problem.description, factors[0], left, problem.left, right, problem.right,
            factors[1], out, problem.out, out, problem.out, byref(algorithm),
            c_void_p(self._space.data_ptr()), c_size_t(_SPACE), self._stream,
        )  # fmt: skip
        return lambda: self.library("Matmul", *arguments)


class _Problem:
    """A product described to the library, at one way to compute."""

    def __init__(self, owner: Tuned, shape: Shape, types: Types, compute: int) -> None:
        self.owner, self.shape, self.library, self.compute = owner, shape, owner.library, compute
        self.types = types
        s = shape
        # both factors lie with the inner index next to one another where the first one is turned
        sides = (s.inner, s.rows) if s.turned else (s.rows, s.inner)
        self.left = self._matrix(*sides, types.factors)
        self.right = self._matrix(s.inner, s.columns, types.factors)
        self.out = self._matrix(s.rows, s.columns, types.results)
        self.description = self._described()

    def scalar(self, value: float) -> c_double | c_int | c_float:
        match self.types.scalars:
            case lt.F64:
                return c_double(value)
            case lt.I32:
                return c_int(int(value))
            case _:
                return c_float(value)

    def _described(self) -> c_void_p:
        out = self.library.created("MatmulDesc", c_int(self.compute), c_int(self.types.scalars))
        if self.shape.turned:
            self.library.set("MatmulDesc", out, lt.TRANS_A, c_int(1))
        if self.shape.bias:
            self.library.set("MatmulDesc", out, lt.EPILOGUE, c_uint32(lt.RELU_BIAS))
        return out

    def _matrix(self, rows: int, columns: int, element: int) -> c_void_p:
        out = self.library.created(
            "MatrixLayout", c_int(element), c_uint64(rows), c_uint64(columns), c_int64(rows)
        )
        if self.shape.batch > 1:
            self.library.set("MatrixLayout", out, lt.BATCH_COUNT, c_int(self.shape.batch))
            self.library.set("MatrixLayout", out, lt.BATCH_STRIDE, c_int64(rows * columns))
        return out

    def call(self, t: Tensors, algorithm: lt.Algorithm) -> Call:
        s = self.shape
        problem = self
        if s.bias:
            # the address is a part of the description
            problem = _Problem(self.owner, s, self.types, self.compute)
            pointer = c_void_p(t[s.bias].data_ptr())
            self.library.set("MatmulDesc", problem.description, lt.BIAS_POINTER, pointer)
        return self.owner.run(problem, [t[n].data_ptr() for n in (s.left, s.right, s.out)], algorithm)

    @property
    def _layouts(self) -> tuple[c_void_p, ...]:
        return self.left, self.right, self.out, self.out

    def suggested(self) -> list[lt.Algorithm]:
        preference = self.library.created("MatmulPreference")
        self.library.set("MatmulPreference", preference, lt.WORKSPACE_BYTES, c_size_t(_SPACE))
        found, count = (lt.Found * _ASKED)(), c_int()
        try:
            self.library(
                "MatmulAlgoGetHeuristic", self.owner.handle, self.description, *self._layouts, preference,
                c_int(_ASKED), found, byref(count),
            )  # fmt: skip
        except lt.RefusedError:
            return []
        return [f.algorithm for f in found[: count.value] if f.state == 0 and self._plain(f.algorithm)]

    def _plain(self, algorithm: lt.Algorithm) -> bool:
        """No tensor cores for single precision."""
        if self.types.any_core:
            return True
        flags = self.library.capability(algorithm, lt.CAP_ARITHMETIC, c_uint64)
        if not flags:
            return self.compute == lt.COMPUTE_F32_PEDANTIC
        return not flags[0] & (lt.TENSOR_CORES | lt.TF32_INPUT)

    def drawn(self) -> Iterator[lt.Algorithm]:
        """Configurations at random that the library says it can run, the draw always the same."""
        t = self.types
        kinds = [c_int(k) for k in (self.compute, t.scalars, t.factors, t.factors, t.results, t.results)]
        ids, count = (c_int * 256)(), c_int()
        self.library("MatmulAlgoGetIds", self.owner.handle, *kinds, c_int(256), ids, byref(count))
        configured = list[tuple[int, tuple[int, ...]]]()
        for number in ids[: count.value]:
            algorithm = lt.Algorithm()
            try:
                self.library("MatmulAlgoInit", self.owner.handle, *kinds, c_int(number), byref(algorithm))
            except lt.RefusedError:
                continue
            if self._plain(algorithm):
                configured += [(number, choice) for choice in self._choices(algorithm)]
        random.Random(0).shuffle(configured)
        left = _DRAWN
        for number, choice in configured[:_LOOKED]:
            built = self._configured(kinds, number, choice)
            if built is not None:
                left -= 1
                yield built
            if not left:
                return

    def _choices(self, algorithm: lt.Algorithm) -> list[tuple[int, ...]]:
        """Of tile, stages, split, reduction, swizzle."""

        def told(attribute: int) -> list[int]:
            return self.library.capability(algorithm, attribute, c_uint32) or [0]

        splits = [(1, 0)]
        if told(lt.CAP_SPLIT_K)[0]:
            schemes = [b for b in (1, 2, 4) if told(lt.CAP_REDUCTION)[0] & b]
            splits += [(n, s) for n in (2, 4, 8, 16) for s in schemes]
        swizzles = range(2 if told(lt.CAP_SWIZZLE)[0] else 1)
        every = product(told(lt.CAP_TILES), told(lt.CAP_STAGES), splits, swizzles)
        return [(tile, stages, *split, swizzle) for tile, stages, split, swizzle in every]

    def _configured(self, kinds: Sequence[Any], number: int, choice: Sequence[int]) -> lt.Algorithm | None:
        algorithm, found = lt.Algorithm(), lt.Found()
        names = (
            lt.CONFIG_TILE, lt.CONFIG_STAGES, lt.CONFIG_SPLIT_K, lt.CONFIG_REDUCTION, lt.CONFIG_SWIZZLE,
        )  # fmt: skip
        try:
            self.library("MatmulAlgoInit", self.owner.handle, *kinds, c_int(number), byref(algorithm))
            for name, value in zip(names, choice, strict=True):
                self.library.set("MatmulAlgoConfig", byref(algorithm), name, c_uint32(value))
            self.library(
                "MatmulAlgoCheck", self.owner.handle, self.description, *self._layouts, byref(algorithm),
                byref(found),
            )  # fmt: skip
        except lt.RefusedError:
            return None
        return algorithm if found.state == 0 and found.workspace <= _SPACE else None

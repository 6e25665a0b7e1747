"""Blocks that share the iterations of all tiles: right in the interpreter, where they run together; what is
planted is found."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mdh.ir.construct import add
from mdh.ir.dtype import I32
from mdh.ir.expr import Const
from mdh.ir.kernel import Atomic, Barrier, Comment, For, If, Let, Module, Stmt, Store, While
from mdh.ir.program import Program
from mdh.ir.walk import reads, rewritten
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.products import Product, computed, lowered, whole_numbers
from tests.atoms.warps import run

STREAM = """1: (de-)comp( {rows}, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @persistent {grid} @roles(load=1, math={math})
2: (de-)comp( ^, ^, 32 )
             ( A:SM[1,2]@copy(tma)@swizzle(64), B:SM[1,2]@copy(tma)@swizzle(64) ; C:RM[1,2]@combine(stream){store} )
             ( ^, ^, FOR.1 ) @stages(3)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 64, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma){more}
"""  # noqa: E501
PRODUCT = Product("bf16", "NN", 264, 136, 136)
ONE, TWO = {"rows": 64, "math": 1}, {"rows": 128, "math": 2}


@pytest.mark.parametrize("units", [1, 2, 4, 7, 60])
@pytest.mark.parametrize("store", ["", "@store(tma)"])
@pytest.mark.parametrize("groups", [ONE, TWO], ids=["one", "two"])
def test_parts_of_sums_meet(groups: dict[str, int], store: str, units: int) -> None:
    """In 15 or 9 tiles of 5 iterations: blocks have several tiles, a part of one, or one iteration."""
    grid, more = ("", "") if units % 2 else ("@order(grouped(2))", " @inflight(0)")
    text = STREAM.format(**groups, grid=grid, store=store, more=more)
    before, after = computed(PRODUCT.text, text, seed=units, units=units)
    np.testing.assert_array_equal(after["C"].astype(float), PRODUCT.expected(before))


@pytest.mark.parametrize("out", ["__bf16", "_Float16"])
def test_narrow_results_are_rounded_once(out: str) -> None:
    """Behind the sum of all parts, as the C says."""
    product = replace(PRODUCT, kind="f16", layout="NT", out=out)
    text = STREAM.format(**TWO, grid="", store="@store(tma)", more="")
    before, after = computed(product.text, text, seed=3, units=4)
    np.testing.assert_array_equal(after["C"].astype(float), product.expected(before))


ADDS = """void product(const __bf16 A[136][200], const __bf16 B[200][72], float C[136][72],
             const float bias[72]) {
  for (int i = 0; i < 136; i++)
    for (int j = 0; j < 72; j++) {
      float sum = C[i][j];
      for (int k = 0; k < 200; k++)
        sum += (float)A[i][k] * (float)B[k][j];
      C[i][j] = sum + bias[j] > 0 ? sum + bias[j] : 0;
    }
}
"""


def test_starts_and_epilogues_come_once() -> None:
    text = STREAM.format(**ONE, grid="", store="", more="").replace("^, ^ ;", "^, ^, ^ ;")
    text = text.replace(" ; C", ", ^ ; C")
    before, after = computed(ADDS, text, seed=2, units=5)
    a, b, c, bias = (before[x].astype(float) for x in ("A", "B", "C", "bias"))
    np.testing.assert_array_equal(after["C"], np.maximum(a @ b + c + bias, 0))


def test_text_compiles_without_spills() -> None:
    program, module = lowered(PRODUCT.text, STREAM.format(**TWO, grid="", store="@store(tma)", more=""))
    cubin = compile_cubin(emit(module, program), "sm_90a")
    assert cubin.warnings == ()
    assert cubin.spill_bytes == 0


# -- faults ------------------------------------------------------------------------------------

SMALL = replace(PRODUCT, m=136, n=72)
"""Six tiles of five iterations. Blocks take four or three."""
Change = Callable[[Stmt], Stmt]


def _without(kind: type, buffer: str = "", reason: str = "") -> Change:
    def change(s: Stmt) -> Stmt:
        gone = isinstance(s, kind) and buffer in getattr(s, "buffer", buffer)
        return Comment("gone") if gone and getattr(s, "reason", reason).startswith(reason) else s

    return change


def _is(s: Stmt, name: str) -> bool:
    return isinstance(s, Let) and s.name == name


def _more(name: str, count: int) -> Change:
    return lambda s: replace(s, value=add(s.value, count)) if isinstance(s, Let) and _is(s, name) else s


def _others(count: int) -> Change:
    def change(s: Stmt) -> Stmt:
        return replace(s, stop=add(s.stop, count)) if isinstance(s, For) and s.var == "other" else s

    return change


def _early(s: Stmt) -> Stmt:
    """Blocks say that a part is there before they write it."""
    if isinstance(s, If) and any(isinstance(x, Barrier) for x in s.then):
        flags = [x for x in s.then if isinstance(x, If)]
        return replace(s, then=(*flags, *(x for x in s.then if x not in flags)))
    return s


def _equal(s: Stmt) -> Stmt:
    return replace(s, value=Const(0, I32)) if isinstance(s, Atomic) else s


def _alone(s: Stmt) -> Stmt:
    return Comment("gone") if isinstance(s, Store) and any("parts" in name for name in reads(s)) else s


FAULTS = {
    "nobody awaits parts": _without(While), "no flag": _without(Store, "flags"),
    "no parts": _without(Store, "parts"), "parts are not added": _alone, "flags come first": _early,
    "equal tickets": _equal, "no barrier before the flag": _without(Barrier, reason="the warp group's"),
    "begins too late": _more("begin", 1), "ends too late": _more("end", 1),
    "ends too early": _more("end", -1), "a part too few": _others(-1), "a part too many": _others(1),
}  # fmt: skip


def _wrong(program: Program, module: Module, seed: int) -> bool:
    arrays = whole_numbers(program, seed)
    try:
        run(module, arrays, seed=seed)
    except (AssertionError, IndexError):
        return True
    return not np.array_equal(arrays["C"].astype(float), SMALL.expected(arrays))


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str) -> None:
    program, module = lowered(SMALL.text, STREAM.format(**ONE, grid="", store="", more=""), units=8)
    kernels = tuple(replace(k, body=rewritten(k.body, FAULTS[fault])) for k in module.kernels)
    assert kernels != module.kernels
    assert any(_wrong(program, replace(module, kernels=kernels), seed) for seed in range(12))

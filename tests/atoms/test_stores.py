"""Results that leave by the copy engine, and copies that blocks of a cluster share: right in the interpreter;
what is planted is found."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mdh.hardware import SyncScope
from mdh.ir.construct import add
from mdh.ir.copy_engine import Arrive, BoxCopy, BoxStore, InitTokens, StoreFence, StoreWait
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, map_children
from mdh.ir.kernel import Barrier, Comment, Stmt
from mdh.ir.matrix import StoreMatrix
from mdh.ir.walk import rewritten
from tests.atoms.blocks import swizzled_address
from tests.atoms.products import Product, computed, lowered, whole_numbers
from tests.atoms.warps import run

CLUSTER = """1: (de-)comp( {tile}, ^ ) ( ^, ^ ; ^ ) ( CLU.y, CLU.x, ^ ) {grid}
2: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( {blocks}, ^ ) @roles(load=1, math=2)
3: (de-)comp( ^, ^, 64 ) ( A:SM[1,2]@copy(tma{a})@swizzle(128), B:SM[1,2]@copy(tma{b})@swizzle(128) ; C:RM[1,2]@store(tma) ) ( ^, ^, ^ ) @stages({slots})
4: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
5: (de-)comp( 64, 64, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""  # noqa: E501
ALONE = """1: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) {grid} @roles(load=1, math={math})
2: (de-)comp( ^, ^, {depth} ) ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2]@store(tma{sub}) ) ( ^, ^, ^ ) @stages(2)
3: (de-)comp( {rows}, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, {columns}, {k} ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""  # noqa: E501
ROWS = {"tile": "256, 64", "blocks": "BLK.x, ^", "a": "", "b": ", multicast"}
COLUMNS = {"tile": "128, 128", "blocks": "^, BLK.x", "a": ", multicast", "b": ""}
BOTH = {"tile": "256, 128", "blocks": "BLK.y, BLK.x", "a": ", multicast", "b": ", multicast"}
PERSISTENT = "@persistent @order(hilbert)"


@pytest.mark.parametrize("layout", ["NN", "TT"])
@pytest.mark.parametrize("shared", [ROWS, COLUMNS, BOTH], ids=["rows", "columns", "both"])
@pytest.mark.parametrize("grid", ["", PERSISTENT], ids=["grid", "persistent"])
def test_clusters_share_copies(layout: str, shared: dict[str, str], grid: str) -> None:
    product = Product("bf16", layout, 264, 136, 136)
    slots = 2 if grid else 3
    before, after = computed(product.text, CLUSTER.format(**shared, grid=grid, slots=slots), seed=3)
    np.testing.assert_array_equal(after["C"].astype(float), product.expected(before))


@pytest.mark.parametrize("shared", [ROWS, COLUMNS, BOTH], ids=["rows", "columns", "both"])
@pytest.mark.parametrize("grid", ["", PERSISTENT, "@persistent"], ids=["grid", "hilbert", "persistent"])
def test_the_grid_may_be_one_cluster(shared: dict[str, str], grid: str) -> None:
    """The tiles over CLU are the whole product, and some blocks have no rows of their own."""
    m, n = (int(x) for x in shared["tile"].split(","))
    m -= 56 if m > 128 else 0
    product = Product("bf16", "NN", m, n, 136)
    text = CLUSTER.format(**{**shared, "tile": f"{m}, {n}"}, grid=grid, slots=2)
    launch = lowered(product.text, text)[1].kernels[0].launch
    assert np.prod(launch.cluster) == np.prod(launch.grid) == (4 if shared is BOTH else 2)
    before, after = computed(product.text, text, seed=4)
    np.testing.assert_array_equal(after["C"].astype(float), product.expected(before))


@pytest.mark.parametrize("sub", ["", ", subtile=16", ", subtile=64", ", subtile=8"])
@pytest.mark.parametrize(("kind", "out"), [("bf16", ""), ("bf16", "__bf16"), ("f16", "_Float16"), ("i8", "")])
@pytest.mark.parametrize(("math", "columns"), [(1, 64), (2, 64), (2, 32)])
def test_results_leave_in_pieces(sub: str, kind: str, out: str, math: int, columns: int) -> None:
    product = Product(kind, "NT", 200, 136, 144, out)
    if columns == 32 and "64" in sub:
        pytest.skip("more columns than an atom has")
    depth, k = (128, 32) if kind == "i8" else (64, 16)
    values = {"grid": "@persistent", "math": math, "rows": 128 // math, "columns": columns}
    text = ALONE.format(**values, depth=depth, k=k, sub=sub)
    before, after = computed(product.text, text, seed=5, units=2)
    np.testing.assert_array_equal(after["C"].astype(float), product.expected(before))


def _without(kind: type, scope: SyncScope | None = None) -> Callable[[Stmt], Stmt]:
    def change(s: Stmt) -> Stmt:
        gone = isinstance(s, kind) and (scope is None or getattr(s, "scope", None) is scope)
        return Comment("gone") if gone else s

    return change


def _sooner(s: Stmt) -> Stmt:
    return replace(s, pending=s.pending + 1) if isinstance(s, StoreWait) and not s.stored else s


def _unawaited(s: Stmt) -> Stmt:
    return Comment("gone") if isinstance(s, StoreWait) and s.stored else s


def _own_only(s: Stmt) -> Stmt:
    return replace(s, rank=None) if isinstance(s, Arrive) else s


def _fewer(s: Stmt) -> Stmt:
    return replace(s, arrivals=s.arrivals // 2) if isinstance(s, InitTokens) and s.arrivals > 1 else s


def _aside(s: Stmt) -> Stmt:
    return replace(s, start=s.start[::-1]) if isinstance(s, BoxStore) else s


def _alone(s: Stmt) -> Stmt:
    return replace(s, peers=None) if isinstance(s, BoxCopy) else s


FAULTS = {
    "no fence": _without(StoreFence), "no barrier": _without(Barrier, SyncScope.GROUP), "too soon": _sooner,
    "not awaited": _unawaited, "own tokens only": _own_only, "too few arrivals": _fewer, "elsewhere": _aside,
    "not shared": _alone, "no end of the cluster": _without(Barrier, SyncScope.CLUSTER),
}  # fmt: skip


def _matrices(change: Callable[[StoreMatrix], StoreMatrix]) -> Callable[[Stmt], Stmt]:
    return lambda s: change(s) if isinstance(s, StoreMatrix) else s


def _further(axis: int, count: int) -> Callable[[Stmt], Stmt]:
    def change(s: StoreMatrix) -> StoreMatrix:
        index = list(s.index)
        index[axis] = add(index[axis], count)
        return replace(s, index=tuple(index))

    return _matrices(change)


def _lane(before: int, after: int) -> Callable[[Stmt], Stmt]:
    """Rows are said by lanes whose numbers are taken modulo another number."""

    def changed(e: Expr) -> Expr:
        e = map_children(e, changed)
        taken = isinstance(e, Binary) and e.op == "%" and e.right == Const(before, I32)
        return replace(e, right=Const(after, I32)) if isinstance(e, Binary) and taken else e

    return _matrices(lambda s: replace(s, index=tuple(map(changed, s.index))))


def _turned(s: StoreMatrix) -> StoreMatrix:
    return replace(s, index=(*s.index[:-2], s.index[-1], s.index[-2]))


MATRIX_FAULTS = {
    "a row further": _further(-2, 1), "matrices further": _further(-2, 8), "columns further": _further(-1, 8),
    "another slot": _further(-3, 1), "rows of one matrix": _lane(16, 8),
    "columns of one matrix": _lane(32, 16),
    "rows and columns": _matrices(_turned), "no matrices": _without(StoreMatrix),
    "half of them": _matrices(lambda s: replace(s, src=replace(s.src, lanes=4))),
}  # fmt: skip


@pytest.mark.parametrize("span", [0, 32, 64, 128])
def test_rows_of_a_matrix_lie_in_banks_of_their_own(span: int) -> None:
    """All banks together are 128 bytes. Without a swizzle only rows of 16 bytes do."""
    for chunk in range(max(1, span // 16)):
        at = np.arange(8) * (span or 16) + 16 * chunk
        assert len({int(a) // 16 % 8 for a in swizzled_address(at, span)}) == 8


@pytest.mark.parametrize("fault", [*FAULTS, *MATRIX_FAULTS])
def test_planted_faults_are_found(fault: str) -> None:
    product = Product("bf16", "NN", 512, 136, 264, "__bf16" if fault in MATRIX_FAULTS else "")
    text = CLUSTER.format(**ROWS, grid=PERSISTENT, slots=2).replace("@store(tma)", "@store(tma, subtile=16)")
    program, module = lowered(product.text, text)
    change = (FAULTS | MATRIX_FAULTS)[fault]
    kernels = tuple(replace(k, body=rewritten(k.body, change)) for k in module.kernels)
    assert kernels != module.kernels
    for seed in range(12):
        arrays = whole_numbers(program, seed)
        wanted = product.expected(arrays)
        try:
            run(replace(module, kernels=kernels), arrays, seed=seed)
        except AssertionError:
            return
        if not np.array_equal(arrays["C"].astype(float), wanted):
            return
    pytest.fail("not found")

"""ptxas has no remark (C75xx) about atoms of warp groups: they do not run one after another, and it adds no
waits. Its reason would be registers of results that are filled between two atoms."""

import re
from dataclasses import replace

import pytest

from mdh.machine import load_machine
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.target.text import KernelText
from tests.atoms.products import Product, lowered

SCHEDULE = """1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) {grid}
2: (de-)comp( ^, ^, {depth} )
   ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2] ) ( ^, ^, FOR.1 ) {loop}
3: (de-)comp( {rows}, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, {columns}, {k} ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""
ARCH = load_machine("h100").arch
ROLES = "@roles(load=1)"
LOOPS = {"one turn": (1, ""), "two turns": (2, "@stages(2)"), "unrolled": (4, "@stages(2) @unroll"),
         "unrolled by two": (5, "@stages(2) @unroll(2)")}  # fmt: skip


def emitted(kind: str, grid: str, turns: int, loop: str, rows: int, columns: int) -> KernelText:
    depth, k = (64, 16) if kind == "bf16" else (128, 32)
    product = Product(kind, "NT", 256, 256, depth * turns)
    text = SCHEDULE.format(grid=grid, depth=depth, loop=loop, rows=rows, columns=columns, k=k)
    program, module = lowered(product.text, text, "h100")
    return emit(module, program)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(("kind", "grid", "rows", "columns"), [
    ("bf16", ROLES, 64, 64), ("i8", f"{ROLES} @persistent", 128, 64), ("bf16", "", 128, 128),
    ("i8", "", 64, 32), ("bf16", ROLES, 64, 128),
])  # fmt: skip
def test_no_remarks(kind: str, grid: str, rows: int, columns: int, loop: str) -> None:
    text = emitted(kind, grid, *LOOPS[loop], rows, columns)
    # a single atom along m and n waits for its own registers
    assert ("wgmma_settle" in text.source) == (rows > 64 or columns < 128)
    assert compile_cubin(text, ARCH).warnings == ()


def test_without_settled_registers_there_are_remarks() -> None:
    """What the test above would find."""
    text = emitted("bf16", ROLES, 1, "", 64, 64)
    bare = re.sub(r"^ *wgmma_settle<\d+>\(\w+\);\n", "", text.source, flags=re.M)
    assert bare != text.source
    assert any("C75" in line for line in compile_cubin(replace(text, source=bare), ARCH).warnings)

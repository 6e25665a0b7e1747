"""What a kernel with tokens does first, and edges that need no version of their own."""

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.copy_engine import BoxCopy, FetchMap, InitTokens
from mdh.ir.kernel import AwaitKernels, Barrier, Comment, Kernel
from mdh.ir.walk import statements
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

C = """void mm(__bf16 A[{m}][128], __bf16 B[128][{n}], const float bias[{n}], float C[{m}][{n}]) {{
  for (int i = 0; i < {m}; i++) for (int j = 0; j < {n}; j++) {{
    float sum = 0.0f;
    for (int k = 0; k < 128; k++) sum += (float)A[i][k] * (float)B[k][j];
    C[i][j] = {value}; }} }}
"""
STEPS = """1: (de-)comp( 64, 64, ^ ) ( ^, ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1)
2: (de-)comp( ^, ^, 64 ) ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128), ^ ; C:RM[1,2]{store} ) ( ^, ^, ^ ) @stages(2)
3: (de-)comp( 64, 64, 16 ) ( ^, ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""  # noqa: E501
BOXES = "@store(tma)"
PLAIN, BIASED = "sum", "sum + bias[j]"


def kernel(m: int, n: int, value: str, store: str) -> Kernel:
    program = read_program(Source("mm.c", C.format(m=m, n=n, value=value)))
    steps = STEPS.format(store=store)
    if value == PLAIN:
        # an array that nothing reads has no place in the lists
        steps = steps.replace("^, ^, ^ ; ", "^, ^ ; ").replace(", ^ ; C:RM", " ; C:RM")
    plan = check(program, parse_schedule(Source("s.mdh", steps)), load_machine("h100"), "cuda")
    return lower(plan).kernels[0]


def versions(found: Kernel) -> int:
    texts = [s.text for s in statements(found.body) if isinstance(s, Comment)]
    return texts.count("whole tiles") + texts.count("tiles cut by the edge")


def test_tokens_begin_and_maps_are_fetched_before_the_kernels_in_front_end() -> None:
    body = kernel(128, 128, PLAIN, BOXES).body
    order = {}
    for n, s in enumerate(body):
        for kind in (FetchMap, InitTokens, AwaitKernels, BoxCopy):
            if any(isinstance(x, kind) for x in statements((s,))):
                order.setdefault(kind, n)
    assert order[FetchMap] == order[InitTokens] < order[AwaitKernels] < order[BoxCopy]
    assert isinstance(body[order[AwaitKernels] - 1], Barrier)


def test_every_map_is_fetched() -> None:
    found = kernel(128, 128, PLAIN, BOXES)
    fetched = {s.map for s in statements(found.body) if isinstance(s, FetchMap)}
    assert fetched == {m.name for m in found.maps} != set()


@pytest.mark.parametrize(
    ("value", "store", "count"), [(PLAIN, BOXES, 0), (BIASED, BOXES, 2), (PLAIN, "", 2)], ids=str
)
def test_edges(value: str, store: str, count: int) -> None:
    """The copy engine brings zeros from behind the edge and stores nothing there. An epilogue that reads an
    array needs guards, and so do stores of threads."""
    assert versions(kernel(104, 136, value, store)) == count


def test_no_edge_needs_no_versions() -> None:
    assert versions(kernel(128, 128, BIASED, BOXES)) == 0

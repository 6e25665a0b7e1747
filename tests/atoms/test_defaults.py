"""Default schedules of products of matrices use tensor cores where the C and the machine allow it: legal for
every size, right in the interpreter, without spills."""

import os
from random import Random

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.kernel import Module
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.atoms import find_matrices
from mdh.schedule.default.contraction_atoms import atom_outline, best_plan
from mdh.schedule.default.contraction_groups import best_group_plan
from mdh.schedule.default.group_outline import group_outline
from mdh.schedule.default.group_products import find_groups
from mdh.schedule.default.joining import joining_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.holes import holes
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.blocks import numpy_type
from tests.atoms.products import ALLOWED, EIGHTHS, TYPES, Product, factor_types, read, whole_numbers
from tests.atoms.warps import run

COUNT = int(os.environ.get("MDH_RANDOM_DEFAULTS", "60"))
SEED = int(os.environ.get("MDH_SEED", "20261125"))
KINDS = tuple(k for k in TYPES if k != "f32")
MACHINES = ("h100", "h200", "a100", "rtx4090")
LAYOUTS = ("NN", "NT", "TN", "TT")
NARROW = {"bf16": "__bf16", "f16": "_Float16"}


def defaulted(c: str, machine: str, target: str = "cuda", **options: bool) -> tuple[Program, str, Module]:
    """The program, its default schedule as a text, and what that is lowered to."""
    program, on = read_program(Source("p.c", c), **options), load_machine(machine)
    schedule = default_schedule(program, on, target)
    text = print_schedule(schedule)
    assert not holes(schedule)
    assert parse_schedule(Source("<default>", text)) == schedule
    return program, text, lower(check(program, schedule, on, target))


def grouped(rng: Random, most: int) -> Product:
    """Sizes that the copy engine and atoms of warp groups take: rows of whole 16 bytes, mostly at least 64 on
    a side and whole slices along k."""
    kind = rng.choice(("bf16", "bf16", "f16", "i8", "u8"))
    bytewise = kind in ("i8", "u8")
    row = 16 if bytewise else 8
    depth = 128 if bytewise else 64
    m, n, k = (int(2 ** rng.uniform(np.log2(low), np.log2(most))) // row * row for low in (64, 64, depth))
    if rng.random() < 0.7:
        k = max(depth, k // depth * depth)
    m, n = (max(row, x - rng.randrange(8) if rng.random() < 0.2 else x) for x in (m, n))
    layout = "NT" if bytewise else rng.choice(LAYOUTS)
    return Product(kind, layout, m, n, k, rng.choice(("", NARROW.get(kind, ""))))


def drawn(rng: Random, most: int) -> Product:
    """Sizes of any kind: multiples of what atoms like, or not."""
    if rng.random() < 0.5:
        return grouped(rng, most)
    kind = rng.choice(KINDS)
    sizes = [int(2 ** rng.uniform(0, np.log2(most))) for _ in range(3)]
    if rng.random() < 0.6:
        step = rng.choice((4, 8, 16))
        sizes = [max(step, size // step * step) for size in sizes]
    return Product(kind, rng.choice(LAYOUTS), *sizes, rng.choice(("", NARROW.get(kind, ""))))


@pytest.mark.parametrize("number", range(COUNT))
def test_legal_for_every_size(number: int) -> None:
    rng = Random(SEED + number)
    product, machine = drawn(rng, 5000), rng.choice((*MACHINES, "h100", "h200"))
    _, text, _ = defaulted(product.text, machine)
    known = product.kind != "f64" or machine != "rtx4090"
    known = known and (product.kind not in EIGHTHS or machine != "a100")
    least = {"f64": 4, "tf32": 4, "bf16": 8, "f16": 8, **dict.fromkeys(EIGHTHS, 32)}.get(product.kind, 16)
    side = (8, 8) if product.kind == "f64" and machine == "a100" else (8, 16)
    fits = min(product.m, product.n) >= side[0] and max(product.m, product.n) >= side[1]
    legal = known and fits and product.k >= least
    assert legal or "MMA" not in text, product
    # of small products in f64 the estimate says which way is faster
    large = product.kind != "f64" or min(product.m, product.n, product.k) >= 512
    assert "MMA" in text or not (legal and large), product


def test_many_of_the_drawn_defaults_are_of_warp_groups() -> None:
    """What is drawn above finds mistakes in them only if there are enough."""
    found = 0
    for number in range(100):
        rng = Random(SEED + number)
        product, on = drawn(rng, 5000), load_machine(rng.choice((*MACHINES, "h100", "h200")))
        program = read_program(Source("p.c", product.text))
        found += "wgmma" in print_schedule(default_schedule(program, on, "cuda"))
    assert found >= 20, found


def _loops(dims: str, body: str) -> str:
    return "".join(f"for (int {d} = 0; {d} < {d.upper()}; {d}++) " for d in dims) + body


FORMS = {
    "batched": ("A[X][I][K], B[X][K][J], C[X][I][J]", "xij", "A[x][i][k] * B[x][k][j]", "k", "C[x][i][j]"),
    "batch inside": ("A[I][X][K], B[K][X][J], C[I][X][J]", "ixj", "A[i][x][k] * B[k][x][j]", "k",
                     "C[i][x][j]"),
    "batch last": ("A[I][K][X], B[K][J][X], C[X][I][J]", "xij", "A[i][k][x] * B[k][j][x]", "k", "C[x][i][j]"),
    "one batched": ("A[X][I][K], B[K][J], C[X][I][J]", "xij", "A[x][i][k] * B[k][j]", "k", "C[x][i][j]"),
    "two sums": ("A[I][X][K], B[X][K][J], C[I][J]", "ij", "A[i][x][k] * B[x][k][j]", "xk", "C[i][j]"),
    "itself": ("A[I][K], B[1], C[I][J]", "ij", "A[i][k] * A[j][k]", "k", "C[i][j]"),
    "larger arrays": ("A[I + 8][K + 8], B[K + 3][J + 8], C[I][J]", "ij", "A[i][k] * B[k][j]", "k", "C[i][j]"),
    "moved": ("A[I + 8][K + 8], B[K + 3][J + 8], C[I][J]", "ij", "A[i + 1][k + 2] * B[k][j]", "k", "C[i][j]"),
    "results turned": ("A[I][K], B[K][J], C[J][I]", "ij", "A[i][k] * B[k][j]", "k", "C[j][i]"),
    "four dimensions": ("A[I][X][K], B[K][Y][J], C[I][X][Y][J]", "ixyj", "A[i][x][k] * B[k][y][j]", "k",
                        "C[i][x][y][j]"),
}  # fmt: skip
AROUND = {
    "sum": "{C} = sum;", "sum added": "{C} += sum;", "scaled": "{C} = alpha * sum + beta * {C};",
    "bias": "{S} v = sum + bias[j]; {C} = v > 0 ? v : 0;",
}  # fmt: skip


def form(rng: Random, name: str, kind: str, around: str) -> str:
    total, of = TYPES[kind][1], factor_types(kind)
    arrays, results, product, sums, c = FORMS[name]
    sizes = {d: rng.choice((16, 24, 32, 40, 64, 100, 128)) for d in "IJKXY"}
    sizes |= {"X": rng.choice((1, 3, 16)), "Y": rng.choice((2, 5))}
    if name == "itself":
        sizes["J"] = sizes["I"]
    product = " * ".join(read(kind, x) for x in product.split(" * "))
    end = AROUND[around].replace("{C}", c).replace("{S}", total)
    body = f"{{ {total} sum = 0; {_loops(sums, f'sum += {product};')} {end} }}"
    parameters = ", ".join(
        f"{total} {a}" if a.startswith("C") else f"const {of[a[0]]} {a}" for a in arrays.split(", ")
    )
    defines = "".join(f"#define {d} {n}\n" for d, n in sizes.items())
    scalars = f"{total} alpha, {total} beta, const {total} bias[J]"
    head = f"#include <mdh.h>\n{defines}void form({parameters}, {scalars}) {{{ALLOWED.get(kind, '')}"
    return f"{head}\n{_loops(results, body)} }}\n"


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", FORMS)
def test_other_products(name: str, around: str) -> None:
    rng, found = Random(f"{SEED} {name} {around}"), 0
    for kind in KINDS:
        c = form(rng, name, kind, around)
        for machine in ("h100", "a100"):
            try:
                _, text, _ = defaulted(c, machine)
            except Failed as failed:
                pytest.fail(f"{failed}\n{c}")
            found += "MMA" in text
    assert bool(found) == (name != "moved"), name


def by_atoms(product: Product, machine: str) -> tuple[Program, str, Module]:
    """As `defaulted`, also where the estimate says that a small product is faster without tensor cores."""
    program, on = read_program(Source("p.c", product.text)), load_machine(machine)
    shape = Shape(program, program.stages[0])
    found, joining = find_matrices(shape, on, "cuda"), joining_of(shape, on, "cuda")
    assert found is not None
    best = best_plan(shape, found, on, joining)
    assert best is not None
    section = atom_outline(shape, found, on, best[0]).section(program.stages[0].name)
    schedule = Schedule((section,), target=machine, program=program.name)
    return program, print_schedule(schedule), lower(check(program, schedule, on, "cuda"))


@pytest.mark.parametrize("number", range(12))
def test_right_at_small_sizes(number: int) -> None:
    rng = Random(SEED + number)
    kind, layout = KINDS[number % len(KINDS)], LAYOUTS[number % 4]
    sizes = [rng.randrange(16, 70) for _ in range(2)]
    product = Product(kind, layout, *sizes, rng.choice((64, 80, 90, 300)))
    older = "rtx4090" if kind in EIGHTHS else "a100"
    program, text, module = by_atoms(product, rng.choice(("h100", older)))
    before = whole_numbers(program, number)
    after = {name: a.copy() for name, a in before.items()}
    run(module, after, {}, number)
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before), text)


def by_warp_groups(product: Product, machine: str) -> tuple[Program, str, Module] | None:
    """The default that warp groups would have, also where the estimate says that another one is faster; None
    if they cannot compute the product."""
    program, on = read_program(Source("p.c", product.text)), load_machine(machine)
    shape = Shape(program, program.stages[0])
    found = find_groups(shape, on, "cuda")
    best = None if found is None else best_group_plan(shape, found, on, joining_of(shape, on, "cuda"))
    if found is None or best is None:
        return None
    section = group_outline(shape, on, best[0]).section(program.stages[0].name)
    schedule = Schedule((section,), target=machine, program=program.name)
    return program, print_schedule(schedule), lower(check(program, schedule, on, "cuda"))


@pytest.mark.parametrize("number", range(int(os.environ.get("MDH_RANDOM_GROUPS", "12"))))
def test_warp_groups_are_right_at_small_sizes(number: int) -> None:
    rng = Random(SEED + number)
    made = None
    while made is None:
        product = grouped(rng, 330)
        made = by_warp_groups(product, rng.choice(("h100", "h200")))
    program, text, module = made
    before = whole_numbers(program, number)
    after = {name: a.copy() for name, a in before.items()}
    run(module, after, {}, number)
    want = product.expected(before)
    if product.out:
        want = want.astype(numpy_type(program.buffer_of["C"].dtype)).astype(np.float64)
    np.testing.assert_array_equal(after["C"].astype(np.float64), want, text)


SAMPLE = [(kind, layout, machine) for kind in ("bf16", "f64", "i8") for layout in ("NN", "TT", "NT")
          for machine in ("h100", "a100")]  # fmt: skip
SAMPLE += [("tf32", layout, machine) for layout in ("NN", "NT") for machine in ("h100", "a100")]
SAMPLE += [("f8mixed", layout, machine) for layout in ("NN", "NT") for machine in ("h100", "rtx4090")]


@pytest.mark.parametrize(("kind", "layout", "machine"), SAMPLE)
def test_no_spills(kind: str, layout: str, machine: str) -> None:
    for m, n, k in ((4096, 4096, 4096), (1000, 904, 1104), (72, 2000, 4100)):
        program, text, module = defaulted(Product(kind, layout, m, n, k).text, machine)
        cubin = compile_cubin(emit(module, program), load_machine(machine).arch)
        assert cubin.warnings == ()
        # there ptxas makes conversions and atoms of f16 of warps' atoms, and keeps a few addresses in memory
        unpacked = kind == "f8mixed" and machine == "h100" and "wgmma" not in text
        assert cubin.spill_bytes <= (16 if unpacked else 0), text


@pytest.mark.parametrize(
    ("kind", "layout", "size", "result"),
    [
        ("bf16", "NN", (208, 20000, 8192), "float"), ("bf16", "NT", (72, 4096, 4096), "__bf16"),
        ("f16", "NT", (88, 8192, 2048), "_Float16"), ("bf16", "NN", (72, 4096, 4096), "__bf16"),
        ("f16", "NN", (32, 4096, 4096), "_Float16"), ("bf16", "NT", (16, 2048, 1024), "__bf16"),
    ],
)  # fmt: skip
def test_low_products(kind: str, layout: str, size: tuple[int, int, int], result: str) -> None:
    """A cluster that spans a side leaves one axis of the grid, which has no order. ptxas serialised atoms
    whose results were converted one by one."""
    program, _, module = defaulted(Product(kind, layout, *size, result).text, "h100")
    cubin = compile_cubin(emit(module, program), "sm_90a")
    assert cubin.warnings == () and cubin.spill_bytes == 0


def test_not_where_c_keeps_order() -> None:
    c = Product("f64", "NN", 256, 256, 256).text
    assert "MMA" not in defaulted(c, "h100", strict_fp=True)[1]
    assert "MMA" in defaulted(Product("i8", "NN", 256, 256, 256).text, "h100", strict_fp=True)[1]


def test_not_where_the_target_has_none() -> None:
    c = Product("bf16", "NN", 256, 256, 256).text
    assert "MMA" not in defaulted(c, "h100", "opencl")[1]
    assert "MMA" not in defaulted(c, "v100")[1]

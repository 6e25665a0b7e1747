"""Default schedules of einsums that no product of matrices is like: sums that cross two arrays, diagonals."""

import re
from dataclasses import replace
from math import ceil
from random import Random

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.einsum.read import bound_text, read_bound
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.schedule.default import contraction_cpu, default_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.random_sums import random_sum


def _program(text: str, sizes: dict[str, int]) -> Program:
    return read_bound(bound_text(Source("<einsum>", text), sizes))


def _steps(text: str, machine: str | Machine = "h100", target: str = "cuda", **sizes: int) -> str:
    """The derived schedule, which is legal."""
    program = _program(text, sizes)
    model = load_machine(machine) if isinstance(machine, str) else machine
    schedule = default_schedule(program, model, target)
    assert lower(check(program, schedule, model, target)).kernels
    return " ".join(print_schedule(schedule).split())


def _first(steps: str) -> list[str]:
    """Tiles of the first step, by dimension."""
    found = re.search(r"1: \(de-\)comp\( (.*?) \)", steps)
    assert found is not None
    return found[1].split(", ")


def test_blocks_share_every_dimension_of_a_sum() -> None:
    """Each input is contiguous along one of two dimensions. Blocks and threads take whole sectors of both."""
    steps = _steps("ab,ba->", a=2048, b=2048)
    assert _first(steps) == ["8", "^"]
    assert "( BLK.x, ^ )" in steps
    assert "( in0:RM[1,2], in1:RM[1,2] ; ^ )" in steps


def test_blocks_share_as_many_dimensions_as_fill_the_grid() -> None:
    tiles = _first(_steps("abc,cba->", a=64, b=200, c=64))
    blocks = ceil(64 / int(tiles[0])) * ceil(200 / int(tiles[1]))
    assert 2 * load_machine("h100").units <= blocks <= 4 * load_machine("h100").units
    assert int(tiles[0]) % 8 == 0, "the other input is contiguous along it"


def test_sums_down_columns_do_likewise() -> None:
    assert "( ^, ^, BLK.x )" in _steps("abc,bac->c", a=64, b=64, c=64)


def test_blocks_of_little_work_share_no_further_dimension() -> None:
    assert "BLK" not in _steps("ab,ba->", a=20, b=20)


@pytest.mark.parametrize("text", ["aab,bc->ac", "ab,bcc->ac"])
def test_no_box_holds_a_diagonal(text: str) -> None:
    """A thread reads it where it lies, one element along the diagonal at a time, as vectors along the sum."""
    steps = _steps(text, a=256, b=256, c=256)
    place = text.replace("aab", "bcc").index("bcc") // 3
    assert not re.search(rf"in{place}:SM", steps)
    before, _, after = steps.partition(f"in{place}:RM[1,2,3]")
    assert after
    taken = re.findall(r"\(de-\)comp\( (.*?) \)", before)[-1].split(", ")
    assert taken["ac".index("a" if "aab" in text else "c")] == "1"


def test_small_tiles_fill_the_machine_where_a_diagonal_is_read() -> None:
    tiles = [int(tile) for tile in _first(_steps("aab,bc->ac", a=256, b=256, c=256))]
    assert np.prod([256 / tile for tile in tiles]) >= 128


def test_a_single_element_of_a_diagonal_has_a_box() -> None:
    assert "in0:SM[2,3,4,1]" in _steps("abbc,cd->ad", a=64, b=32, c=64, d=64)


@pytest.mark.parametrize("kind", ["half", "double", "float"])
def test_tensor_cores_get_no_box_of_a_diagonal(kind: str) -> None:
    """It would not fit shared memory."""
    assert "MMA" not in _steps(f"aab,bc->ac : {kind}", a=256, b=256, c=256)


def test_tensor_cores_get_single_elements_of_a_diagonal() -> None:
    assert "MMA" in _steps("abbc,cd->ad : half", a=64, b=32, c=64, d=64)


CASES = (
    ("ab,ba->", {"a": 70, "b": 90}),
    ("abc,cba->", {"a": 24, "b": 30, "c": 16}),
    ("abc,bac->c", {"a": 24, "b": 40, "c": 9}),
    ("aab,bc->ac", {"a": 33, "b": 20, "c": 21}),
    ("ab,bcc->ac", {"a": 18, "b": 20, "c": 19}),
    ("aabd,bdcc->ac", {"a": 17, "b": 4, "d": 6, "c": 9}),
    ("bbc,bc->c", {"b": 40, "c": 20}),
    ("abbc,cd->ad", {"a": 17, "b": 4, "c": 12, "d": 9}),
)


@pytest.mark.parametrize(("text", "sizes"), CASES, ids=[text for text, _ in CASES])
def test_they_are_right(text: str, sizes: dict[str, int]) -> None:
    """The schedule of a GPU, on integers."""
    _assert_right(
        _program(f"{text} : int", sizes), text, sizes, load_machine("oclgrind"), "opencl", "oclgrind"
    )


def _assert_right(
    program: Program, text: str, sizes: dict[str, int], machine: Machine, target: str, device: str
) -> None:
    plan = check(program, default_schedule(program, machine, target), machine, target)
    rng = np.random.default_rng(5)
    operands, result = text.split("->")
    arrays = {
        f"in{n}": rng.integers(-9, 9, [sizes[x] for x in letters]).astype(np.int32)
        for n, letters in enumerate(operands.split(","))
    }
    want = np.einsum(text, *arrays.values())
    arrays["out"] = np.zeros([sizes[x] for x in result] or [1], np.int32)
    open_device(device).build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert (arrays["out"].reshape(want.shape) == want).all()


CPUS = (load_machine("generic-cpu"), replace(load_machine("generic-cpu"), vector_bytes=64, units=2))


@pytest.mark.parametrize("cpu", CPUS, ids=["32 bytes", "64 bytes"])
def test_vectors_go_along_what_factors_are_contiguous_along(cpu: Machine) -> None:
    """Otherwise one factor is turned around as it is packed. Results are stored apart, which costs less, but
    for short sums."""
    long = _steps("ba,cb->ac", cpu, "c", a=512, b=512, c=512)
    assert "in0:SM[1,2]" in long
    assert "out:RM[2,1]" in long
    short = _steps("ba,cb->ac", cpu, "c", a=4000, b=16, c=512)
    assert "in1:SM[2,1]" in short
    assert "out:RM[1,2]" in short


def test_neighbours_of_a_product_are_one_dimension_on_a_cpu() -> None:
    steps = _steps("abcd,cdef->abef", CPUS[1], "c", **dict.fromkeys("abcdef", 24))
    assert "fuse a, b fuse e, f fuse c, d" in steps


def test_columns_of_two_vectors_are_one_panel() -> None:
    """The second vector has idle lanes, but loads of rows serve both."""
    steps = _steps("abcd,cdef->feba", CPUS[1], "c", **dict.fromkeys("abcdef", 24))
    packed = re.findall(r"\(de-\)comp\( (.*?) \)", steps.partition("in1:SM")[0])[-1]
    assert packed.split(", ")[0] == "^"


def test_groups_share_columns_before_rows() -> None:
    """Each group packs its own columns, so parts of the rows would pack all of them again."""
    rows, columns, _ = _first(_steps("aab,bc->ac", CPUS[1], "c", a=256, b=256, c=256))
    assert (rows, columns) == ("^", "64")
    rows, columns, _ = _first(_steps("ab,bc->ac", CPUS[0], "c", a=4096, b=256, c=32))
    assert int(rows) < 1024, "two panels would leave most cores idle"


@pytest.mark.parametrize(("cpu", "lanes"), [(CPUS[0], 8), (CPUS[1], 16)], ids=["32 bytes", "64 bytes"])
def test_rows_that_share_a_vector_are_summed_at_once(cpu: Machine, lanes: int) -> None:
    steps = _steps("ab,b->a", cpu, "c", a=4096, b=4096)
    assert f"( ^, {lanes} ) ( ^, ^ ; out:RM[1] )" in steps
    assert "( 8, ^ )" in steps
    assert "out:RM" not in _steps("ab->a", cpu, "c", a=4096, b=4096), "nothing is shared"


def test_sums_and_maps_across_orders_go_by_small_tiles() -> None:
    assert "( 64, 16 )" in _steps("ab,ba->", CPUS[1], "c", a=2048, b=2048)
    assert "( 16, 32 ) ( in0:SM[2,1] ; ^ )" in _steps("ba->ab", CPUS[1], "c", a=500, b=500)
    assert "SM" not in _steps("ab,ba->ab", CPUS[1], "c", a=500, b=500), "one factor is read along"


@pytest.mark.parametrize("cpu", CPUS, ids=["32 bytes", "64 bytes"])
@pytest.mark.parametrize("seed", range(6))
def test_random_sums_are_right_on_a_cpu(seed: int, cpu: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """On integers. Small products are shared as large ones are."""
    monkeypatch.setattr(contraction_cpu, "ALONE", 0)
    text, sizes = random_sum(Random(f"sums {seed}"))
    program = _program(f"{text} : int", sizes)
    _assert_right(program, text, sizes, cpu, "c", "c")

"""Default schedules of einsums that no product of matrices is like: sums that cross two arrays, diagonals."""

import re
from math import ceil

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.einsum.read import bound_text, read_bound
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit


def _program(text: str, sizes: dict[str, int]) -> Program:
    return read_bound(bound_text(Source("<einsum>", text), sizes))


def _steps(text: str, machine: str = "h100", target: str = "cuda", **sizes: int) -> str:
    """The derived schedule, which is legal."""
    program, model = _program(text, sizes), load_machine(machine)
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
    program, machine = _program(f"{text} : int", sizes), load_machine("oclgrind")
    plan = check(program, default_schedule(program, machine, "opencl"), machine, "opencl")
    rng = np.random.default_rng(5)
    operands, result = text.split("->")
    arrays = {
        f"in{n}": rng.integers(-9, 9, [sizes[x] for x in letters]).astype(np.int32)
        for n, letters in enumerate(operands.split(","))
    }
    want = np.einsum(text, *arrays.values())
    arrays["out"] = np.zeros([sizes[x] for x in result] or [1], np.int32)
    open_device("oclgrind").build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert (arrays["out"].reshape(want.shape) == want).all()

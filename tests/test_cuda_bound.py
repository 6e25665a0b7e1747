"""Where the workspaces of a call on a GPU lie."""

from mdh.device.cuda_bound import ALIGNED, lay_out
from mdh.ir.dtype import I32
from mdh.target.text import Scratch


def space(name: str, size: int, *, zero: bool) -> Scratch:
    return Scratch(name, I32, size, zero)


def test_none() -> None:
    spaces = lay_out(())
    assert (dict(spaces.starts), spaces.zeroed, spaces.bytes) == ({}, 0, 0)


def test_zeros_lie_in_front() -> None:
    spaces = lay_out(
        (
            space("totals", 1000, zero=False),
            space("tickets", 4, zero=True),
            space("empty", 0, zero=False),
            space("passed", 257, zero=True),
        )
    )
    assert dict(spaces.starts) == {
        "tickets": 0,
        "passed": ALIGNED,
        "totals": 3 * ALIGNED,
        "empty": 7 * ALIGNED,
    }
    assert spaces.zeroed == 3 * ALIGNED
    assert spaces.bytes == 8 * ALIGNED


def test_nothing_to_clear() -> None:
    assert lay_out((space("totals", 1000, zero=False),)).zeroed == 0

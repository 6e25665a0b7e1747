"""`mdh.einsum` beside numpy's: shapes that repeat, numbers, `...`, options, and texts that both refuse."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import mdh


def whole(*shape: int, seed: int = 3, kind: str = "float32") -> np.ndarray[Any, Any]:
    return np.asarray(np.random.default_rng(seed).integers(-4, 5, shape)).astype(kind)


def assert_numpys(text: str, given: list[Any]) -> None:
    want = np.einsum(text, *given)
    for _ in range(2):  # the second call goes by the key of the first
        got = mdh.einsum(text, *given, device="c")
        assert isinstance(got, np.ndarray) and got.shape == want.shape and got.dtype == given[0].dtype, text
        assert (got == want).all(), text


@pytest.mark.parametrize("text, shapes", [
    ("bij,bjk->bik", ((1, 3, 4), (5, 4, 2))), ("ij,kj->ik", ((3, 1), (4, 5))), ("i,i", ((1,), (4,))),
    ("...ij,...jk->...ik", ((2, 1, 3, 4), (5, 4, 2))), ("ii,i->i", ((1, 1), (4,))), ("...,...", ((), (3,))),
    ("i,->i", ((4,), ())), (",->", ((), ())), ("->", ((),)), ("i,,j", ((3,), (), (4,))),
    ("i...->i", ((3,),)), ("i->...i", ((3,),)),
])  # fmt: skip
def test_extents_of_1_and_numbers(text: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    assert_numpys(text, [whole(*shape, seed=n) for n, shape in enumerate(shapes)])


@pytest.mark.parametrize("seed", range(8))
def test_random_shapes_are_numpys(seed: int) -> None:
    rng = Random(f"broadcast {seed}")
    sizes = {n: rng.choice((1, 2, 3, 4)) for n in "ijkxy"}
    operands, given = [], []
    for n in range(rng.choice((1, 2, 2, 3))):
        dots = "xy"[rng.randrange(3) :] if rng.random() < 0.5 else None
        letters = rng.sample("ijk", rng.randrange(0 if dots else 1, 4))
        at = rng.randrange(len(letters) + 1)
        own = [*letters[:at], *(dots or ""), *letters[at:]]
        operands.append("".join(letters[:at]) + ("" if dots is None else "...") + "".join(letters[at:]))
        array = whole(*(rng.choice((1, sizes[x], sizes[x])) for x in own), seed=n)
        # rows with gaps, which einsum may take as they are or without a dimension
        given.append(array.repeat(2, axis=-1)[..., ::2] if own and rng.random() < 0.3 else array)
    used = sorted({x for one in operands for x in one} - {"."})
    some = "..." if any("..." in one for one in operands) else ""
    result = some + "".join(rng.sample(used, rng.randrange(len(used) + 1)))
    assert_numpys(",".join(operands) + rng.choice(("", f"->{result}", f"->{result}")), given)


@pytest.mark.parametrize("text, count, code", [
    ("i1->i", 2, "E100"), ("é->é", 2, "E100"), ("i....->i", 2, "E100"), ("(i)->i", 2, "E100"),
    ("ij->ij->", 2, "E100"), ("", 1, "E100"), ("i,i", 1, "E100"), ("i:float->i", 1, "E100"),
    ("i......", 1, "E102"), ("i->i...i", 1, "E101"), ("i->...i...", 1, "E102"),
])  # fmt: skip
def test_texts_are_looked_at_first(text: str, count: int, code: str) -> None:
    with pytest.raises(mdh.Failed, match=code) as failed:
        mdh.einsum(text, *[whole(4, 4)] * count, device="c")
    assert "operand" not in failed.value.diagnostics[0].headline or text == "i,i"


def test_schedules_constants_and_strict_fp(tmp_path: Path) -> None:
    a, b = whole(5, 6), whole(6, 7, seed=4)
    path = tmp_path / "s.mdh"
    path.write_text("1: (de-)comp( 2, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )\n")
    for schedule in (path, str(path), mdh.Source("s.mdh", path.read_text())):
        assert (mdh.einsum("ij,jk->ik", a, b, device="c", schedule=schedule) == a @ b).all()
    path.write_text("1: (de-)comp( 2, ^, ^ ) ( ^ ; ^ ) ( BLK.x, ^, ^ )\n")
    with pytest.raises(mdh.Failed):  # the file is another one than before
        mdh.einsum("ij,jk->ik", a, b, device="c", schedule=path)
    for _ in range(2):
        assert (mdh.einsum("ij,jk->ik", a, device="c", constants={"in1": b}) == a @ b).all()
    assert (mdh.einsum("ij,jk->ik", a, device="c", constants={"in1": b + 1}) == a @ (b + 1)).all()
    row = whole(1, 7)
    found = mdh.einsum("ij,jk->ik", a, device="c", constants={"in1": row})
    assert (found == np.einsum("ij,jk->ik", a, row)).all()
    zeros = {"in0": np.zeros((5, 6), np.float32)}
    b[0, 0] = np.inf
    assert np.isnan(mdh.einsum("ij,jk->ik", b, device="c", constants=zeros, strict_fp=True)[:, 0]).all()
    with pytest.raises(mdh.Failed, match="C127"):
        mdh.einsum("ij,jk->ik", a, device="c", constants={"in2": b})


def test_names_of_the_module() -> None:
    assert {"einsum", "tc", "compile", "Failed"} <= set(dir(mdh))

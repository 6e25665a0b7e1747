"""Calls that leave out sizes and results: what is found again by types and shapes, and what never is."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import mdh
from mdh.api import einsums, shaped
from mdh.api.shaped import is_plain

SGEMM = """def sgemm(float a, float(M,K) A, float(K,N) B) -> (C, D) {
  C(i,j) +=! a * A(i,k) * B(k,j)
  D(i,j) = C(i,j) + 1
}"""
DEVICES = ("c", "opencl:0")


def whole(*shape: int, seed: int = 3, kind: str = "float32") -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(kind)


def product(a: Any, b: Any, device: str = "c") -> Any:
    return mdh.einsum("ij,jk->ik", a, b, device=device)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(einsums, "_known", {})


@pytest.mark.parametrize("device", DEVICES)
def test_later_calls_see_what_arrays_hold_and_make_new_results(device: str) -> None:
    a, b = whole(5, 6), whole(6, 7, seed=4)
    first = product(a, b, device)
    held = first.copy()
    a += 1
    second = product(a, b, device)
    assert second is not first and not np.shares_memory(first, second)
    assert (first == held).all() and (second == a @ b).all()
    kept = [product(whole(5, 6, seed=n), b, device) for n in range(40)]
    assert all((kept[n] == whole(5, 6, seed=n) @ b).all() for n in range(40))


def test_shapes_types_and_devices_are_kept_apart() -> None:
    for _ in range(2):
        for m, k, n in ((5, 6, 7), (6, 5, 7), (1, 1, 1), (7, 6, 5)):
            for kind in ("float32", "float64", "int32"):
                for device in DEVICES:
                    a, b = whole(m, k, kind=kind), whole(k, n, seed=4, kind=kind)
                    found = product(a, b, device)
                    assert found.dtype == a.dtype and (found == a @ b).all()
    assert len(einsums._known) == 4 * 3 * 2


def test_texts_and_orders_of_operands_are_kept_apart() -> None:
    a, b = whole(6, 6), whole(6, 6, seed=4)
    for _ in range(2):
        for text in ("ij,jk->ik", "ij,jk->ki", "ij,kj->ik", "ij,ij->ij", "ij,ij->", "ij,jk"):
            for x, y in ((a, b), (b, a)):
                found = mdh.einsum(text, x, y, device="c")
                want = np.einsum(text, x, y)
                assert found.shape == want.shape and (found == want).all()


def test_strides_are_looked_at_in_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = whole(6, 6), whole(6, 6, seed=4)
    wide, locked = whole(6, 12), b.copy()
    locked.flags.writeable = False
    for x in (a, a.T, wide[:, ::2], np.asfortranarray(a), a[::-1], a, np.broadcast_to(a[0], (6, 6))):
        assert (product(x, b) == x @ b).all()
        assert (product(x, locked) == x @ b).all()
    assert len(einsums._known) == 1
    assert "is not contiguous: a copy is used" in capsys.readouterr().err


def test_arrays_of_other_kinds_have_no_key() -> None:
    class Own(np.ndarray[Any, Any]):
        pass

    a, b = whole(6, 6), whole(6, 6, seed=4)
    assert is_plain((a, b)) and is_plain((2, a)) and not is_plain((2, 3)) and not is_plain((a.view(Own),))
    for _ in range(2):
        assert (product(a.view(Own), b) == a @ b).all()
        with pytest.raises(mdh.Failed):
            product(np.ma.masked_array(a), b)
        for wrong, code in (([1, 2], "A102"), (3, "A102"), (b.astype("f8"), "A103"), (b[:5], "E105")):
            with pytest.raises(mdh.Failed) as failed:
                product(a, wrong)
            assert failed.value.diagnostics[0].code == code and failed.value.__notes__
    assert not einsums._known


def test_arrays_may_have_methods_that_raise() -> None:
    class Odd:
        shape = property(lambda self: 1 / 0)
        dtype = np.dtype("f4")

    with pytest.raises(ZeroDivisionError):
        product(Odd(), whole(6, 6))
    with pytest.raises(TypeError, match="subscripts"):
        mdh.einsum(["ij,jk"], whole(6, 6), device="c")  # type: ignore[arg-type]


def test_few_keys_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(einsums, "MOST_SHAPES", 3)
    for n in (*range(1, 7), 1):
        a = whole(2, n)
        assert (product(a, a.T.copy()) == a @ a.T).all()
    assert len(einsums._known) == 3


def test_no_operand_and_no_result_is_kept_alive() -> None:
    a, b = whole(6, 6), whole(6, 6, seed=4)
    product(a, b)
    alive = [weakref.ref(x) for x in (a, product(a, b))]
    del a
    gc.collect()
    assert [one() for one in alive] == [None, None]


def test_threads_share_what_is_known() -> None:
    pairs = [(whole(8, 8, seed=n), whole(8, 8, seed=99 - n)) for n in range(16)]

    def many(n: int) -> bool:
        return all(
            (product(*pairs[(n + i) % 16]) == np.matmul(*pairs[(n + i) % 16])).all() for i in range(60)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(many, range(8)))


def test_torch_tensors_have_results_of_torch() -> None:
    torch = pytest.importorskip("torch")
    a, b = whole(5, 6), whole(6, 7, seed=4)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    for _ in range(3):
        found = product(x, y)
        assert isinstance(found, torch.Tensor) and (found.numpy() == a @ b).all()
        turned = product(x, torch.from_numpy(b.T.copy()).T)
        assert (turned.numpy() == a @ b).all()
        assert (product(a, b) == a @ b).all()
        assert product(-x, y).tolist() == (-a @ b).tolist()


def test_functions_of_texts_go_by_shapes_too() -> None:
    """Numbers are looked at in each call, and calls that give sizes by place are never kept."""
    sgemm = mdh.tc(SGEMM, device="c").sgemm
    b = whole(6, 7, seed=4)
    for rows in (5, 3, 5):
        a = whole(rows, 6)
        for factor in (2.0, 3, 0.0, -0.0):
            c, d = sgemm(factor, a, b)
            assert (c == np.float32(factor) * (a @ b)).all() and (d == c + 1).all()
        given = np.zeros((rows, 7), np.float32), np.zeros((rows, 7), np.float32)
        assert sgemm(2, a, b, *given)[1] is given[1] and (given[0] == 2 * (a @ b)).all()
    known = dict(sgemm._shaped)
    assert len(known) == 2 * 3
    out = np.zeros((5, 7), np.float32)
    sgemm(5, 6, 7, 2.0, whole(5, 6), b, out, out.copy())
    sgemm(a=2.0, A=whole(5, 6), B=b)
    assert sgemm._shaped == known
    with pytest.raises(mdh.Failed, match="A102"):
        sgemm("2", whole(5, 6), b)
    assert len(known) <= shaped.MOST_SHAPES


def test_results_that_overlap_operands_are_refused_each_time() -> None:
    scale = mdh.c(
        "void f(int n, const float x[n], float y[n]) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"
    )
    x = whole(9)
    assert (scale.f(x, np.zeros(9, np.float32)) == 2 * x).all()
    for _ in range(2):
        with pytest.raises(mdh.Failed, match="A107"):
            scale.f(x, x)


@pytest.mark.gpu
def test_a_gpu_takes_arrays_of_each_library_where_they_lie() -> None:
    """By their own streams, with results beside them; host arrays are copied."""
    torch, cupy = pytest.importorskip("torch"), import_module("cupy")
    a, b = whole(5, 6), whole(6, 7, seed=4)
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    u, v = cupy.asarray(a), cupy.asarray(b)
    other = torch.cuda.Stream()
    for _ in range(3):
        found = product(x, y, "cuda:0")
        assert found.is_cuda and (found.cpu().numpy() == a @ b).all()
        with torch.cuda.stream(other):
            other.wait_stream(torch.cuda.default_stream())
            twice = product(x + x, y, "cuda:0")
        other.synchronize()
        assert (twice.cpu().numpy() == 2 * (a @ b)).all()
        assert (product(x, torch.from_numpy(b.T.copy()).cuda().T, "cuda:0").cpu().numpy() == a @ b).all()
        assert (cupy.asnumpy(product(u, v, "cuda:0")) == a @ b).all()
        assert (product(a, b, "cuda:0") == a @ b).all()

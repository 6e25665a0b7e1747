"""Calls in a loop: arguments by name, sizes from shapes, bound calls, and the keys of calls."""

import gc
import os
import signal
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mdh
from mdh.api.arguments import Binder
from mdh.device import addresses
from mdh.diagnostics import Failed

DEVICES = ("c", "opencl:0")
SCALE = mdh.Source(
    "scale.c",
    "void scale(int n, int m, float s, const float A[n][m], float B[n][m]) {\n"
    "  for (int i = 0; i < n; i++)\n"
    "    for (int j = 0; j < m; j++)\n"
    "      B[i][j] = s / A[i][j];\n"
    "}\n",
)
SUM = mdh.Source(
    "sum.c",
    "void sum(const float A[4096], float S[1]) {\n  for (int i = 0; i < 4096; i++)\n    S[0] += A[i];\n}\n",
)
SPLIT = "1: (de-)comp( 512 ) ( ^ ; ^ ) ( BLK.x )\n2: (de-)comp( 1 ) ( ^ ; ^ ) ( FOR.1 )\n"


@pytest.fixture(scope="module", params=DEVICES)
def scale(request: pytest.FixtureRequest) -> mdh.Kernel:
    return mdh.compile(SCALE, device=request.param)


@pytest.fixture(scope="module", params=DEVICES)
def fixed(request: pytest.FixtureRequest) -> mdh.Kernel:
    return mdh.compile(SCALE, device=request.param, defines={"n": 4, "m": 3})


def _arrays(n: int = 4, m: int = 3) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    a = np.arange(1, n * m + 1, dtype=np.float32).reshape(n, m)
    return a, np.zeros((n, m), np.float32)


def test_arguments_by_name_and_sizes_from_shapes(scale: mdh.Kernel) -> None:
    a, b = _arrays()
    for out in (
        scale(n=4, m=3, s=1.0, A=a, B=b),
        scale(B=b, A=a, s=2.0),
        scale(3.0, a, b),
        scale(4.0, a, b, m=3),
        scale(4, 3, 5.0, a, B=b),
    ):
        assert out is b
    assert (b == np.float32(5) / a).all()
    wide, other = _arrays(2, 7)
    assert (scale(1.0, wide, other) == 1 / wide).all()
    assert set(scale.variants) == {(4, 3), (2, 7)}


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((), {"A": 0, "C": 0}, "has no parameter `C`"),
        ((1.0,), {}, "called without `A`, `B`"),
        ((1, 2, 3.0, 4, 5, 6), {}, "takes at most 5 arguments, 6 are given"),
        ((4,), {"n": 4, "s": 2.0, "A": 0, "B": 0}, "is given `n` twice"),
        ((), {"s": 1.0, "A": np.ones((2, 2), np.float32)}, "without `B`"),
        ((), {"s": 1.0, "A": 3, "B": 4}, "the size `n` is left out"),
    ],
)
def test_what_is_missing_is_named(args: tuple[Any, ...], named: dict[str, Any], words: str) -> None:
    with pytest.raises(Failed) as failed:
        mdh.compile(SCALE)(*args, **named)
    assert [d.code for d in failed.value.diagnostics] == ["A101"]
    assert words in failed.value.diagnostics[0].headline


def test_sizes_from_shapes_are_checked_against_the_other_arrays(scale: mdh.Kernel) -> None:
    with pytest.raises(Failed) as failed:
        scale(1.0, np.ones((4, 3), np.float32), np.ones((3, 4), np.float32))
    assert failed.value.diagnostics[0].code == "A104"


def test_a_bound_call_sees_what_its_arrays_hold(fixed: mdh.Kernel) -> None:
    a, b = _arrays()
    run = fixed.bind(4, 3, 1.0, a, b)
    assert (b == 0).all()
    for turn in (1, 2):
        a[:] = turn
        assert run() is b
        assert (b == 1 / a).all()


def test_a_bound_call_that_copies_looks_each_time(fixed: mdh.Kernel) -> None:
    wide, b = np.ones((4, 6), np.float32), _arrays()[1]
    run = fixed.bind(4, 3, 1.0, wide[:, ::2], b)
    for turn in (1, 2):
        wide[:] = turn
        run()
        assert (b == 1 / wide[:, ::2]).all()


def test_many_calls_on_arrays_that_come_and_go(fixed: mdh.Kernel) -> None:
    """More than are kept bound, at addresses that return."""
    for turn in range(1, 60):
        a, b = np.full((4, 3), turn, np.float32), np.zeros((4, 3), np.float32)
        fixed(4, 3, 1.0, a, b)
        assert (b == 1 / a).all()


def test_equal_numbers_of_other_kinds_are_other_calls(fixed: mdh.Kernel) -> None:
    a, b = np.full((4, 3), np.inf, np.float32), _arrays()[1]
    for number in (0.0, -0.0, 0, 0.0, -0.0):
        fixed(4, 3, number, a, b)
        assert (np.signbit(b) == np.signbit(float(number))).all()
    with pytest.raises(Failed) as failed:
        fixed(4.0, 3, 1.0, a, b)
    assert failed.value.diagnostics[0].code == "A102"


def test_calls_keep_no_array_alive(fixed: mdh.Kernel) -> None:
    a, b = _arrays()
    ended = [weakref.ref(a), weakref.ref(b)]
    fixed(4, 3, 1.0, a, b)
    fixed(4, 3, 1.0, a, b)
    del a, b
    gc.collect()
    assert [end() for end in ended] == [None, None]


@pytest.mark.parametrize("device", DEVICES)
def test_threads_share_workspaces(device: str, tmp_path: Any) -> None:
    """A reduction over blocks leaves parts in a workspace between its kernels; calls at once mix none."""
    path = tmp_path / "split.mdh"
    path.write_text(SPLIT)
    kernel = mdh.compile(SUM, path, device)
    assert next(iter(kernel.variants.values())).built.text.workspaces
    arrays = [(np.full(4096, i, np.float32), np.zeros(1, np.float32)) for i in range(4)]

    def calls(i: int) -> float:
        a, s = arrays[i]
        for _ in range(200):
            s[:] = 0
            kernel(a, s)
            if s[0] != 4096 * i:
                return float(s[0])
        return 4096.0 * i

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(calls, range(4))) == [4096.0 * i for i in range(4)]


@st.composite
def _argument(draw: st.DrawFn, memory: np.ndarray[Any, Any]) -> Any:
    """An array argument, right or wrong in any of the ways that matter, in `memory`."""
    kind = draw(st.sampled_from(("plain", "plain", "plain", "type", "shape", "gaps", "fixed", "odd", "list")))
    at = draw(st.integers(0, 5)) * 48
    if kind == "odd":
        at += 2
    if kind == "gaps":
        return memory[at : at + 96].view(np.float32).reshape(4, 6)[:, ::2]
    array = memory[at : at + 48].view(np.int32 if kind == "type" else np.float32)
    array = array.reshape((3, 4) if kind == "shape" else (4, 3))
    if kind == "fixed":
        array = array.view()
        array.flags.writeable = False
    return array.tolist() if kind == "list" else array


LIBRARIES = ("numpy", "torch")


def _in_library(library: str, array: Any) -> Any:
    """The same memory as an array of a library; lists stay lists."""
    if library == "numpy" or not isinstance(array, np.ndarray):
        return array
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        return torch.from_numpy(array)


@pytest.mark.parametrize("library", LIBRARIES)
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_what_has_addresses_binds_in_place(fixed: mdh.Kernel, library: str, data: st.DataObject) -> None:
    """Addresses are known only where `bind`, which looks at everything, takes the arrays as they are; and
    equal keys have the same ones. One object looks at all arguments, as in calls one after the other."""
    memory = np.zeros(512, np.uint8)
    number = st.one_of(st.integers(-3, 3), st.floats(width=32), st.just("2"), st.just(np.float32(1)))
    binder = next(iter(fixed.variants.values())).binder
    assert binder.keys is not None
    seen: dict[Any, Any] = {}
    calls = binder.keys.of_type(type(_in_library(library, memory)))
    assert calls is not None
    for _ in range(data.draw(st.integers(1, 6))):
        arrays = [_in_library(library, data.draw(_argument(memory))) for _ in range(2)]
        args = (4, 3, data.draw(number), *arrays)
        key, again = calls.key(args), calls.key(args)
        found = None if key is None else calls.addresses(key)
        if found is not None:
            bound = binder.bind(args)
            assert not bound.notes
            assert found == {n: a.__array_interface__["data"][0] for n, a in bound.arrays.items()}
            assert key == again or args[2] != args[2]
        elif _plain(binder, args):
            raise AssertionError("a plain call has no addresses")
        assert seen.setdefault(key, found) == found


def _plain(binder: Binder, args: tuple[Any, ...]) -> bool:
    try:
        bound = binder.bind(args)
    except Failed:
        return False
    return type(args[2]) in (int, float) and not bound.notes


def test_an_array_that_changes_between_two_calls_is_looked_at_again(fixed: mdh.Kernel) -> None:
    """In place, so that it stays the same object: its memory, shape, strides, type and flags."""
    a, b = _arrays()[0].copy(), _arrays()[1]
    want = 1 / a
    fixed(4, 3, 1.0, a, b)
    changes: tuple[tuple[Callable[[], object], Callable[[], object], str], ...] = (
        (lambda: a.resize((400, 300), refcheck=False), lambda: a.resize((4, 3), refcheck=False), "A104"),
        (lambda: setattr(a, "shape", (3, 4)), lambda: setattr(a, "shape", (4, 3)), "A104"),
        (lambda: b.setflags(write=False), lambda: b.setflags(write=True), "A106"),
        (lambda: setattr(a, "dtype", np.int32), lambda: setattr(a, "dtype", np.float32), "A103"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for change, back, code in changes:
            for _ in range(2):
                change()
                with pytest.raises(Failed) as failed:
                    fixed(4, 3, 1.0, a, b)
                assert failed.value.diagnostics[0].code == code
                back()
                b[:] = 0
                assert (fixed(4, 3, 1.0, a, b) == want).all()
        strides = a.strides
        a.strides = (4, 16)
        assert (fixed(4, 3, 1.0, a, b) == 1 / a).all()
        a.strides = strides
        assert (fixed(4, 3, 1.0, a, b) == want).all()


def test_a_tensor_that_changes_between_two_calls_is_looked_at_again(fixed: mdh.Kernel) -> None:
    torch = pytest.importorskip("torch")
    a, b, other = torch.ones(4, 3), torch.zeros(4, 3), torch.full((8, 3), 2.0)
    mine, negative = torch.ones(4, 3), torch._neg_view(torch.full((4, 3), 4.0))

    def result() -> float:
        b.zero_()
        found = fixed(4, 3, 1.0, a, b)
        assert found is b and (b == b[0, 0]).all()
        return float(b[0, 0])

    def refused() -> str:
        with pytest.raises(Failed) as failed:
            fixed(4, 3, 1.0, a, b)
        return failed.value.diagnostics[0].code

    for _ in range(3):
        assert [result(), result()] == [1.0, 1.0]
        a.set_(other[4:])
        assert result() == 0.5
        a.resize_(3, 4)
        assert refused() == "A104"
        a.set_(torch.full((3, 4), 8.0))
        a.t_()
        assert result() == 0.125
        a.data = torch.ones(4, 3, dtype=torch.float64)
        assert refused() == "A103"
        a.data = negative
        assert refused() == "A102"
        a.data = mine
        a.requires_grad_(True)
        assert refused() == "A114"
        with torch.no_grad():
            assert result() == 1.0
        assert refused() == "A114"
        a.requires_grad_(False)
        b.requires_grad_(True)
        assert refused() == "A114"
        b.requires_grad_(False)
        assert result() == 1.0
        b.set_(mine)
        assert refused() == "A107"
        b.set_(torch.zeros(4, 3))


def test_calls_keep_no_tensor_alive(fixed: mdh.Kernel) -> None:
    torch = pytest.importorskip("torch")
    a, b = torch.ones(4, 3), torch.zeros(4, 3)
    ended = [weakref.ref(a), weakref.ref(b)]
    for _ in range(4):
        fixed(4, 3, 1.0, a, b)
    del a, b
    gc.collect()
    assert [end() for end in ended] == [None, None]


def test_tensors_are_recognised_by_their_guards(fixed: mdh.Kernel) -> None:
    """Else each call would read every attribute anew, which takes three times as long."""
    pytest.importorskip("torch")
    assert addresses._guards() is not None


class _Odd:
    """Says that it comes from nowhere, or from a library that is not loaded."""


@pytest.mark.parametrize("module", [None, "torch", "cupy"])
def test_types_that_mislead_are_refused_in_words(fixed: mdh.Kernel, module: str | None) -> None:
    kind = type("Odd", (_Odd,), {"__module__": module})
    with pytest.raises(Failed) as failed:
        fixed(4, 3, 1.0, kind(), _arrays()[1])
    assert failed.value.diagnostics[0].code == "A102"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_builds_is_told() -> None:
    """The child has the lock of a thread that it does not have."""
    kernel = mdh.compile(SCALE, device="c", defines={"m": 3})
    kernel(4, 3, 1.0, *_arrays())
    read, write = os.pipe()
    kernel._lock.acquire()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            kernel(5, 3, 1.0, *_arrays(5))
        except Failed as failed:
            os.write(write, failed.diagnostics[0].code.encode())
        os._exit(0)
    kernel._lock.release()
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "D107"
    os.waitpid(child, 0)


def test_a_bound_call_explains_its_refusal() -> None:
    text = (
        "void take(const int I[4], const float A[8], float B[4])\n"
        "{ for (int i = 0; i < 4; i++) B[i] = A[I[i]]; }\n"
    )
    kernel = mdh.compile(mdh.Source("take.c", text), device="c")
    index, a, b = np.arange(4, dtype=np.int32), np.ones(8, np.float32), np.zeros(4, np.float32)
    run = kernel.bind(index, a, b)
    assert (run() == 1).all()
    index[2] = 99
    with pytest.raises(Failed) as failed:
        run()
    assert failed.value.diagnostics[0].code == "A130" and "error[A130]" in failed.value.__notes__[0]

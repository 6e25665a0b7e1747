"""The API's door: wrong Python types, values that cannot be bound, pickling, forks, threads."""

import inspect
import os
import pickle
import pydoc
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import mdh
from mdh.source import Span

SCALE = mdh.Source(
    "scale.c",
    "void scale(int n, float s, const float A[n], float B[n]) {\n"
    "  for (int i = 0; i < n; i++)\n"
    "    B[i] = s * A[i];\n"
    "}\n",
)


def _arrays(n: int = 8) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


def _codes(failed: mdh.Failed) -> list[str]:
    return [d.code for d in failed.diagnostics]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("device", 3, "device takes a name such as"),
        ("device", 0, "device takes a name such as"),
        ("defines", None, "defines takes a mapping of names to values, not None"),
        ("defines", ["n"], "defines takes a mapping"),
        ("holes", None, "holes takes a mapping"),
        ("function", 3, "function takes the name of a C function, not 3"),
        ("schedule", 3, "schedule takes a path or a Source, not 3"),
        ("hook", None, "hook takes a function"),
    ],
)
def test_wrong_python_types_name_the_option(option: str, value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        mdh.compile(SCALE, **{"defines": {"n": 8}, option: value})


def test_wrong_python_types_of_check() -> None:
    for options in ({"machine": 3}, {"target": 3, "machine": "a100"}, {"function": b"f", "machine": "a100"}):
        with pytest.raises(TypeError, match=r"takes .*, not "):
            mdh.check(SCALE, **options)
    with pytest.raises(TypeError, match="file takes a path or a Source"):
        mdh.check(None, machine="a100")


@pytest.mark.parametrize("value", [True, None, 8.0, [8]])
def test_a_wrong_define_is_named(value: Any) -> None:
    with pytest.raises(mdh.Failed, match="defines binds `n`"):
        mdh.compile(SCALE, defines={"n": value})


def test_whole_numbers_of_numpy_bind() -> None:
    assert mdh.check(SCALE, machine="a100", defines={"n": np.int32(8)}).program.scalar_of["n"].size == 8


def test_floats_that_would_become_infinite() -> None:
    kernel = mdh.compile(SCALE, defines={"n": 8})
    a, b = _arrays()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (1e300, 10**400, -(10**400), 2**128, np.float64(3.5e38)):
            with pytest.raises(mdh.Failed) as failed:
                kernel(8, value, a, b)
            assert _codes(failed.value) == ["A109"]
        kernel(8, 3.4e38, np.ones(8, np.float32), b)
        assert (b == np.float32(3.4e38)).all()
        kernel(8, float("inf"), np.ones(8, np.float32), b)
        assert np.isinf(b).all()


def test_masked_arrays_are_refused() -> None:
    a, b = _arrays()
    with pytest.raises(mdh.Failed) as failed:
        mdh.compile(SCALE, defines={"n": 8})(8, np.ma.masked, np.ma.masked_less(a, 3), b)
    assert _codes(failed.value) == ["A102", "A102"]


def test_sizes_of_specialise_are_whole_numbers() -> None:
    kernel = mdh.compile(SCALE)
    for value in (None, "8", 8.5):
        with pytest.raises(mdh.Failed) as failed:
            kernel.specialise(n=value)  # type: ignore[arg-type]
        assert _codes(failed.value) == ["A102"]


def test_failures_travel_between_processes() -> None:
    with pytest.raises(mdh.Failed) as failed:
        mdh.compile(SCALE, defines={"n": 8})(8, "2", *_arrays())
    copy = pickle.loads(pickle.dumps(failed.value))
    assert copy.diagnostics == failed.value.diagnostics and str(copy) == str(failed.value)
    assert copy.__notes__ == failed.value.__notes__
    span = copy.diagnostics[0].labels[0].span
    assert isinstance(span, Span) and span.text == "s"


def test_kernels_show_what_they_are() -> None:
    kernel = mdh.compile(SCALE)
    assert repr(kernel) == "<mdh.Kernel scale(n, s, A, B) on opencl:0>"
    kernel.specialise(n=8)
    kernel.specialise(n=5)
    assert repr(kernel) == "<mdh.Kernel scale(n, s, A, B) on opencl:0, built for n=8, n=5>"


def test_arity_names_the_function() -> None:
    with pytest.raises(mdh.Failed, match="`scale` is called without `s`, `A`, `B`"):
        mdh.compile(SCALE)()


def test_check_tells_its_parameters() -> None:
    names = list(inspect.signature(mdh.check).parameters)
    assert names[:3] == ["file", "schedule", "machine"]
    shown = pydoc.render_doc(mdh.check, renderer=pydoc.plaintext)
    assert [name for name in names if name not in shown] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_is_told() -> None:
    """It neither hangs in a call, nor in a new compile, nor when it ends."""
    kernel = mdh.compile(SCALE, defines={"n": 8})
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        for use in (lambda: kernel(8, 2.0, *_arrays()), lambda: mdh.compile(SCALE), kernel.specialise):
            try:
                use()
            except mdh.Failed as failed:
                said += f"{failed.diagnostics[0].code} "
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "D107 D107 D107 "
    os.waitpid(child, 0)


def test_threads_share_kernels_and_build_their_own() -> None:
    """Without warnings: pyopencl writes code for every kernel object, under names of one process."""
    shared = mdh.compile(SCALE, defines={"n": 64})
    wrong: list[object] = []

    def work(factor: float) -> None:
        try:
            own = mdh.compile(SCALE, defines={"n": 64})
            for _ in range(20):
                for kernel in (shared, own):
                    a, b = _arrays(64)
                    kernel(64, factor, a, b)
                    if not (b == np.float32(factor) * a).all():
                        wrong.append(factor)
        except Exception as error:
            wrong.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads = [threading.Thread(target=work, args=(float(k),)) for k in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert wrong == []

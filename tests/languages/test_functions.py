"""Functions of floats in Tensor Comprehensions and C, on the CPU and as CUDA text."""

import numpy as np
import pytest

import mdh
from mdh.frontend.typing_rules import FUNCTIONS
from mdh.reference.functions import FUNCTIONS as JUDGE
from mdh.source import Source
from tests.languages.running import Written, outcome, read

ADDED = ("asinh", "acosh", "atanh", "erfc", "fdim")
X = np.linspace(0.05, 0.95, 40, dtype=np.float32)


def text(name: str, kind: str) -> str:
    suffix = "f" if kind == "float" else ""
    more = ", X(i)" if FUNCTIONS[name] == 2 else ""
    start = "1 / X(i)" if name == "acosh" else "0.5" if more else "X(i)"
    return f"def f({kind}(N) X) -> (O) {{ O(i) = {name}{suffix}({start}{more}) }}"


def right(name: str, x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    given = (
        (np.full_like(wide, 0.5), wide) if FUNCTIONS[name] == 2 else (1 / wide if name == "acosh" else wide,)
    )
    return np.asarray(JUDGE[name].apply(*given))


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name", ADDED)
def test_on_the_cpu(name: str, kind: str) -> None:
    x = X.astype("f4" if kind == "float" else "f8")
    found = mdh.tc(text(name, kind), device="c").f(x)
    assert found.dtype == x.dtype and np.allclose(
        found, right(name, x), rtol=2e-6 if kind == "float" else 1e-12
    )


@pytest.mark.parametrize(("value", "wanted"), [
    ("rsqrt(X(i))", 1 / np.sqrt(X)), ("rsqrtf(X(i))", 1 / np.sqrt(X)), ("exp10(X(i))", 10.0 ** X),
])  # fmt: skip
def test_functions_that_c_lacks(value: str, wanted: np.ndarray) -> None:
    one = Written("x.tc", f"def f(float(N) X) -> (O) {{ O(i) = {value} }}", {"N": 40})
    assert np.allclose(outcome(read(one), [X, np.zeros_like(X)], [])["O"], wanted, rtol=2e-6)


def test_in_c() -> None:
    body = " + ".join(f"{name}f(x[i]{', y[i]' if FUNCTIONS[name] == 2 else ''})" for name in ADDED)
    c = (
        "#include <math.h>\nvoid f(const float x[8], float y[8]) { for (int i = 0; i < 8; i++) y[i] = "
        + body
        + "; }"
    )
    kernel = mdh.compile(Source("f.c", c), device="c")
    x = np.full(8, 1, np.float32)
    assert np.isinf(kernel(x, np.zeros(8, np.float32))).all()

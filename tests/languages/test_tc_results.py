"""Which results calls of Tensor Comprehensions allocate, and results of one element."""

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.read import read_heading
from mdh.source import Source
from tests.languages.running import Written, outcome, read

SIZES = {"M": 4, "K": 3}
A = np.array([[1, -2, 3], [4, 0, -6], [-7, 8, 9], [0, 1, 2]], np.float32)


def written(body: str, sizes: dict[str, int] = SIZES, above: str = "") -> Written:
    return Written("x.tc", f"{above}def f(float(M,K) A) -> (O) {{ {body} }}", sizes, "f")


WHOLE = [
    ("O(i) = 0.0 where i in 0:M  O(i) max= A(i,k)", A.max(1).clip(0)),
    ("O(i) = 0.0 where i in 0:4  O(i) max= A(i,k)", A.max(1).clip(0)),
    ("O(i) = 0.0 where i in 0:M  O(i) = A(i,0) where i in 2:4", np.array([0, 0, -7, 0])),
    ("O(i) +=! A(i,k) where i in 0:2, k in 1:3  O(i) += A(i,0)  where i in 0:2", A[:2].sum(1)),
    ("O(i,j) = 1.0 where i in 0:M, j in 0:K  O(i,j) += A(i,j)", A + 1),
    ("T(i) = A(i,0)  O(i) = T(i) where i in 0:3  O(i) += 1 where i in 0:3", A[:3, 0] + 1),
]


@pytest.mark.parametrize("body, wanted", WHOLE)
def test_a_first_statement_of_all_elements(body: str, wanted: np.ndarray) -> None:
    one = written(body)
    assert read_heading(Source(one.name, one.text), function="f").results == ("O",)
    before = np.full(wanted.shape, 77, np.float32)
    assert np.array_equal(outcome(read(one), [A, before], [])["O"], wanted)


@pytest.mark.parametrize(
    "body",
    ["O(i,j) = 0.0 where i in 0:2  O(i,j) += A(i,j)", "O(i) += A(i,k)", "O(i) max= A(i,k) where i in 0:2"],
)
def test_results_that_begin_with_what_they_hold(body: str) -> None:
    assert read_heading(Source("x.tc", written(body).text)).results == ()


def test_a_first_statement_that_leaves_elements_out_at_some_sizes() -> None:
    """`T` has its extent from its second statement, and so has `O`: the first of its statements waits."""
    body = "T(i) = 0.0  O(i) = T(i)  T(i) += A(i,0)  O(i) += B(i)"
    text = f"def f(float(M,K) A, float(N) B) -> (O) {{ {body} }}"
    read(Written("x.tc", text, {**SIZES, "N": 4}))
    with pytest.raises(Failed, match="leaves elements out"):
        read(Written("x.tc", text, {**SIZES, "N": 5}))


SINGLE = [
    ("O() +=! A(i,k)", A.sum()),
    ("O() max=! A(i,k)", A.max()),
    ("O() = 1.0  O() += A(i,k)  O() = 2 / O()", 2 / (1 + A.sum())),
    ("S() +=! A(i,k)  O(i) = A(i,0) / S() where i in 0:4", A[:, 0] / A.sum()),
    ("S() min=! A(i,k)  T(k) max=! A(i,k)  O() +=! T(k) * S()", -7 * A.max(0).sum()),
]


@pytest.mark.parametrize("body, wanted", SINGLE)
def test_results_of_one_element(body: str, wanted: np.ndarray) -> None:
    one = written(body)
    assert read_heading(Source(one.name, one.text), function="f").results == ("O",)
    wanted = np.atleast_1d(wanted).astype(np.float32)
    found = outcome(read(one), [A, np.full(wanted.shape, 77, np.float32)], [])["O"]
    assert found.shape == wanted.shape and np.allclose(found, wanted)


def test_a_call_of_a_function_with_one_number() -> None:
    above = "def total(float(N,P) X) -> (s) { s() +=! X(i,j) }\n"
    one = written("s = total(A)  O(i) = s() where i in 0:2", above=above)
    assert np.array_equal(outcome(read(one), [A, np.zeros(2, np.float32)], [])["O"], np.full(2, A.sum()))


def test_a_result_that_is_called_like_a_tensor_of_a_call() -> None:
    """The tensors of a called function take the name of its result in front, which may be a name of ours."""
    above = "def g(float(N,P) B) -> (R) { T(i) = B(i,0) * 2  R(i) = T(i) + 1 }\n"
    text = f"{above}def f(float(M,K) A) -> (X_T) {{ X = g(A)  X_T(i) = X(i) * 10 }}"
    found = outcome(read(Written("x.tc", text, SIZES, "f")), [A, np.zeros(4, np.float32)], [])
    assert np.array_equal(found["X_T"], (A[:, 0] * 2 + 1) * 10)

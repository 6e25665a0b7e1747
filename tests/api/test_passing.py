"""Arguments by place and by name, in any mixture: what each of them is, and what is said of missing ones."""

from contextlib import nullcontext
from random import Random
from typing import Any

import numpy as np
import pytest

import mdh
from mdh.api.passing import LEFT_OUT, by_place, in_order
from mdh.frontend.heading import Heading

MM = "def g(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }"
CONV = """def conv(float(H,W) I, float(KH,KW) K, int sh, int sw) -> (O) {
  O(h,w) +=! I(sh * h + kh, sw * w + kw) * K(kh,kw) }"""
IN_C = """void mm(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j]; } }"""


def whole(*shape: int, seed: int = 3) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


A, B = whole(5, 6), whole(6, 7, seed=4)
OUT = np.zeros((5, 7), np.float32)


def test_names_and_places_mix() -> None:
    g, mm = mdh.tc(MM, device="c").g, mdh.c(IN_C, device="c").mm
    for call in (
        lambda: g(A, B=B), lambda: g(A, B, C=OUT), lambda: g(5, 6, 7, A, B), lambda: g(B=B, A=A),
        lambda: g(A, B=B, M=5), g.bind(A, B=B), lambda: mm(A, B, C=OUT), lambda: mm(A, B=B, C=OUT),
        lambda: mm(5, 6, 7, A, B, C=OUT), lambda: mm(5, A=A, B=B, C=OUT),
    ):  # fmt: skip
        OUT.fill(7)
        assert (call() == A @ B).all()
    d = mdh.diesel("Params M, K, N; Matrix A(M,K); Matrix B(K,N); C = A * B;", device="c")
    assert (d(A, B=B) == A @ B).all() and d.name == "diesel"


def test_integers_stand_where_the_text_has_them() -> None:
    conv = mdh.tc(CONV, device="c").conv
    image, weights = whole(9, 11), whole(3, 3, seed=5)
    want = conv(9, 11, 3, 3, image, weights, 2, 3, np.zeros((4, 3), np.float32))
    for args, named in (
        ((image, weights, 2, 3), {}), ((image, weights), {"sw": 3, "sh": 2}),
        ((image, weights, 2, 3, np.zeros((4, 3), np.float32)), {}),
        ((image,), {"K": weights, "sh": 2, "sw": 3}),
    ):  # fmt: skip
        assert (conv(*args, **named) == want).all()
    mixed = mdh.tc("def f(float s, int N, float(N) a) -> (b) { b(i) = s * a(i) + N }", device="c").f
    x = whole(7)
    for result in (mixed(2.0, 7, x), mixed(2.0, 7, x, np.zeros(7, np.float32)), mixed(2.0, a=x)):
        assert (result == 2 * x + 7).all()


def test_integers_of_later_calls_are_looked_at() -> None:
    conv = mdh.tc(CONV, device="c").conv
    image, weights = whole(9, 11), whole(3, 3, seed=5)
    for _ in range(2):
        for sh, sw in ((2, 3), (1, 1), (3, 2), (2, 2)):
            assert (conv(image, weights, sh, sw) == conv(image, weights, sh=sh, sw=sw)).all()
    assert len(conv._shaped) == 4
    for wrong in (2.0, True, "2"):
        with pytest.raises(mdh.Failed) if wrong is not True else nullcontext():
            conv(image, weights, wrong, 3)
    g = mdh.tc(MM, device="c").g
    assert (g(5, 6, 7, A, B) == A @ B).all()
    for sizes in ((4, 6, 7), (5, 6, 8)):
        with pytest.raises(mdh.Failed, match="A104"):
            g(*sizes, A, B)


@pytest.mark.parametrize("wrong", [A, [5], {}, 5.0])
def test_sizes_that_are_no_whole_numbers(wrong: Any) -> None:
    g = mdh.tc(MM, device="c").g
    with pytest.raises(mdh.Failed, match="A102: `M` takes a whole number"):
        g(wrong, 6, 7, A, B, OUT)
    assert (g(np.int64(5), 6, 7, A, B, OUT) == A @ B).all()


def test_explain_tells_what_the_verb_does() -> None:
    g = mdh.tc(MM, device="c").g
    text = g.explain(A, B)
    assert text == g.explain(M=5, K=6, N=7) == g.explain(A, B=B)
    assert mdh.tc(MM, device="c").explain(A, B) == text
    assert "stage" in text and "schedule" in text and "5" in text
    with pytest.raises(mdh.Failed, match="without `B`"):
        g.explain(A)
    fixed = mdh.diesel("Params M; Matrix A(M,M); C = A * A;", device="c", defines={"M": 4})
    assert "schedule" in fixed.explain()


@pytest.mark.parametrize("text, args, named, code, words, hint", [
    (MM, (A,), {}, "A101", "`g` is called without `B`", "in order: A, B, C; or each by its name; C may be"),
    (MM, (A,), {"C": OUT}, "A101", "called without `B`", "M, K, N follow from shapes"),
    (MM, (), {}, "A101", "called without `A`, `B`", "in order: A, B, C"),
    (MM, (A, B, OUT, OUT), {}, "A101", "takes at most 3 arguments, 4 are given", "in order"),
    (MM, (A, B), {"A": A}, "A101", "given `A` twice", ""),
    (MM, (A[0], B), {}, "A104", "`A` has 2 dimensions, the array 1", "`M`"),
    (MM, (5, A), {"B": B}, "A101", "argument 1 of `g` is a number, and `A` takes an array", ""),
    (CONV, (A, B, 2), {}, "A101", "called without `sw`", "in order: I, K, sh, sw, O"),
    (MM.replace("+=!", "+="), (A, B), {}, "A101", "called without `C`", "C begins with what is given"),
])  # fmt: skip
def test_what_is_said(
    text: str, args: tuple[Any, ...], named: dict[str, Any], code: str, words: str, hint: str
) -> None:
    functions = mdh.tc(text, device="c")
    with pytest.raises(mdh.Failed) as failed:
        functions[text[4 : text.index("(")]](*args, **named)
    found = failed.value.diagnostics[0]
    assert found.code == code and words in found.headline and hint in (found.help or "")


@pytest.mark.parametrize("seed", range(200))
def test_random_calls_give_what_they_say(seed: int) -> None:
    """Every way to write a call means the values that it was made of."""
    rng = Random(f"passing {seed}")
    sizes = {n: k for k, n in enumerate("KLMN"[: rng.randrange(1, 5)], 2)}
    arrays = {
        f"A{n}": tuple(rng.choices([*sizes], k=rng.choice((1, 1, 2)))) for n in range(rng.randrange(1, 4))
    }
    told = {n for shape in arrays.values() for n in shape}
    scalars = [f"s{n}" for n in range(rng.randrange(3))]
    results = [f"R{n}" for n in range(rng.choice((0, 1, 1, 2)))]
    # sizes that the text itself has as parameters
    shown = rng.sample([*sizes], rng.randrange(len(sizes) + 1))
    must = [n for n in sizes if n not in told and n not in shown]
    named_ones = rng.sample(
        [*arrays, *scalars, *shown, *must], len(arrays) + len(scalars) + len(shown) + len(must)
    )
    order = (*named_ones, *results)
    heading = Heading(
        "f", (*sizes, *(n for n in order if n not in sizes)),
        {**arrays, **dict.fromkeys(scalars, ())}, order, tuple(results),
    )  # fmt: skip
    values: dict[str, Any] = {
        n: np.zeros([sizes[x] for x in shape], np.float32) for n, shape in arrays.items()
    }
    values |= {**sizes, **{n: 0.5 + k for k, n in enumerate(scalars)}, **{n: np.zeros(3) for n in results}}
    chosen = rng.choice((order, tuple(n for n in order if n not in sizes), heading.parameters))
    numbers = {*sizes, *scalars}
    if [n for n in order if n in numbers] != [n for n in heading.parameters if n in numbers]:
        # numbers alone do not tell one order from the other, and the text's goes first
        chosen = order
    count = rng.randrange(len(chosen) + 1)
    places, rest = chosen[:count], [n for n in heading.parameters if n not in chosen[:count]]
    left = {n for n in rest if (n in results or (n in told and n in sizes)) and rng.random() < 0.7}
    named = {n: values[n] for n in rng.sample(rest, len(rest)) if n not in left}
    found = in_order(heading, tuple(sizes), [values[n] for n in places], named)
    for name, value in zip(heading.parameters, found, strict=True):
        assert value is (LEFT_OUT if name in left and name in results else values[name]), name
    if not named:
        assert by_place(heading, tuple(sizes), [values[n] for n in places]) == places

"""`mdh.jax.op`: results under jit and vmap, gradients, and what is refused."""

from typing import Any

import numpy as np
import pytest

import mdh
from mdh.diagnostics import Failed

jax = pytest.importorskip("jax")

LAYER = """
void layer(int M, int K, int N, float s, const float A[M][K], const float B[K][N], const float V[N],
           float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = V[j];
      for (int k = 0; k < K; k++) C[i][j] += s * A[i][k] * B[k][j];
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
    }
}
"""
ROWS = """
void rows(int n, int m, const int k[n], const float x[m][4], float y[n][4]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++) y[i][j] = x[k[i]][j] * x[k[i]][j];
}
"""


def arrays(m: int = 7) -> list[Any]:
    rng = np.random.default_rng(m)
    return [jax.numpy.asarray(rng.standard_normal(s), "float32") for s in ((m, 5), (5, 6), (6,))]


def wanted(a: Any, b: Any, v: Any) -> Any:
    return jax.numpy.maximum(0.5 * a @ b + v, 0)


@pytest.fixture(scope="module")
def layer() -> Any:
    op = mdh.jax.op(mdh.Source("layer.c", LAYER))
    return lambda a, b, v: op(0.5, a, b, v)


def near(found: Any, other: Any) -> None:
    for one, two in zip(jax.tree.leaves(found), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-5)


def test_results(layer: Any) -> None:
    a, b, v = arrays()
    near(layer(a, b, v), wanted(a, b, v))
    near(jax.jit(layer)(a, b, v), wanted(a, b, v))
    near(jax.jit(lambda a: layer(a.T, b, v))(a.T), wanted(a, b, v))


def test_gradients(layer: Any) -> None:
    a, b, v = arrays()

    def loss(f: Any) -> Any:
        return jax.jit(jax.grad(lambda a, b, v: (f(a, b, v) ** 2).sum(), (0, 1, 2)))

    near(loss(layer)(a, b, v), loss(wanted)(a, b, v))


def test_vmap(layer: Any) -> None:
    """Over one argument, over two by turns, and of a gradient."""
    a, b, v = arrays()
    many, more = jax.numpy.stack([a, 2 * a, -a]), jax.numpy.stack([b, 3 * b])

    def twice(f: Any) -> Any:
        return jax.jit(jax.vmap(jax.vmap(f, (0, None, None)), (None, 0, None)))

    near(twice(layer)(many, more, v), twice(wanted)(many, more, v))

    def slope(f: Any) -> Any:
        return jax.vmap(jax.grad(lambda a, b: (f(a, b, v) ** 2).sum(), (0, 1)), (0, None))

    near(slope(layer)(many, b), slope(wanted)(many, b))


def test_inputs_of_integers() -> None:
    op = mdh.jax.op(mdh.Source("rows.c", ROWS))
    k, x = jax.numpy.asarray([2, 0, 2], "int32"), arrays()[1][:, :4]
    near(jax.grad(lambda x: op(k, x).sum())(x), jax.grad(lambda x: (x[k] ** 2).sum())(x))


def test_calls_on_arrays_of_one_type_are_compiled_once(layer: Any) -> None:
    a, b, v = arrays()
    traced = [str(jax.make_jaxpr(layer)(a, b, v)) for _ in range(2)]
    assert traced[0] == traced[1]


def test_what_is_refused(layer: Any) -> None:
    a, b, v = arrays()
    with pytest.raises(Failed, match="A103: `V` holds float32"):
        layer(a, b, v.astype("float16"))
    with pytest.raises(Failed, match=r"A102: `s` .* known when XLA compiles"):
        jax.jit(mdh.jax.op(mdh.Source("layer.c", LAYER)))(0.5, a, b, v)
    text = "void add(int n, const float x[n], float y[n]) { for (int i = 0; i < n; i++) y[i] += x[i]; }"
    with pytest.raises(Failed, match="A121: `add` reads what `y` holds"):
        mdh.jax.op(mdh.Source("add.c", text))(v)


@pytest.mark.gpu
def test_on_a_gpu(layer: Any) -> None:
    """Needs a jax with CUDA. Arrays stay where they are, and kernels run on XLA's stream."""
    gpus = [d for d in jax.devices() if d.platform == "gpu"]
    if not gpus:
        pytest.skip("this jax knows no GPU")
    a, b, v = (jax.device_put(x, gpus[0]) for x in arrays())
    near(jax.jit(layer)(a, b, v), wanted(a, b, v))
    slope = jax.jit(jax.grad(lambda a: (layer(a, b, v) ** 2).sum()))
    near(slope(a), jax.grad(lambda a: (wanted(a, b, v) ** 2).sum())(a))

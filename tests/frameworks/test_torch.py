"""`mdh.torch.op`: results, gradients, what torch compiles and exports, and what is refused."""

from typing import Any

import pytest

import mdh
from mdh.diagnostics import Failed

torch = pytest.importorskip("torch")

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
SQUARES = (
    "void squares(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] += x[i] * x[i]; }"
)
PRODUCT = """
void product(int n, int m, const float x[n][m], float y[n]) {
  for (int i = 0; i < n; i++) {
    y[i] = 1.0f;
    for (int j = 0; j < m; j++) y[i] *= x[i][j];
  }
}
"""
PRODUCT_BACKWARD = """
void back(int n, int m, const float x[n][m], const float y[n], const float y_grad[n], float x_grad[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) x_grad[i][j] = y_grad[i] * y[i] / x[i][j];
}
"""


def layer(name: str, **options: Any) -> Any:
    return mdh.torch.op(f"mdh_tests::{name}", mdh.Source("layer.c", LAYER), **options)


def tensors(device: str = "cpu", m: int = 7) -> list[Any]:
    made = torch.Generator().manual_seed(m)
    shapes = ((m, 5), (5, 6), (6,))
    return [torch.randn(s, generator=made).to(device).requires_grad_() for s in shapes]


def same(found: Any, a: Any, b: Any, v: Any, s: float = 0.5) -> None:
    wanted = torch.relu(s * a @ b + v)
    assert torch.allclose(found, wanted, atol=1e-6)
    seed = torch.randn(found.shape, generator=torch.Generator().manual_seed(1)).to(found.device)
    for one, other in zip(
        torch.autograd.grad(found, (a, b, v), seed), torch.autograd.grad(wanted, (a, b, v), seed), strict=True
    ):
        assert torch.allclose(one, other, atol=1e-5)


def check_all(device: str) -> None:
    """What torch does with an operator on a device."""
    op = layer(f"layer_{device}")
    a, b, v = tensors(device)
    same(op(0.5, a, b, v), a, b, v)
    # a gradient with gaps, and an input with gaps
    (grad,) = torch.autograd.grad(op(0.5, a, b, v).sum(), (v,))
    assert grad.shape == (6,)
    turned = torch.randn(5, 7, device=device).T
    assert torch.allclose(op(0.5, turned, b, v), torch.relu(0.5 * turned @ b + v), atol=1e-6)
    compiled = torch.compile(lambda a, b, v: op(0.5, a, b, v) * 1.0, fullgraph=True, backend="aot_eager")
    same(compiled(a, b, v), a, b, v)
    assert set(torch.library.opcheck(op.overload, (0.5, a, b, v)).values()) == {"SUCCESS"}


def test_results_and_gradients_on_the_cpu() -> None:
    check_all("cpu")


def test_symbolic_shapes() -> None:
    """One trace serves all values of an open size, and exported programs keep it."""
    op = layer("opened", defines={"M": mdh.open(1, 64)})
    a, b, v = tensors()

    class Model(torch.nn.Module):
        def forward(self, a: Any, b: Any, v: Any) -> Any:
            return op(0.5, a, b, v)

    given = (a.detach(), b.detach(), v.detach())
    sizes = ({0: torch.export.Dim("m", max=64)}, None, None)
    exported = torch.export.export(Model(), given, dynamic_shapes=sizes)
    assert exported.module()(torch.ones(11, 5), *given[1:]).shape == (11, 6)
    (text,) = {op.backward_text(M=m, K=5, N=6) for m in (3, 9)}
    assert "int M" in text
    same(op(0.5, a, b, v), a, b, v)


def test_arrays_that_are_changed_in_place() -> None:
    source = mdh.Source("squares.c", SQUARES)
    x, y = torch.full((3,), 2.0, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    with pytest.raises(Failed, match="A121: `squares` reads what `y` holds"):
        mdh.torch.op("mdh_tests::squares", source)(x)
    op = mdh.torch.op("mdh_tests::squares", source, mutates=("y",))
    assert op(x, y) is None
    assert y.tolist() == [4.0, 4.0, 4.0]
    assert set(torch.library.opcheck(op.overload, (x, y)).values()) == {"SUCCESS"}
    with pytest.raises(Failed, match="A114"):
        op(x.requires_grad_(), y)


@pytest.mark.parametrize("kind", ["program", "kernel", "function"])
def test_backward_of_the_user(kind: str) -> None:
    program, by = mdh.Source("product.c", PRODUCT), mdh.Source("back.c", PRODUCT_BACKWARD)
    x = torch.rand(3, 4, requires_grad=True)
    if kind == "program":
        with pytest.raises(Failed, match=r"A120: .* it reduces by `\*`"):
            mdh.torch.op("mdh_tests::product", program)(x).sum().backward()
    ways: dict[str, Any] = {
        "program": by,
        "kernel": mdh.compile(by, device="c"),
        "function": lambda given, made, grads: ((grads[0] * made[0])[:, None] / given[0],),
    }
    op = mdh.torch.op(f"mdh_tests::product_{kind}", program, backward=ways[kind])
    (found,) = torch.autograd.grad(op(x).sum(), (x,))
    assert torch.allclose(found, torch.autograd.grad(x.prod(1).sum(), (x,))[0], atol=1e-6)


def test_other_languages_and_kernels() -> None:
    kernel = mdh.tc("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", device="c").mm
    op = mdh.torch.op("mdh_tests::mm", kernel)
    a, b, _ = tensors()
    found, wanted = op(a, b), a @ b
    assert torch.allclose(found, wanted, atol=1e-6)
    (one,), (other,) = (torch.autograd.grad(c.sum(), (a,)) for c in (found, wanted))
    assert torch.allclose(one, other, atol=1e-6)
    assert op.kernel() is kernel


def test_what_is_no_operator() -> None:
    source = mdh.Source("layer.c", LAYER)
    with pytest.raises(Failed, match="A121: `layer` is no name"):
        mdh.torch.op("layer", source)
    with pytest.raises(Failed, match=r"A121: .* `mutates` names `A`"):
        mdh.torch.op("mdh_tests::wrong", source, mutates=("A",))
    with pytest.raises(Failed, match=r"A122: .* takes `z`"):
        by = mdh.Source("back.c", PRODUCT_BACKWARD.replace("y_grad", "z"))
        op = mdh.torch.op("mdh_tests::wrong", mdh.Source("product.c", PRODUCT), backward=by)
        op(torch.rand(3, 4, requires_grad=True)).sum().backward()


@pytest.mark.gpu
def test_results_and_gradients_on_a_gpu() -> None:
    check_all("cuda")


@pytest.mark.gpu
def test_a_cuda_graph_captures_an_operator() -> None:
    op = layer("captured")
    a, b, v = (t.detach() for t in tensors("cuda"))
    op(0.5, a, b, v)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = op(0.5, a, b, v)
    a.mul_(2.0)
    graph.replay()
    assert torch.allclose(found, torch.relu(0.5 * a @ b + v), atol=1e-5)


@pytest.mark.gpu
def test_inductor_with_cuda_graphs() -> None:
    op = layer("reduced")
    a, b, v = tensors("cuda")
    compiled = torch.compile(lambda a, b, v: op(0.5, a, b, v) * 1.0, fullgraph=True, mode="reduce-overhead")
    for _ in range(3):
        same(compiled(a, b, v).clone(), a, b, v)

"""Derived backward programs against torch's gradients, in double, by the reference."""

from random import Random
from typing import Any

import numpy as np
import pytest

from mdh.gradient.derive import backward
from mdh.pipeline import Pipeline
from mdh.reference.evaluate import evaluate
from mdh.source import Source

torch = pytest.importorskip("torch")


def subscripts(rng: Random) -> str:
    """Two or three operands; some letters are summed, and an operand may have its diagonal."""
    letters = "abcde"[: rng.randint(2, 5)]
    most = min(3, len(letters))
    operands = ["".join(rng.sample(letters, rng.randint(1, most))) for _ in range(rng.randint(2, 3))]
    used = sorted({c for o in operands for c in o})
    if rng.random() < 0.2:
        operands[0] += operands[0][0]
    return f"{','.join(operands)}->{''.join(rng.sample(used, rng.randint(1, len(used))))}"


@pytest.mark.parametrize("seed", range(12))
def test_random_contractions(seed: int) -> None:
    rng, made = Random(f"autograd {seed}"), torch.Generator().manual_seed(seed)
    text = subscripts(rng)
    sizes = {c: rng.randint(2, 4) for c in "abcde"}
    given, _, _ = text.partition("->")
    tensors = [
        torch.randn([sizes[c] for c in o], dtype=torch.float64, generator=made).requires_grad_()
        for o in given.split(",")
    ]
    wanted = torch.einsum(text, *tensors)
    seed_of = torch.randn(wanted.shape, dtype=torch.float64, generator=made)
    grads = torch.autograd.grad(wanted, tensors, seed_of)
    source = Source(f"{text} : double.einsum", f"{text} : double")
    program = Pipeline().read(source, defines={c: n for c, n in sizes.items() if c in given})
    found = backward(program)
    reverse = Pipeline().read(found.source)
    known: dict[str, Any] = {f"in{k}": t.detach().numpy() for k, t in enumerate(tensors)}
    known |= {"out": wanted.detach().numpy(), "out_grad": seed_of.numpy()}
    known |= {g: np.zeros_like(known[n]) for g, n in found.results.items()}
    out = evaluate(reverse, {n: known[n] for n in reverse.params})
    for g, n in found.results.items():
        np.testing.assert_allclose(out[g], grads[int(n[2:])].numpy(), rtol=1e-10, atol=1e-10)

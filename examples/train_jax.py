"""Trains a network whose layers and loss are mdh's, beside the same network of jax.numpy's.

    python examples/train_jax.py --device cpu          # or cuda

Both start with the same weights and see the same points, so their losses are the same but for rounding.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import mdh

if __package__:
    from examples.spirals import CLASSES, first_weights, spirals
else:
    from spirals import CLASSES, first_weights, spirals  # type: ignore[import-not-found,no-redef]

LAYERS = Path(__file__).parent / "layers.c"
WIDTHS = (2, 64, 64, CLASSES)
dense_ramp = mdh.jax.op(LAYERS, function="dense_ramp")
dense = mdh.jax.op(LAYERS, function="dense")
cross_entropy = mdh.jax.op(LAYERS, function="cross_entropy")
Loss = Callable[[Sequence[Any], Any, Any], Any]


def by_mdh(weights: Sequence[Any], x: Any, label: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = weights
    y = dense(dense_ramp(dense_ramp(x, w1, b1), w2, b2), w3, b3)
    return cross_entropy(y, label).mean()


def by_jax(weights: Sequence[Any], x: Any, label: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = weights
    y = jax.nn.relu(jax.nn.relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3
    return -jnp.take_along_axis(jax.nn.log_softmax(y), label[:, None], 1).mean()


def trained(loss_of: Loss, device: Any, steps: int, points: int = 512) -> list[float]:
    """The losses of a training."""
    x, label = (jax.device_put(a, device) for a in spirals(points))
    weights = [jax.device_put(w, device) for w in first_weights(WIDTHS)]
    speeds = [jnp.zeros_like(w) for w in weights]

    @jax.jit
    def step(weights: Any, speeds: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(weights, x, label)
        speeds = [0.9 * v + g for v, g in zip(speeds, grads, strict=True)]
        return [w - 0.2 * v for w, v in zip(weights, speeds, strict=True)], speeds, loss

    losses = []
    for _ in range(steps):
        weights, speeds, loss = step(weights, speeds)
        losses.append(float(loss))
    return losses


def main(words: Sequence[str] | None = None) -> float:
    """Returns the largest difference of the two curves."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="cpu")
    options.add_argument("--steps", type=int, default=100)
    given = options.parse_args(words)
    device = jax.devices(given.device)[0]
    mine, other = (trained(f, device, given.steps) for f in (by_mdh, by_jax))
    print("  step     mdh     jax")  # noqa: T201
    for k in range(0, given.steps, max(1, given.steps // 10)):
        print(f"{k:6} {mine[k]:7.4f} {other[k]:7.4f}")  # noqa: T201
    away = max(abs(a - b) for a, b in zip(mine, other, strict=True))
    print(f"largest difference {away:.1e}")  # noqa: T201
    return away


if __name__ == "__main__":
    if main() > 1e-2:
        raise SystemExit("the curves differ")

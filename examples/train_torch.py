"""Trains a network whose layers and loss are mdh's, beside the same network of torch's.

    python examples/train_torch.py --device cpu        # or cuda

Both start with the same weights and see the same points, so their losses are the same but for rounding.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy as torch_loss

import mdh

if __package__:
    from examples.spirals import CLASSES, first_weights, spirals
else:
    from spirals import CLASSES, first_weights, spirals  # type: ignore[import-not-found,no-redef]

LAYERS = Path(__file__).parent / "layers.c"
WIDTHS = (2, 64, 64, CLASSES)
dense_ramp = mdh.torch.op("mdh_examples::dense_ramp", LAYERS, function="dense_ramp")
dense = mdh.torch.op("mdh_examples::dense", LAYERS, function="dense")
cross_entropy = mdh.torch.op("mdh_examples::cross_entropy", LAYERS, function="cross_entropy")
Loss = Callable[[Sequence[Any], Any, Any], Any]


def by_mdh(weights: Sequence[Any], x: Any, label: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = weights
    y = dense(dense_ramp(dense_ramp(x, w1, b1), w2, b2), w3, b3)
    return cross_entropy(y, label).mean()


def by_torch(weights: Sequence[Any], x: Any, label: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = weights
    y = torch.relu(torch.relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3
    return torch_loss(y, label.long())


def trained(loss_of: Loss, device: str, steps: int, points: int = 512) -> list[float]:
    """The losses of a training."""
    x, label = (torch.from_numpy(a).to(device) for a in spirals(points))
    weights = [torch.from_numpy(w).to(device).requires_grad_() for w in first_weights(WIDTHS)]
    optimizer = torch.optim.SGD(weights, lr=0.2, momentum=0.9)
    losses = []
    for _ in range(steps):
        loss = loss_of(weights, x, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def main(words: Sequence[str] | None = None) -> float:
    """Returns the largest difference of the two curves."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="cpu")
    options.add_argument("--steps", type=int, default=100)
    options.add_argument("--compile", action="store_true", help="by torch.compile")
    given = options.parse_args(words)
    own = torch.compile(by_mdh, fullgraph=True) if given.compile else by_mdh
    mine, other = (trained(f, given.device, given.steps) for f in (own, by_torch))
    print("  step     mdh   torch")  # noqa: T201
    for k in range(0, given.steps, max(1, given.steps // 10)):
        print(f"{k:6} {mine[k]:7.4f} {other[k]:7.4f}")  # noqa: T201
    away = max(abs(a - b) for a, b in zip(mine, other, strict=True))
    print(f"largest difference {away:.1e}")  # noqa: T201
    return away


if __name__ == "__main__":
    if main() > 1e-2:
        raise SystemExit("the curves differ")

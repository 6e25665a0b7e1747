"""What a call from Python adds to the launch itself: a product of 16³, whose kernel takes next to no time.

Writes artifacts/calls.md. Arguments: --devices c,opencl:0,cuda:0 --out FILE
"""

import argparse
import sys
from collections import deque
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import mdh
from mdh.device.api import list_devices
from mdh.device.cpu import cpu_title

ROOT = Path(__file__).resolve().parent.parent
SIZE = 16
BATCH, ROUNDS = 100, 60
FRESH = 20
"""Sets of arrays that calls take turns with: fewer than a kernel keeps bound."""
HELD = 64
"""Results that are alive at once: more than a kernel keeps bound."""
TOLERANCE = 1e-4
Action = Callable[[], Any]


def timed(actions: dict[str, Action], wait: Action) -> dict[str, float]:
    """Microseconds of one call, the least of ROUNDS batches; all actions take turns."""
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(ROUNDS):
        for name, action in actions.items():
            action()
            wait()
            start = perf_counter()
            for _ in range(BATCH):
                action()
            seconds = perf_counter() - start
            wait()
            best[name] = min(best[name], seconds / BATCH * 1e6)
    return best


def on_host(spec: str) -> dict[str, float]:
    kernel = mdh.compile(ROOT / "inputs_c" / "matmul.c", device=spec, defines=dict.fromkeys("MNK", SIZE))
    rng = np.random.default_rng(0)

    def operands() -> tuple[np.ndarray[Any, Any], ...]:
        return *(rng.random((SIZE, SIZE), np.float32) for _ in range(2)), np.zeros((SIZE, SIZE), np.float32)

    a, b, c = operands()
    checked(kernel(a, b, c), a @ b)
    sets = [operands() for _ in range(FRESH)]
    actions = {
        "launch": host_launch(kernel, (a, b, c)),
        "run()": kernel.bind(a, b, c),
        "kernel(…)": lambda: kernel(a, b, c),
        "kernel(…), other arrays": over(kernel, sets),
        "numpy.matmul(out=)": lambda: np.matmul(a, b, out=c),
    }
    actions |= einsums(np, np.einsum, spec, (a, b))
    if find_spec("torch") is not None:
        torch = import_module("torch")
        x, y, z = (torch.from_numpy(array) for array in (a, b, c))
        actions["torch.mm(out=)"] = lambda: torch.mm(x, y, out=z)
        actions |= einsums(torch, torch.einsum, spec, (x, y))
    return timed(actions, lambda: None)


def host_launch(kernel: mdh.Kernel, args: tuple[Any, ...]) -> Action:
    """What the runtime itself takes: nothing is checked or made."""
    (variant,) = kernel.variants.values()
    bound = variant.binder.bind(args)
    call: Any = variant.built.call(bound.arrays, bound.scalars)
    if kernel.device.target == "c":
        ((_, function, arguments),) = call.launches
        return lambda: function(*arguments)
    call.launch()
    queue, (one,) = call.seat.queue, call.launches

    def launch() -> None:
        one.enqueue(queue, False)
        queue.finish()

    return launch


def on_gpu(spec: str) -> dict[str, float]:
    torch = import_module("torch")
    kernel = mdh.compile(ROOT / "inputs_c" / "matmul.c", device=spec, defines=dict.fromkeys("MNK", SIZE))

    def operands() -> tuple[Any, ...]:
        return *(torch.rand((SIZE, SIZE), device=spec) for _ in range(2)), torch.zeros(
            (SIZE, SIZE), device=spec
        )

    a, b, c = operands()
    checked(kernel(a, b, c).cpu().numpy(), (a.double() @ b.double()).cpu().numpy())
    cupy = import_module("cupy")
    u, v, w = (cupy.asarray(one) for one in (a, b, c))
    (variant,) = kernel.variants.values()
    bound = variant.binder.bind((a, b, c))
    call: Any = variant.built.call(bound.arrays, bound.scalars)
    stream = torch.cuda.current_stream().cuda_stream
    ((_, launch),) = call._launches(stream).kernels
    actions = {
        "launch": lambda: launch.enqueue(stream),
        "run()": kernel.bind(a, b, c),
        "kernel(…)": lambda: kernel(a, b, c),
        "kernel(…), other arrays": over(kernel, [operands() for _ in range(FRESH)]),
        "kernel(…) of cupy": lambda: kernel(u, v, w),
        "torch.mm(out=)": lambda: torch.mm(a, b, out=c),
        "torch.add(out=)": lambda: torch.add(a, b, out=c),
    }
    actions |= einsums(torch, torch.einsum, spec, (a, b))
    if find_spec("triton") is not None:
        empty = import_module("bench.empty_kernel").empty
        actions["Triton, empty kernel"] = lambda: empty[(1,)](a, b, c)
    return timed(actions, torch.cuda.synchronize)


def einsums(library: Any, theirs: Any, spec: str, operands: tuple[Any, Any]) -> dict[str, Action]:
    """mdh's on arrays of a library, its results dropped or held for a while, and the library's own. All
    allocate the result."""
    text, name, held = "ij,jk->ik", library.__name__, deque[Any](maxlen=HELD)
    off = abs(mdh.einsum(text, *operands, device=spec) - theirs(text, *operands)).max()
    assert float(off) < TOLERANCE, off
    return {
        f"mdh.einsum(…) of {name}": lambda: mdh.einsum(text, *operands, device=spec),
        f"mdh.einsum(…) of {name}, results held": lambda: held.append(
            mdh.einsum(text, *operands, device=spec)
        ),
        f"{name}.einsum(…)": lambda: theirs(text, *operands),
    }


def over(kernel: mdh.Kernel, sets: list[tuple[Any, ...]]) -> Action:
    turn = iter(range(1 << 60))

    def call() -> None:
        kernel(*sets[next(turn) % len(sets)])

    return call


def checked(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def page(times: dict[str, dict[str, float]]) -> str:
    lines = [
        "# Calls from Python",
        "",
        f"`scripts/bench calls` on {cpu_title()}: microseconds of a product of {SIZE}³, the least of",
        f"{ROUNDS} batches of {BATCH} calls, all in turns. *launch*: the runtime's own; the rest is mdh's.",
    ]
    for title, found in times.items():
        lines += ["", f"## {title}", "", "| call | µs | beyond the launch |", "|---|---|---|"]
        lines += [f"| {name} | {t:.2f} | {t - found['launch']:+.2f} |" for name, t in found.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default=",".join(d.spec for d in list_devices() if d.spec != "oclgrind"))
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "calls.md")
    options = parser.parse_args()
    titles = {d.spec: f"{d.spec}, {d.title}" for d in list_devices()}
    times = {
        titles.get(spec, spec): (on_gpu if spec.startswith("cuda") else on_host)(spec)
        for spec in options.devices.split(",")
    }
    text = page(times)
    options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

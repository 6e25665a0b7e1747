"""Tunes the open form of listing 1; compares it with the listing as written and the vendor's library."""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import mdh
from mdh.device.api import open_device
from mdh.pipeline import Pipeline
from mdh.source import Source

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"M": 1, "N": 1000, "K": 2048}
FILE = ROOT / "inputs_c" / "matmul.c"
OPEN = ROOT / "experiments" / "spaces" / "listing1_open.mdh"
WRITTEN = ROOT / "schedules" / "published" / "hipar22_listing1.mdh"
TUNED = "listing 1 opened and tuned"
BATCH = 20
"""Launches of one sample on a GPU, captured in a graph: a single one is shorter than an event can tell."""

Run = Callable[[], float]


def on_gpu(texts: dict[str, str | None], device: str, a: Any, b: Any, c: Any) -> dict[str, Run]:
    """Seconds of one launch, by events around a replayed graph of BATCH."""
    cupy, torch = import_module("cupy"), import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = False
    stream = cupy.cuda.Stream(non_blocking=True)
    tx, ty, tz = (torch.from_dlpack(cupy.asarray(v)) for v in (a, b, c))
    opened = open_device(device)
    arrows = Pipeline()
    kept: list[Any] = []
    program = arrows.read(Source(str(FILE), FILE.read_text(encoding="utf-8")), defines=SIZES)

    def enqueued(text: str | None) -> Callable[[], Any]:
        given = None if text is None else arrows.schedule(Source("s.mdh", text))
        plan = arrows.check(program, given, opened.machine, opened.target).plan
        built = arrows.build(opened, arrows.emit(arrows.lower(plan), program))
        bound: Any = built.call({"A": a, "B": b, "C": c}, SIZES)
        # its machine code must stay loaded
        kept.append((built, bound))
        enqueue: Callable[[], Any] = bound._enqueue
        return enqueue

    def captured(call: Callable[[], Any]) -> Run:
        with stream:
            call()
            stream.synchronize()
            stream.begin_capture()
            for _ in range(BATCH):
                call()
            graph = stream.end_capture()

        def run() -> float:
            with stream:
                first, last = cupy.cuda.Event(), cupy.cuda.Event()
                first.record(stream)
                graph.launch(stream)
                last.record(stream)
                stream.synchronize()
            return float(cupy.cuda.get_elapsed_time(first, last)) * 1e-3 / BATCH

        return run

    def library() -> None:
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)):
            torch.matmul(tx, ty, out=tz)

    out = {name: captured(enqueued(text)) for name, text in texts.items()}
    out[next(iter(out))].__dict__["kept"] = kept
    return {**out, "cuBLAS": captured(library)}


def on_cpu(kernels: dict[str, Any], a: Any, b: Any, c: Any) -> dict[str, Run]:
    """Seconds of one call from Python, the library's too."""

    def timed(call: Callable[[], Any]) -> Run:
        def run() -> float:
            start = time.perf_counter()
            call()
            return time.perf_counter() - start

        return run

    out = {name: timed(lambda k=k: k(a, b, c)) for name, k in kernels.items()}  # type: ignore[misc]
    return {**out, "OpenBLAS (numpy)": timed(lambda: np.matmul(a, b, out=c))}


def right(kernel: Any, a: Any, b: Any) -> bool:
    c = np.zeros((SIZES["M"], SIZES["N"]), np.float32)
    kernel(a, b, c)
    want = a.astype(np.float64) @ b.astype(np.float64)
    return bool((np.abs(c - want) <= 1e-5 * (np.abs(a) @ np.abs(b))).all())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts", help="the folder of the page")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        found = mdh.tune(
            FILE, OPEN, options.device, budget=options.budget, trials=options.trials, defines=SIZES,
            seed=options.seed, out=folder,
        )  # fmt: skip
        took = time.perf_counter() - start
        best = Path(folder) / "best.mdh"
        best.write_text(found.schedule, encoding="utf-8")
        schedules = {"listing 1 as written": WRITTEN, TUNED: None, "mdh default": None}
        paths = {**schedules, TUNED: best}
        kernels = {n: mdh.compile(FILE, p, options.device, defines=SIZES) for n, p in paths.items()}
    rng = np.random.default_rng(options.seed)
    a = rng.uniform(-1, 1, (SIZES["M"], SIZES["K"])).astype(np.float32)
    b = rng.uniform(-1, 1, (SIZES["K"], SIZES["N"])).astype(np.float32)
    c = np.zeros((SIZES["M"], SIZES["N"]), np.float32)
    checked = {n: right(k, a, b) for n, k in kernels.items()}
    gpu = options.device.startswith("cuda")
    if gpu:
        texts = {n: None if p is None else p.read_text(encoding="utf-8") for n, p in schedules.items()}
        runs = on_gpu({**texts, TUNED: found.schedule}, options.device, a, b, c)
    else:
        runs = on_cpu(kernels, a, b, c)
    times: dict[str, list[float]] = {n: [] for n in runs}
    for _ in range(options.repeat):
        for name, run in runs.items():
            times[name].append(run())
    written = times["listing 1 as written"]
    rows = ["| | median, µs | speed-up over the listing as written | right |", "|---|---|---|---|"]
    for name, samples in times.items():
        ratio = statistics.median(w / s for w, s in zip(written, samples, strict=True))
        verdict = {True: "yes", False: "NO"}.get(checked.get(name, True))
        rows.append(f"| {name} | {statistics.median(samples) * 1e6:.2f} | {ratio:.2f} | {verdict} |")
    done = sum(t.outcome.failure is None for t in found.trials)
    text = "\n".join(
        [
            f"# Listing 1 (1×1000×2048), opened and tuned on {options.device}",
            "",
            f"{len(found.trials)} trials, {done} of them right, in {took:.0f} s (seed {options.seed}).",
            f"Medians of {options.repeat} interleaved samples, ratios paired, warm caches; a sample is",
            f"a graph of {BATCH} launches." if gpu else "a call from Python.",
            "",
            *rows,
            "",
            "The schedule found:",
            "",
            *(f"    {line}" for line in found.schedule.splitlines()),
            "",
        ]
    )
    name = f"listing1_{options.device.partition(':')[0]}.md"
    (options.out / name).write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()

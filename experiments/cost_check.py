"""Measures random legal schedules, predicts them, and says how well the order agrees.

Records of measurements are kept, so that a changed model is judged without measuring again (`--points 0`).
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

import numpy as np

from experiments.cost_bench import Bench
from experiments.cost_spaces import CPU, GPU, ROOT, Subject, bases_of, draw_plan, read_space
from experiments.cost_tables import pairs_of_table, table_names
from mdh.checker.run import check
from mdh.cost.fit import fit, spearman
from mdh.cost.predict import predict
from mdh.cost.prediction import NOMINAL, TERMS, Constants, Prediction, seconds_of
from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.machine import Machine, load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.space.identity import identity

Pair = tuple[Prediction, float]
TEN = 10
AGREEMENT = ("rho", "found", "first", "ten", "chance")
LEGEND = (
    "`fastest 5 % in best 20 %`: how many of the truly fastest the model has among its best fifth.",
    "`favourite`, `best of 10`, `10 at random`: measured time of what the model puts first, of the best of",
    "its first ten, and of the best of ten drawn without it, over the fastest of all.",
    "`./scripts/cost-check` writes this page.",
)
SAMPLED = (
    "",
    "## Random legal schedules near the shipped and default ones",
    "",
    "Each timed on the device's clock (fastest of many runs, warm caches). To spaces with * nothing was",
    "fitted.",
)
WHOLE = (
    "",
    "## Spaces measured in full",
    "",
    "Every program of a schedule with holes near an expert's (`experiments/spaces/`, measured by",
    "`./scripts/space-table`). No weights were fitted to them.",
)
SET = {
    "cpu": (),
    "gpu": (
        "What mdh/cost/gpu_terms.py says of guards, loads in flight and launches was rounded from them.",
    ),
}


@dataclass(frozen=True, slots=True)
class Score:
    """How predictions of one space agree with measurements.

    rho: rank correlation. found: share of the fastest twentieth that is in the model's best fifth. first,
    ten: time of the model's favourite, and of the best of its ten favourites, over the best time; chance: of
    the best of ten at random (median of many draws). spread: slowest over fastest.
    """

    points: int
    rho: float
    found: float
    first: float
    ten: float
    chance: float
    spread: float


def score(pairs: Sequence[Pair], constants: Constants) -> Score:
    took = np.array([s for _, s in pairs])
    guess = np.array([sum(seconds_of(constants, f) for f in p.features) for p, _ in pairs])
    order, best = guess.argsort(kind="stable"), took.min()
    top = took.argsort(kind="stable")[: max(1, len(took) // 20)]
    fifth = set(order[: max(1, len(took) // 5)].tolist())
    rng = np.random.default_rng(0)
    drawn = [took[rng.permutation(len(took))[:TEN]].min() for _ in range(400)]
    return Score(
        points=len(took),
        rho=spearman(guess, took),
        found=sum(int(i) in fifth for i in top) / len(top),
        first=float(took[order[0]] / best),
        ten=float(took[order[:TEN]].min() / best),
        chance=float(np.median(drawn) / best),
        spread=float(took.max() / best),
    )


def collect(space: Subject, device: Device, points: int, seed: int, records: Path) -> None:
    """Adds measurements of `points` fresh random schedules to the space's records."""
    program = read_space(space)
    bases = bases_of(space, program, device.machine, device.target)
    rng = Random(f"{space.name} {seed}")
    known = set(read_records(records))
    texts: list[str] = []
    for _ in range(50 * points):
        if len(texts) == points:
            break
        try:
            text = draw_plan(rng, program, bases, device.machine, device.target).text
        except LookupError:
            break
        if text not in known:
            known.add(text)
            texts.append(text)
    measure(space, device, texts, records)


def measure(space: Subject, device: Device, texts: Sequence[str], records: Path) -> None:
    bench = Bench(ROOT / "inputs_c" / f"{space.program}.c", dict(space.sizes), device.spec)
    records.parent.mkdir(parents=True, exist_ok=True)
    with records.open("a", encoding="utf-8") as file:
        for text in texts:
            took = bench.time(text)
            row = {"schedule": text, "seconds": took.seconds, "build": took.build, "note": took.note}
            file.write(json.dumps(row) + "\n")
            file.flush()
    bench.close()


def read_records(path: Path) -> dict[str, float | None]:
    """Schedule -> the fastest of its measurements, None where none came to an end."""
    out: dict[str, float | None] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for row in (json.loads(line) for line in lines if line):
        known, took = out.get(row["schedule"]), row["seconds"]
        out[row["schedule"]] = min((t for t in (known, took) if t is not None), default=None)
    return out


def noise_of(space: Subject, machine: Machine, target: str, records: Path) -> list[float]:
    """Slowest over fastest of the schedules that say the same program."""
    program = read_space(space)
    default = bases_of(space, program, machine, target)[0]
    found: dict[str, list[float]] = {}
    for text, seconds in read_records(records).items():
        if seconds:
            plan = check(program, parse_schedule(Source("record", text)), machine, target, default=default)
            found.setdefault(identity(plan), []).append(seconds)
    return [max(times) / min(times) for times in found.values() if len(times) > 1]


def pairs_of(space: Subject, machine: Machine, target: str, records: Path) -> list[Pair]:
    program = read_space(space)
    default = bases_of(space, program, machine, target)[0]
    out = []
    for text, seconds in read_records(records).items():
        if seconds:
            plan = check(program, parse_schedule(Source("record", text)), machine, target, default=default)
            out.append((predict(plan), seconds))
    return out


def table(scores: dict[str, Score]) -> list[str]:
    lines = [
        "| space | points | slowest / fastest | rank correlation | fastest 5 % in best 20 % | favourite "
        "| best of 10 | 10 at random |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {name} | {s.points} | {s.spread:.0f} | {_cells(s)} |" for name, s in scores.items()]
    middle = [median(getattr(s, name) for s in scores.values()) for name in AGREEMENT]
    lines.append("| median | | | " + " | ".join(f"{m:.2f}" for m in middle) + " |")
    return lines


def _cells(s: Score) -> str:
    return " | ".join(f"{getattr(s, name):.2f}" for name in AGREEMENT)


def report(title: str, machine: Machine, target: str, spaces: Sequence[Subject], folder: Path) -> str:
    kind = machine.kind
    records = {s.name: (s, machine, target, folder / f"{s.name}.jsonl") for s in spaces}
    pairs = {name: pairs_of(*found) for name, found in records.items()}
    noise = [ratio for found in records.values() for ratio in noise_of(*found)]
    pairs = {name: found for name, found in pairs.items() if len(found) > 4}
    nominal = NOMINAL[kind]
    lines = ["# How well the cost model ranks candidates", "", f"{title}.", *LEGEND]
    if pairs:
        fitted = fit(nominal, [p for s in spaces if s.fit for p in pairs.get(s.name, [])])
        weights = ", ".join(f"{n} {w:.2f}" for n, w in zip(TERMS[kind], fitted.weights, strict=True))
        named = {s.name: f"{s.name}{'' if s.fit else ' *'}" for s in spaces}
        lines += [
            *SAMPLED, "", _noise_text(noise), "", "With the constants that mdh comes with:", "",
            *table({named[n]: score(p, nominal) for n, p in pairs.items()}), "",
            "With constants fitted to the spaces without *:", "",
            *table({named[n]: score(p, fitted) for n, p in pairs.items()}), "", f"Weights: {weights}",
        ]  # fmt: skip
    whole = {n: pairs_of_table(n, machine, target) for n in table_names(title)}
    if whole:
        lines += [
            *WHOLE,
            *SET[kind],
            "With the constants that mdh comes with:",
            "",
            *table({n: score(p, nominal) for n, p in whole.items()}),
        ]
    return "\n".join([*lines, ""])


def _noise_text(ratios: Sequence[float]) -> str:
    if not ratios:
        return "No two of the schedules say the same program, so how well times repeat is not known."
    middle, high = np.percentile(ratios, (50, 90))
    return (
        f"How well times repeat: where schedules say the same program ({len(ratios)} times), the slowest took"
        f"\n{middle:.2f} × the fastest in the middle case and {high:.2f} × in one of ten. No model is closer."
    )


def _judge(
    machine: Machine, target: str, title: str, spaces: Sequence[Subject], folder: Path, out: Path
) -> None:
    text = report(title, machine, target, spaces, folder)
    out.write_text(text, encoding="utf-8")
    print(text)  # noqa: T201


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument(
        "--machine", help="judge records of a machine that mdh knows by this name; nothing is measured"
    )
    parser.add_argument(
        "--points", type=int, default=60, help="fresh measurements a space; 0: judge the records"
    )
    parser.add_argument("--again", action="store_true", help="measure what was measured once more")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--space", action="append", help="names; default: all of the device's kind")
    parser.add_argument("--records", type=Path, help="folder of the measurements (build/cost/KIND)")
    parser.add_argument("--out", type=Path, help="default: artifacts/cost_cpu.md, cost_cuda.md")
    return parser.parse_args()


def main() -> None:
    options = _options()
    device = None if options.machine else open_device(options.device)
    machine = load_machine(options.machine) if device is None else device.machine
    kind = machine.kind
    folder = options.records or ROOT / "build" / "cost" / kind
    spaces = [s for s in (CPU if kind == "cpu" else GPU) if not options.space or s.name in options.space]
    out = options.out or ROOT / "artifacts" / f"cost_{'cuda' if kind == 'gpu' else kind}.md"
    if device is None:
        _judge(machine, machine.targets[0], machine.title, spaces, folder, out)
        return
    for space in spaces:
        records = folder / f"{space.name}.jsonl"
        if options.again:
            measure(space, device, list(read_records(records)), records)
        if options.points:
            collect(space, device, options.points, options.seed, records)
        print(space.name, len(read_records(records)), flush=True)  # noqa: T201
    _judge(machine, device.target, device.title, spaces, folder, out)


if __name__ == "__main__":
    main()

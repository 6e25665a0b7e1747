"""Damages a record and looks what is loaded: `python -m tests.tune.records.damage --flips 10000` writes
artifacts/tuner_records.md."""

import argparse
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.results.trial import Trial
from mdh.tuner.records.file import Record
from mdh.tuner.records.read import read_record
from tests.support.source_tree import ROOT
from tests.tune.records import cache_damage
from tests.tune.records.read_only import lockable
from tests.tune.records.samples import header, write

REPORT = ROOT / "artifacts" / "tuner_records.md"


@dataclass(frozen=True)
class Tally:
    """outcomes: `loaded` or a code -> how often; wrong: loads that gave what was never written; raised:
    anything but a diagnostic; lost: most trials that one damage cost."""

    cases: int
    outcomes: tuple[tuple[str, int], ...]
    wrong: int
    raised: int
    lost: int


def flipped(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """`data` with one bit turned over, at `count` random places."""
    chance = random.Random(seed)
    for _ in range(count):
        place = chance.randrange(len(data) * 8)
        out = bytearray(data)
        out[place // 8] ^= 1 << place % 8
        yield bytes(out)


def cut(data: bytes) -> Iterator[bytes]:
    """`data` up to each of its bytes."""
    return (data[:end] for end in range(len(data)))


def read_all(path: Path) -> tuple[Trial, ...]:
    found, trials, _ = read_record(str(path))
    if found != header():
        raise AssertionError(f"another header was loaded: {found}")
    return trials


def take_up(path: Path) -> tuple[Trial, ...]:
    with Record.open(str(path), header()) as record:
        if record.header != header():
            raise AssertionError(f"another header was loaded: {record.header}")
        return tuple(record.trials)


def tally(
    texts: Iterator[bytes | None],
    written: tuple[Trial, ...],
    path: Path,
    use: Callable[[Path], tuple[Trial, ...]],
) -> Tally:
    """texts: what the file holds in turn; None: it stays as it is."""
    outcomes: Counter[str] = Counter()
    cases = wrong = raised = lost = 0
    known = {trial.number: trial for trial in written}
    for text in texts:
        cases += 1
        if text is not None:
            path.write_bytes(text)
        try:
            trials = use(path)
        except Failed as failed:
            outcomes[failed.diagnostics[0].code] += 1
            continue
        except Exception as error:  # whatever arrives here is what the table counts
            raised += 1
            outcomes[type(error).__name__] += 1
            continue
        outcomes["loaded"] += 1
        wrong += any(known.get(t.number) != t for t in trials) or len(trials) > len(written)
        lost = max(lost, len(written) - len(trials))
    return Tally(cases, tuple(outcomes.most_common()), wrong, raised, lost)


def read_only(data: bytes, written: tuple[Trial, ...], folder: Path) -> list[tuple[str, Tally]]:
    """The whole record on a disk that takes nothing: it is read, and no tuner can go on with it."""
    with lockable(folder) as lock:
        if lock is None:
            return []
        path = folder / "r.jsonl"
        path.write_bytes(data)
        lock()
        return [
            (f"the folder is read-only, {name}", tally(iter((None,)), written, path, use))
            for name, use in (("read", read_all), ("taken up", take_up))
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=12)
    args = parser.parse_args()
    # what is on the disk is not asked here, and waiting for it takes hours
    os.fsync = lambda handle: None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        written = write(path, args.trials)
        data = path.read_bytes()
        rows = [
            ("one bit flipped, read", tally(flipped(data, args.flips, args.seed), written, path, read_all)),
            (
                "one bit flipped, taken up",
                tally(flipped(data, args.flips, args.seed), written, path, take_up),
            ),
            ("cut at every byte, read", tally(cut(data), written, path, read_all)),
            ("cut at every byte, taken up", tally(cut(data), written, path, take_up)),
            *read_only(data, written, Path(folder) / "locked"),
        ]
    lines = [
        "# Damaged records",
        "",
        f"`scripts/record-damage --flips {args.flips} --seed {args.seed} --trials {args.trials}`: a record of"
        f" {args.trials} trials, {len(data):,} bytes, is damaged",
        "and loaded. A wrong load is one that holds a trial or a header that was never written. A flipped",
        "newline joins two lines and costs both trials. F174: the header was hit; a tuner writes it anew.",
        "F170: less than the header is left. F111: nothing can be added to the record, which a tuner says",
        "before it measures.",
        "",
        "| damage | cases | tracebacks | wrong loads | most trials lost to a bit | outcomes |",
        "|---|---|---|---|---|---|",
    ]
    for name, t in rows:
        said = ", ".join(f"{outcome} {count:,}" for outcome, count in t.outcomes)
        lost = t.lost if "bit" in name else "-"
        lines.append(f"| {name} | {t.cases:,} | {t.raised} | {t.wrong} | {lost} | {said} |")
    lines += [
        "", "# Damaged entries of the cache", "",
        "Entries of the cache of machine code, damaged in the same ways and looked up. A miss removes the",
        "entry and costs a build. Whole: the bit was of the head and says nothing; what was kept is there.",
        "",
        "| damage | cases | outcomes |", "|---|---|---|",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        lines += cache_damage.table(Path(folder), args.flips, args.seed)
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))  # noqa: T201 - its result


if __name__ == "__main__":
    main()

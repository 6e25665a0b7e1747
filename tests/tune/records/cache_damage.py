"""Damages entries of the cache of machine code: every one is a miss, or what was kept, whole."""

import os
import resource
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from mdh.device.cache import Cache, key_of, open_cache
from tests.tune.records.read_only import lockable

ENTRIES = 50


def kept(folder: Path, entries: int = ENTRIES, seed: int = 1) -> dict[str, bytes]:
    """A cache of that many entries in `folder`: key -> what was put."""
    chance, cache = Random(seed), open_cache(folder)
    out = {key_of("cubin", str(n)): chance.randbytes(chance.randrange(400)) for n in range(entries)}
    for key, payload in out.items():
        if not cache.put(key, payload):
            raise OSError(f"{folder} takes no entry")
    return out


def cut(folder: Path, written: dict[str, bytes]) -> tuple[int, Counter[str]]:
    """Every entry up to each of its bytes: cases, outcomes."""
    return _judged(
        folder, written, ((key, raw[:end]) for key, raw in _raws(folder, written) for end in range(len(raw)))
    )


def flipped(folder: Path, written: dict[str, bytes], count: int, seed: int) -> tuple[int, Counter[str]]:
    """One bit of an entry turned over, at `count` random places."""
    raws, chance = _raws(folder, written), Random(seed)

    def cases() -> Iterator[tuple[str, bytes]]:
        for _ in range(count):
            key, raw = chance.choice(raws)
            place, out = chance.randrange(len(raw) * 8), bytearray(raw)
            out[place // 8] ^= 1 << place % 8
            yield key, bytes(out)

    return _judged(folder, written, cases())


def swapped(folder: Path, written: dict[str, bytes]) -> tuple[int, Counter[str]]:
    """Whole entries under one another's names."""
    raws = _raws(folder, written)
    shifted = zip(raws, raws[1:] + raws[:1], strict=True)
    return _judged(folder, written, ((key, raw) for (key, _), (_, raw) in shifted))


def full(folder: Path, written: dict[str, bytes]) -> tuple[int, Counter[str]]:
    """The disk ends inside of an entry that is put: at every eighth byte of each."""
    cache, outcomes, cases = Cache(folder), Counter[str](), 0
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for key, raw in _raws(folder, written):
            cache.drop(key)
            for end in range(0, len(raw), 8):
                resource.setrlimit(resource.RLIMIT_FSIZE, (end, limits[1]))
                told = cache.put(key, written[key])
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
                cases += 1
                outcomes["wrong" if told or cache.get(key) is not None else "miss"] += 1
            cache.put(key, written[key])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    left = [p for p in folder.rglob("*") if p.is_file() and p.suffix != ".bin"]
    outcomes["left behind"] += len(left)
    return cases, outcomes


def read_only(folder: Path) -> tuple[int, Counter[str]]:
    """Every entry is looked up, put anew and removed on a disk that takes nothing, and new ones are put. No
    cases where this user can have no such disk."""
    outcomes: Counter[str] = Counter()
    with lockable(folder) as lock:
        if lock is None:
            return 0, outcomes
        written = kept(folder / "cache")
        lock()
        cache = Cache(folder / "cache")
        for key, payload in written.items():
            told = cache.put(key, b"other") or cache.put(key_of("new", key), payload)
            cache.drop(key)
            outcomes["wrong" if told or cache.get(key) != payload else "whole"] += 1
        outcomes["wrong"] += cache.trim(0) + cache.clear().entries
    return len(written), outcomes


def _raws(folder: Path, written: dict[str, bytes]) -> list[tuple[str, bytes]]:
    return [(key, _place(folder, key).read_bytes()) for key in written]


def _place(folder: Path, key: str) -> Path:
    return folder / key[:2] / f"{key}.bin"


def _judged(
    folder: Path, written: dict[str, bytes], cases: Iterator[tuple[str, bytes]]
) -> tuple[int, Counter[str]]:
    """`miss`: it is gone then; `whole`: what was put; `wrong`: anything else."""
    cache, outcomes, count = Cache(folder), Counter[str](), 0
    for key, raw in cases:
        path = _place(folder, key)
        path.write_bytes(raw)
        count += 1
        try:
            found = cache.get(key)
            outcomes[
                "miss"
                if found is None and not path.exists()
                else "whole"
                if found == written[key]
                else "wrong"
            ] += 1
        except Exception as error:  # whatever arrives here is what the table counts
            outcomes[type(error).__name__] += 1
        path.parent.mkdir(mode=0o700, exist_ok=True)
    for key, payload in written.items():
        cache.put(key, payload)
    return count, outcomes


def table(folder: Path, flips: int, seed: int) -> list[str]:
    """Rows of Markdown."""
    os.fsync = lambda handle: None
    written = kept(folder / "cache")
    place = folder / "cache"
    rows = [
        (f"cut at every byte of {ENTRIES} entries", cut(place, written)),
        ("one bit flipped", flipped(place, written, flips, seed)),
        ("entries under one another's names", swapped(place, written)),
        ("the disk is full at every eighth byte", full(place, written)),
        ("the folder is read-only", read_only(folder / "locked")),
    ]
    return [
        f"| {name} | {cases:,} | {', '.join(f'{o} {n:,}' for o, n in outcomes.most_common() if n)} |"
        for name, (cases, outcomes) in rows
        if cases
    ]

"""Kernels whose first call tunes them: `mdh.compile(..., tune="10s")`.

What a tuning found is kept in mdh's cache with its record. It is found again for the same program at the same
sizes, on the same device with the same versions of mdh, compiler and driver.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from mdh.api.explained import say
from mdh.api.options import of_type
from mdh.api.texts import GivenTexts
from mdh.api.tuning import job_of, run_order, seconds_of
from mdh.device.cache import Cache, cache_if_any
from mdh.device.protocols import Device
from mdh.folders import scratch
from mdh.pipeline import Pipeline
from mdh.release import release
from mdh.results.goal import Goal
from mdh.source import Source
from mdh.tuner.order import Order
from mdh.tuner.records.key import key_of, machine_part, program_parts, schedule_part

SCHEMA = "mdh.autotune/1"
RECORD = "autotune.jsonl"


def autotuner(device: Device, budget: float | str) -> "Autotuner":
    """Raises Failed F190 for a budget that is no time, and TypeError for one that is neither a number nor a
    text."""
    of_type("tune", budget, (int, float, str), "seconds, or a text such as '10s'")
    return Autotuner(device, float(seconds_of(budget)))


@dataclass(frozen=True, slots=True)
class Autotuner:
    """seconds: of a tuning."""

    device: Device
    seconds: float

    def __call__(self, given: GivenTexts) -> GivenTexts:
        """The texts with the fastest schedule that is known. If no tuning was as long as this one, it tunes
        first, and continues an earlier one. Raises Failed as `mdh.tune` does."""
        key, cache = self._key(given), cache_if_any()
        kept = _kept(cache, key)
        if kept is None or kept[0] < self.seconds:
            kept = self.seconds, self._found(given, key, cache)
            if cache is not None:
                cache.put(key, json.dumps(kept).encode())
        return replace(given, schedule=Pipeline().schedule(Source("<tuned>", kept[1])))

    def _found(self, given: GivenTexts, key: str, cache: Cache | None) -> str:
        place = key_of((("record", key),))
        before = None if cache is None else cache.get(place)
        with scratch("autotune") as name:
            folder = Path(name)
            record = folder / RECORD
            if before is not None:
                record.write_bytes(before)
            say(f"tuning `{given.source.name}` for {self.seconds:g} s")
            order = Order(
                job_of(given, self.device.spec, deterministic=given.deterministic), given.read(Pipeline()),
                given.schedule, (self.device.spec,), Goal(None, self.seconds, None), folder, str(record),
                command=f"mdh.compile({given.source.name!r}, tune={self.seconds:g})",
            )  # fmt: skip
            try:
                found = run_order(order)
            finally:
                # an interrupted tuning goes on here next time
                if cache is not None and record.exists():
                    cache.put(place, record.read_bytes())
        assert found.schedule is not None
        return found.schedule

    def _key(self, given: GivenTexts) -> str:
        device = self.device
        return key_of(
            (
                ("schema", SCHEMA),
                *program_parts(given.read(Pipeline()), deterministic=given.deterministic),
                ("schedule", "" if given.schedule is None else schedule_part(given.schedule)),
                ("machine", machine_part(device.machine)),
                ("device", device.title),
                ("target", device.target),
                ("version of mdh", release()),
                *((f"version of {name}", text) for name, text in device.versions),
            )
        )


def _kept(cache: Cache | None, key: str) -> tuple[float, str] | None:
    """Seconds and schedule of an earlier tuning."""
    payload = None if cache is None else cache.get(key)
    if payload is None:
        return None
    try:
        seconds, text = json.loads(payload)
    except ValueError:
        return None
    return (seconds, text) if isinstance(seconds, float) and isinstance(text, str) else None

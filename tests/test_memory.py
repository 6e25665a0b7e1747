"""Where memory is short: what is left is known, and commands end with results or coded messages."""

import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mdh.device.ballast import Ballast, evicted, evicting_bytes
from mdh.device.protocols import RunTimes
from mdh.diagnostics import Failed, fail
from mdh.memory_left import demand_room, held_bytes, limited, memory_left, memory_total, within_room
from mdh.report.measurement import measure, timing_text
from mdh.results.trial import Effort
from mdh.tuner.measure.timing import run_timed
from tests.campaigns.low_memory import one

MB, GB = 1 << 20, 1 << 30


def _write(root: Path, files: dict[str, object]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


SYSTEM = {"proc/self/statm": "1000 500 100 1 0 800 0", "proc/meminfo": f"MemAvailable: {8 * GB >> 10} kB"}


def test_the_second_version_of_control_groups_counts_up_to_its_top(tmp_path: Path) -> None:
    group = "sys/fs/cgroup"
    _write(tmp_path, {
        **SYSTEM, "proc/self/cgroup": "0::/pod/job",
        "proc/self/mountinfo": "30 1 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate",
        f"{group}/pod/memory.max": 3 * GB, f"{group}/pod/memory.high": "max",
        f"{group}/pod/memory.current": 2 * GB,
        f"{group}/pod/memory.stat": f"anon 5\nactive_file {256 * MB}\ninactive_file {256 * MB}\nslab 7",
        f"{group}/pod/job/memory.max": "max", f"{group}/pod/job/memory.high": 2 * GB,
        f"{group}/pod/job/memory.current": 256 * MB, f"{group}/pod/job/memory.stat": "anon 5",
    })  # fmt: skip
    assert memory_left(tmp_path) == 1536 * MB
    assert memory_total(tmp_path) == min(2 * GB, memory_total(tmp_path / "none"))


def test_the_first_version_of_control_groups_in_a_container_that_sees_its_host_s_names(
    tmp_path: Path,
) -> None:
    group = "sys/fs/cgroup/memory"
    _write(tmp_path, {
        **SYSTEM, "proc/self/cgroup": "5:cpu:/\n4:memory,x:/docker/a1/inner\n0::/",
        "proc/self/mountinfo":
            "31 1 0:27 /docker/a1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "32 1 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu",
        f"{group}/memory.limit_in_bytes": 1 * GB, f"{group}/memory.usage_in_bytes": 512 * MB,
        f"{group}/memory.stat": f"active_file 1\ntotal_active_file 0\ntotal_inactive_file {128 * MB}",
        f"{group}/inner/memory.limit_in_bytes": 9223372036854771712,
        f"{group}/inner/memory.usage_in_bytes": 1, f"{group}/inner/memory.stat": "",
    })  # fmt: skip
    assert memory_left(tmp_path) == 640 * MB


def test_without_groups_it_is_what_the_machine_has_left(tmp_path: Path) -> None:
    _write(tmp_path, SYSTEM)
    assert memory_left(tmp_path) == 8 * GB
    assert 0 < memory_left(tmp_path / "nothing") == memory_total(tmp_path / "nothing")
    assert 0 < memory_left() <= memory_total()


@pytest.fixture
def little() -> Iterator[int]:
    """A process that may take 64 MiB more."""
    with limited(64 * MB):
        yield 64 * MB


def test_limits_of_the_process_count_and_are_put_back(little: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert memory_left() <= little
    with limited(1 << 40):
        # never beyond the user's own limit
        assert resource.getrlimit(resource.RLIMIT_DATA) == before
    with limited(MB):
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] <= held_bytes() + MB
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_room_is_asked_for_before_it_is_taken(little: int) -> None:
    demand_room("a little", MB)
    with pytest.raises(Failed, match=r"D104: there is no room for a lot \(1,073,741,824 bytes\)"):
        demand_room("a lot", GB)
    with (
        pytest.raises(Failed, match="D104: there is no room for the reference"),
        within_room("the reference"),
    ):
        np.ones(GB)


def test_caches_are_evicted_by_what_they_need_and_the_memory_allows() -> None:
    assert evicting_bytes(32 * MB, 8 * GB) == 128 * MB
    assert evicting_bytes(480 * MB, 4 * GB) == GB
    assert evicting_bytes(480 * MB, GB) == 0


def test_without_room_there_are_no_cold_times_and_the_report_says_so(little: int) -> None:
    small, large = Ballast((MB,)), Ballast((MB, 32 * MB))
    assert not evicted(small.write)
    assert small.write() == 4 * MB
    assert "33,554,432 bytes" in evicted(large.write)
    timing = measure(lambda: (1e-3, 2e-3), large.write, 3)
    assert (timing.warm, timing.cold) == ((1e-3,) * 3, ())
    text = timing_text(timing, 100, 100)
    assert "cold times are left out: there is no room to evict the caches" in text
    assert measure(lambda: (1e-3, 2e-3), small.write, 3).cold == (1e-3,) * 3


class _Call:
    def launch(self) -> None: ...

    def poison(self) -> None: ...

    def sample(self) -> RunTimes:
        return RunTimes(None, 1e-3)


def test_the_tuner_times_warm_alone_where_caches_cannot_be_evicted() -> None:
    def flush() -> None:
        nonlocal flushed
        flushed += 1
        if flushed > 1:
            raise fail("D104", "another process took it")

    flushed = 0
    a, b = run_timed((_Call(), _Call()), Effort(samples=3, cold=True), flush, lambda _: None)
    assert (len(a.warm), len(b.warm), a.cold, b.cold, flushed) == (3, 3, [], [], 2)
    with pytest.raises(Failed, match="D105"):
        evicted(lambda: (_ for _ in ()).throw(fail("D105", "the device is gone")))


@pytest.mark.parametrize(
    ("verb", "device", "limit"), [("run", "c", 600), ("run", "opencl:0", 600), ("tune", "c", 900)]
)
def test_commands_under_a_limit_end_with_a_result_or_a_code(
    tmp_path: Path, verb: str, device: str, limit: int
) -> None:
    came = one(verb, device, limit, tmp_path)
    assert not came.bad, came
    assert came.status == 0 or came.codes


def test_arrays_that_do_not_fit_are_refused_before_they_are_made(tmp_path: Path) -> None:
    came = one("run", "c", 900, tmp_path, size=8192)
    assert (came.status, came.codes, came.bad) == (1, ("D104",), "")

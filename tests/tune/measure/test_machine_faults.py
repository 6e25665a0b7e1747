"""Faults of the machine: waited for, told once, and never held against a candidate."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.dtype import F32
from mdh.memory_left import no_room as short_of
from mdh.results.trial import Failure, Outcome
from mdh.target.emit import emit
from mdh.tuner.measure import failures, outage, posts
from mdh.tuner.measure.failures import (
    MACHINE,
    doubtful,
    from_outside,
    misbooked,
    of_the_machine,
    refused,
    wordless,
)
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.measure.process import Command, Late, ProcessGroup, Worker, group_of
from tests.target import features
from tests.tune.measure.bench import EFFORT, GOOD, JOB, LIMITS, gone


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "_FIRST", 0.01)
    monkeypatch.setattr(posts, "_BACK_OFF", 0.01)


@pytest.mark.parametrize(
    ("outcome", "machine"),
    [
        *((Outcome(Failure.LAUNCH, code, "it fails"), True) for code in MACHINE),
        (Outcome(Failure.COMPILE, "D103", "ld: final link failed: No space left on device"), True),
        (Outcome(Failure.LAUNCH, "D105", "x.so: failed to map segment from shared object"), True),
        (Outcome(Failure.CRASH, "D131", "ended with status 1: OSError: [Errno 28] No space left"), True),
        (Outcome(Failure.COMPILE, "D103", "gcc: fatal error: Killed signal terminated program cc1"), True),
        (Outcome(Failure.COMPILE, "D103", "fails on the text; it was ended by signal 9 (Killed)"), True),
        (Outcome(Failure.LAUNCH, "D105", "/tmp/0-kernels.so: file too short"), True),
        (Outcome(Failure.COMPILE, "D103", "k.c:3:1: error: expected ';'"), False),
        (Outcome(Failure.CRASH, "D131", "the process that did its launch ended by SIGSEGV"), False),
        (Outcome(Failure.TIMEOUT, "D130", "the candidate did not end its build in 60 s"), False),
        (Outcome(None, warm=(1.0,)), False),
    ],
)  # fmt: skip
def test_what_earlier_versions_booked_wrong_is_known(outcome: Outcome, machine: bool) -> None:
    assert misbooked(outcome) == machine


def test_signals_from_outside_and_words_of_the_system() -> None:
    assert [from_outside(-n) for n in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)] == [True] * 3
    assert [from_outside(n) for n in (-signal.SIGSEGV, -signal.SIGABRT, 0, 9)] == [False] * 4
    assert of_the_machine((Diagnostic("D103", "refused", notes=("as: No space left on device",)),))
    assert not of_the_machine((Diagnostic("D103", "refused", notes=("line 3: error",)),))


def test_the_folder_that_is_full_is_named_and_not_the_next_that_python_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "full"))
    assert f"in `{tmp_path}/full`: no space" in str(failures.no_room(OSError(28, "No space left on device")))


def test_a_group_that_stands_still_is_seen() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 60"], start_new_session=True) as process:
        os.killpg(process.pid, signal.SIGSTOP)
        end = time.monotonic() + 5.0
        while not group_of(process.pid).stopped and time.monotonic() < end:
            time.sleep(0.01)
        assert group_of(process.pid).stopped
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize(("work", "idle"), [("time.sleep(60)", True), ("\n while True: pass", False)])
def test_a_late_worker_that_waits_is_told_from_one_that_works(
    work: str, idle: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Both work first."""
    code = f"import time\nfor i in range(10**7 // 2): pass\nif True: {work}\n"
    (tmp_path / "busy.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr("mdh.tuner.measure.process.WORKER", "busy")
    # others may have the machine while this is tested
    monkeypatch.setattr("mdh.tuner.measure.process._IDLE", 0.05)

    async def run() -> Late:
        command = Command((), {**os.environ, "PYTHONPATH": str(tmp_path)})
        worker = await Worker.start(command)
        with pytest.raises(Late) as late:
            await worker.ask({}, 3.0)
        return late.value

    assert asyncio.run(run()).idle == idle


def test_a_worker_that_gets_no_processor_has_more_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is ready to run; the system is made to say that others have the processors."""
    code = "import time\nend = time.time() + 60\nwhile time.time() < end: pass\n"
    (tmp_path / "busy.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr("mdh.tuner.measure.process.WORKER", "busy")

    async def late(ready: bool) -> float:
        group = ProcessGroup(stopped=False, ready=ready, seconds=1.0)
        monkeypatch.setattr("mdh.tuner.measure.process.group_of", lambda number: group)
        worker = await Worker.start(Command((), {**os.environ, "PYTHONPATH": str(tmp_path)}))
        start = time.monotonic()
        with pytest.raises(Late) as found:
            await worker.ask({}, 0.4)
        assert found.value.idle
        return time.monotonic() - start

    assert asyncio.run(late(ready=False)) < 1.2 < asyncio.run(late(ready=True))


TUNER = """
import subprocess, sys, time
from mdh.tuner.measure.guardian import Guardian
guardian = Guardian()
left, ended = (subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(2))
guardian.watch(left.pid)
guardian.watch(ended.pid)
guardian.leave(ended.pid)
print(left.pid, ended.pid, guardian._process.pid, flush=True)
time.sleep(60)
"""


def test_the_guardian_ends_the_groups_of_a_killed_tuner_and_no_other() -> None:
    with subprocess.Popen([sys.executable, "-c", TUNER], stdout=subprocess.PIPE, text=True) as tuner:
        assert tuner.stdout is not None
        left, ended, guardian = (int(word) for word in tuner.stdout.readline().split())
        os.kill(left, signal.SIGSTOP)
        tuner.kill()
    end = time.monotonic() + 5.0
    while not (gone(left) and gone(guardian)) and time.monotonic() < end:
        time.sleep(0.02)
    assert gone(left) and gone(guardian) and not gone(ended)
    os.kill(ended, signal.SIGKILL)


WRAPPER = """#!/bin/sh
# fails while the file is there, except when it is asked what it is
case "$*" in *-shared*) [ -e {bad} ] && {{ echo "as: No space left on device" >&2; exit 1; }} ;; esac
exec cc "$@"
"""


def test_a_bench_outlasts_a_full_disk_and_workers_that_die_at_their_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, wrapper, said = tmp_path / "bad", tmp_path / "cc", []
    wrapper.write_text(WRAPPER.format(bad=bad), encoding="utf-8")
    wrapper.chmod(0o755)
    bad.touch()
    monkeypatch.setenv("CC", str(wrapper))

    def repair(remark: str) -> None:
        said.append(remark)
        bad.unlink(missing_ok=True)

    async def run() -> list[Outcome]:
        async with LocalBench(replace(JOB, device="c"), jobs=1, say=repair) as bench:
            first = await bench.trial(GOOD[0], EFFORT, LIMITS)
            post = bench._measurers.all[0]
            well, post.command = post.command, replace(post.command, arguments=("--nonsense",))
            assert post._worker is not None
            os.kill(post._worker.pid, signal.SIGKILL)
            trial = asyncio.create_task(bench.trial(GOOD[1], EFFORT, LIMITS))
            while len(said) < 2 and not trial.done():
                await asyncio.sleep(0.01)
            post.command = well
            return [first, await trial]

    assert [o.failure for o in asyncio.run(run())] == [None, None]
    assert [remark[:5] for remark in said] == ["D114:", "D133:"]


def test_what_cuda_says_of_the_system_is_not_the_candidates() -> None:
    def outcome(code: str, message: str) -> Outcome:
        return Outcome(Failure.LAUNCH, code, message)

    assert misbooked(outcome("D105", "NVIDIA H200 could not load `f`: CUDA_ERROR_OPERATING_SYSTEM"))
    assert misbooked(outcome("D120", "NVRTC fails on every text: it says nothing"))
    assert not misbooked(outcome("D105", "NVIDIA H200 could not load `f`: CUDA_ERROR_INVALID_IMAGE"))
    assert wordless(outcome("D121", "NVRTC fails on the kernel text of f for sm_90a; out of memory"))
    assert not wordless(outcome("D121", "NVRTC refuses the kernel text of f for sm_90a; kernel.cu(3): error"))


def test_a_compiler_without_memory_in_one_process_is_asked_in_another() -> None:
    """PoCL's keeps most of what it takes."""

    async def run() -> tuple[bool, Outcome]:
        async with LocalBench(JOB, jobs=1) as bench:
            (post,) = bench._builders.all
            pid = (await post.worker()).pid
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + (16 << 20)
            resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            outcome = await bench.trial(GOOD[0], EFFORT, LIMITS)
            return (await post.worker()).pid == pid, outcome

    same, outcome = asyncio.run(run())
    assert not same
    assert outcome.failure is None


def test_a_compiler_without_files_is_no_fault_of_the_text() -> None:
    """PoCL's says nothing then; a text that it refuses is told from it."""
    device = open_device("opencl:0")
    text = emit(*features.scaled("opencl", F32, 8))
    device.build(text)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limit[1]))
    try:
        with pytest.raises(Failed, match="fails on every text") as found:
            device.build(replace(text, source=f"{text.source}// {os.getpid()} {time.time()}\n"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert of_the_machine(found.value.diagnostics)
    with pytest.raises(Failed, match="refuses the kernel text") as found:
        device.build(replace(text, source="no OpenCL\n"))
    assert not doubtful(refused(found.value.diagnostics))


def test_what_a_compiler_lacks_is_told_from_what_a_candidate_takes() -> None:
    compiler = refused(short_of("the compiler of the OpenCL runtime", 1 << 25).diagnostics)
    assert doubtful(compiler) and misbooked(compiler)
    own = refused(short_of("workspace `w`", 1 << 25).diagnostics)
    assert not doubtful(own) and not misbooked(own)


def test_a_driver_that_lost_its_handles_says_nothing_of_a_kernel() -> None:
    said = "the GPU could not launch `matmul_kernel`: CUDA_ERROR_"
    assert doubtful(Outcome(Failure.LAUNCH, "D105", said + "INVALID_HANDLE"))
    assert not doubtful(Outcome(Failure.LAUNCH, "D105", said + "LAUNCH_OUT_OF_RESOURCES"))

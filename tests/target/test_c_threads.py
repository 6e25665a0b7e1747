"""OpenMP's threads are moved apart before they get work."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mdh.device.c_compiler import find_compiler
from mdh.device.c_threads import Threads, settle_of, with_settle
from tests.support.native import compiler

WHERE = """
void where(int *cpu)
{
    #pragma omp parallel
    cpu[omp_get_thread_num()] = sched_getcpu();
}
"""


def test_threads_are_settled_where_they_may_have_slept() -> None:
    calls: list[int] = []
    threads = Threads()
    threads.settled(lambda: calls.append(1))
    threads.used()
    threads.settled(lambda: calls.append(2))
    time.sleep(0.01)
    threads.settled(lambda: calls.append(3))
    assert calls == [1, 3]


def test_who_places_threads_herself_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_PROC_BIND", "close")
    calls: list[int] = []
    Threads().settled(lambda: calls.append(1))
    assert not calls


def test_what_shares_nothing_out_has_no_part_in_it() -> None:
    assert with_settle("void f(void) {}\n") == "void f(void) {}\n"


@pytest.mark.skipif(compiler() is None or sys.platform != "linux", reason="needs a C compiler, on Linux")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_threads_end_up_apart(tmp_path: Path) -> None:
    source, library = tmp_path / "where.c", tmp_path / "where.so"
    text = with_settle("#pragma omp declare target\n#pragma omp end declare target\n")
    source.write_text(text + WHERE, encoding="utf-8")
    found = find_compiler()
    words = [*found.command, "-fopenmp", "-shared", "-fPIC", str(source), "-o", str(library)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = ctypes.CDLL(str(library))
    settle = settle_of(loaded)
    assert settle is not None
    allowed = os.sched_getaffinity(0)
    apart = 0
    for _ in range(20):
        cpus = (ctypes.c_int * 1024)(*[-1] * 1024)
        settle()
        loaded.where(cpus)
        used = [cpu for cpu in cpus if cpu >= 0]
        apart += len(set(used)) == len(used)
        time.sleep(0.002)
    # others may move them; nobody is bound
    assert apart >= 1
    assert os.sched_getaffinity(0) == allowed

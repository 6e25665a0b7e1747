"""`mdh check --watch`: checks again when a file changes, and ends by a signal without a word too many."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import Queue
from threading import Thread

from mdh.cli.command_line import CommandLine
from mdh.cli.options import Request
from mdh.cli.watch import states

PROGRAM = "void f(const float A[N], float C[N]) { for (int i = 0; i < N; i++) C[i] = A[i]; }\n"
STEP = "(de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x )\n"


def test_the_files_of_a_command(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text('#include "a.h"\n' + PROGRAM, encoding="utf-8")
    (tmp_path / "a.h").write_text('#include "b.h"\n', encoding="utf-8")
    line = CommandLine.of(["check", "f.c", "--const", "T=t.npy", "--const-pattern=P=p.npy"])
    request = Request(line, str(tmp_path / "f.c"), str(tmp_path / "s.mdh"), machine="a100")
    found = states(request)
    names = {Path(p).name for p in found}
    assert names == {"f.c", "s.mdh", "a100", "t.npy", "p.npy", "a.h", "b.h"}
    assert {Path(p).name for p, state in found.items() if state is not None} == {"f.c", "a.h"}


def test_a_change_and_the_end(tmp_path: Path) -> None:
    program, schedule = tmp_path / "f.c", tmp_path / "s.mdh"
    program.write_text(PROGRAM, encoding="utf-8")
    schedule.write_text(STEP, encoding="utf-8")
    words = ["check", str(program), "--schedule", str(schedule), "-m", "a100", "-D", "N=64", "--watch"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mdh", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines: Queue[str] = Queue()
    assert process.stdout is not None
    Thread(target=lambda out: [lines.put(x) for x in out], args=(process.stdout,), daemon=True).start()

    def until(word: str) -> None:
        end = time.monotonic() + 60
        while word not in lines.get(timeout=max(0.1, end - time.monotonic())):
            pass

    until("is legal")
    until("waits for changes")
    schedule.write_text(STEP.replace("8", "128"), encoding="utf-8")
    until("error[K")
    until("waits for changes")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    process.stdout.close()
    rest = [lines.get() for _ in range(lines.qsize())]
    assert rest == ["mdh: interrupted\n"]

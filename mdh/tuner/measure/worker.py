"""The process of a worker: `python -m mdh.tuner.measure.worker`. Only the bench starts it.

Requests and replies are lines of JSON over a socket of their own, so that output of libraries does no harm.
The first message describes the device, or says why the worker cannot work. The process ends when the socket
is closed.
"""

import argparse
import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np

from mdh.device.api import open_device
from mdh.device.cache import Cache
from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.open_defines import parameters_of, split_defines, with_ranges
from mdh.frontend.open_program import closed
from mdh.frontend.read import bound_text, read_bound
from mdh.ir.program import Program
from mdh.language import LANGUAGES
from mdh.machine import load_machine
from mdh.release import release
from mdh.results.trial import Job
from mdh.schema import convert
from mdh.source import Source
from mdh.tuner.measure.bench import Ground
from mdh.tuner.measure.failures import no_room
from mdh.tuner.measure.progress import Progress
from mdh.tuner.measure.wire import Json, failed_json, ground_json

_PR_SET_PDEATHSIG = 1
_NICER = 5
"""The niceness of builders, so that they give way to measuring."""


class WorkerRole(Protocol):
    def answer(self, request: Json) -> Json: ...

    def poisoned(self, found: Diagnostic) -> bool: ...


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--role", choices=("build", "measure"), required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--number", required=True)
    parser.add_argument("--cache", type=Path)
    given = parser.parse_args(words)
    _die_with(given.parent)
    _be_the_victim()
    with socket.socket(fileno=given.fd) as channel, channel.makefile("rwb") as lines:

        def say(message: Json) -> None:
            lines.write(json.dumps(message).encode() + b"\n")
            lines.flush()

        try:
            role, hello = _take_role(given)
        except Failed as failed:
            say({"failed": failed_json(failed)})
            return 0
        say(hello)
        for line in lines:
            reply = _reply(role, json.loads(line))
            say(reply)
            if reply.get("poisoned"):
                return 0
    return 0


def _take_role(given: argparse.Namespace) -> tuple[WorkerRole, Json]:
    """The role of this process and its first message. Raises Failed D1xx if the device cannot be opened, and
    any error of the program's text."""
    folder: Path = given.folder
    job = convert(json.loads((folder / "job.json").read_text(encoding="utf-8")), Job)
    program = _read(job)
    if given.role == "measure":
        return _measurer(given, job, closed(program, dict(job.at)))
    os.nice(_NICER)
    return _builder(given, job, program), {}


def _read(job: Job) -> Program:
    """The program with the job's open sizes. Raises Failed with C1xx diagnostics."""
    source = Source(job.path, job.source)
    bound, opens = split_defines(source, with_ranges(dict(job.defines), job.ranges))
    text = bound_text(source, bound, parameters_of(opens, job.ranges))
    return read_bound(text, function=job.function, strict_fp=job.strict_fp, allow=job.allow, opens=opens)


def _measurer(given: argparse.Namespace, job: Job, program: Program) -> tuple[WorkerRole, Json]:
    # checker and code generators are not imported here: candidates crash this process, and it must restart
    # fast
    module = import_module("mdh.tuner.measure.measuring")
    device = open_device(given.device)
    progress = Progress(given.folder / f"{given.number}.at")
    role: WorkerRole = module.Measurer(job, program, device, given.folder, progress)
    own = (("mdh", release()), ("python", sys.version.split()[0]), ("numpy", np.__version__))
    ground = Ground(device.machine, device.target, device.title, (*own, *device.versions))
    return role, ground_json(ground)


def _builder(given: argparse.Namespace, job: Job, program: Program) -> WorkerRole:
    module = import_module("mdh.tuner.measure.building")
    machine = load_machine(given.folder / "machine.toml")
    target = (given.folder / "target").read_text(encoding="utf-8")
    opened = None if LANGUAGES[target].offline else open_device(given.device)
    cache = None if given.cache is None else Cache(given.cache)
    role: WorkerRole = module.Builder(job, program, machine, target, opened, cache, given.folder)
    return role


def _reply(role: WorkerRole, request: Json) -> Json:
    try:
        return role.answer(request)
    except Failed as failed:
        poisoned = any(role.poisoned(d) for d in failed.diagnostics)
        return {"failed": failed_json(failed), "poisoned": poisoned}
    except OSError as error:
        # candidates open no files, so the machine is at fault, and the state of this process may be
        # incomplete
        return {"failed": failed_json(no_room(error)), "poisoned": True}


def _die_with(parent: int) -> None:
    """Lets this process end when its parent is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


def _be_the_victim() -> None:
    """Makes the system choose this process, and not the tuner, when it runs out of memory."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

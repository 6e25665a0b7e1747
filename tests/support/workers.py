"""Tasks in processes of their own: one that crashes or hangs costs its own result and nothing else."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any, Generic, TypeVar

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Done(Generic[K]):
    """value: what the task returned, or None with `failure` saying how it ended."""

    key: K
    value: Any
    failure: str = ""
    seconds: float = 0.0


class _Worker:
    def __init__(self, make: Callable[[Any], Callable[[Any], Any]], setting: Any) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(make, setting, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.key: Any = None
        self.since = 0.0

    def give(self, key: Any) -> None:
        self.key, self.since = key, monotonic()
        self.pipe.send(key)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(make: Callable[[Any], Callable[[Any], Any]], setting: Any, pipe: Connection) -> None:
    task = make(setting)
    while True:
        try:
            key = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((task(key), ""))
        except Exception:
            pipe.send((None, traceback.format_exc()))


def run_tasks(
    make: Callable[[Any], Callable[[K], Any]], setting: Any, keys: Iterable[K], *, jobs: int, limit: float
) -> Iterator[Done[K]]:
    """`make(setting)(key)` for every key in any order; a task beyond `limit` seconds is ended."""
    todo = iter(keys)
    busy: list[_Worker] = []
    idle = [_Worker(make, setting) for _ in range(jobs)]
    try:
        while True:
            while idle and (key := next(todo, None)) is not None:
                worker = idle.pop()
                worker.give(key)
                busy.append(worker)
            if not busy:
                return
            wait([w.pipe for w in busy], timeout=0.5)
            for worker in list(busy):
                done = _poll(worker, limit)
                if done is None:
                    continue
                busy.remove(worker)
                if done.failure.startswith("ended"):
                    worker.stop()
                    worker = _Worker(make, setting)  # noqa: PLW2901 - the dead one is replaced
                idle.append(worker)
                yield done
    finally:
        for worker in busy + idle:
            worker.stop()


def _poll(worker: _Worker, limit: float) -> Done[Any] | None:
    seconds = monotonic() - worker.since
    try:
        if worker.pipe.poll():
            value, failure = worker.pipe.recv()
            return Done(worker.key, value, failure, seconds)
    except (EOFError, ConnectionResetError):
        worker.process.join()
        return Done(worker.key, None, f"ended: the process died with {worker.process.exitcode}", seconds)
    if seconds > limit:
        return Done(worker.key, None, f"ended: not done after {limit:.0f} s", seconds)
    return None

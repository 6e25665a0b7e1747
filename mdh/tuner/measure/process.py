"""The parent's side of one worker process, which is asked over a private socket and killed as a group."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from mdh.children import module_command, module_environment
from mdh.device.pocl_linker import forget_damaged, unlinked
from mdh.tuner.measure.failures import from_outside
from mdh.tuner.measure.guardian import Guardian
from mdh.tuner.measure.wire import Json, demanded, greeting

WORKER = "mdh.tuner.measure.worker"
_REPLY = 1 << 24
"""Bytes of the longest reply."""
_WORDS = 1 << 14
"""Bytes that are kept of a worker's stderr."""
_LEAVING = 1.0
"""Seconds that a process has to end by itself after it closed the connection."""
_IDLE = 0.5
"""The least share of a processor that a working process gets, unless the machine is overloaded."""
_STRETCH = 4.0
"""A request may take this many times its limit while its process is ready to run and others have the
processors."""
_GONE = 1.5
"""Seconds that a killed process is waited for. One that hangs inside a driver is left to the system."""

_TICK = 1.0 / os.sysconf("SC_CLK_TCK")


class Died(Exception):  # noqa: N818 - an outcome
    """The process ended before it replied. status: as in subprocess; words: its last output."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"status {status}: {words}")
        self.status, self.words = status, words

    @property
    def doubtful(self) -> bool:
        """Whether the request may not be the cause: the process was probably killed from outside, or ended by
        itself, as it does without memory or with a failing linker. Kernels and compilers that crash end it
        with a signal."""
        return self.status > 0 or from_outside(self.status) or unlinked(self.words)


class Late(Exception):  # noqa: N818 - an outcome
    """The reply did not come within the limit, and the process was killed. stopped: a signal had stopped it.
    idle: in the second half it had less than _IDLE of a processor, because it waited or others used the
    machine."""

    def __init__(self, *, stopped: bool = False, idle: bool = False) -> None:
        super().__init__("it was stopped" if stopped else "it did not end in time")
        self.stopped, self.idle = stopped, idle


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """stopped: a signal has stopped one of them. ready: one of them runs, or would if it had a processor.
    seconds: processor time, including that of ended children."""

    stopped: bool
    ready: bool
    seconds: float


def group_of(number: int) -> ProcessGroup:
    """The state of the processes of a group, as the system reports it."""
    stopped, ready, ticks = False, False, 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # after the name, which may hold anything: the state first, the group third
            words = path.read_text(encoding="latin-1").rpartition(")")[2].split()
            if int(words[2]) == number:
                stopped |= words[0] in "Tt"
                ready |= words[0] == "R"
                ticks += sum(int(w) for w in words[11:15])
    return ProcessGroup(stopped, ready, ticks * _TICK)


@dataclass(frozen=True, slots=True)
class Command:
    """How a worker is started. arguments: those after the module's name."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


class Worker:
    """A worker process. It answers one request at a time. Its clock stops while it is paused."""

    def __init__(
        self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
        guardian: Guardian | None, kernels: Path | None = None,
    ) -> None:  # fmt: skip
        """kernels: the folder in which PoCL keeps what it has linked."""
        self.process, self._reader, self._writer, self._guardian = process, reader, writer, guardian
        self._kernels = kernels
        self._words = bytearray()
        self._listener = asyncio.create_task(self._listen())
        self._paused_at: float | None = None
        self._halfway: float | None = None
        self._paused = 0.0
        self.alive = True

    @staticmethod
    async def start(command: Command, guardian: Guardian | None = None) -> "Worker":
        """Starts a worker. Raises OSError."""
        ours, theirs = socket.socketpair()
        with theirs:
            fd = theirs.fileno()
            process = await asyncio.create_subprocess_exec(
                *module_command(WORKER, "--fd", str(fd), "--parent", str(os.getpid())),
                *command.arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=module_environment(command.environment),
                pass_fds=(fd,),
                start_new_session=True,
            )
        if guardian is not None:
            guardian.watch(process.pid)
        reader, writer = await asyncio.open_connection(sock=ours, limit=_REPLY)
        kernels = command.environment.get("POCL_CACHE_DIR")
        return Worker(process, reader, writer, guardian, Path(kernels) if kernels else None)

    @property
    def running(self) -> bool:
        return self.alive and self.process.returncode is None

    @property
    def pid(self) -> int:
        return self.process.pid

    async def ask(self, request: Json | None, limit: float | None) -> Json:
        """The reply to a request; without one, its first message. Raises Late after `limit` seconds of its
        clock, and Died if it ends first; then it is gone. The limit is longer while the process is ready to
        run and gets no processor."""
        start = self._clock()
        self._halfway = None
        try:
            if request is None:
                return greeting(await self._reply(start, limit))
            self._writer.write(json.dumps(request).encode() + b"\n")
            return demanded(request, await self._reply(start, limit))
        except (OSError, ValueError, EOFError, RecursionError):
            raise await self._died() from None
        except Late:
            now = group_of(self.pid)
            await self.kill()
            raise Late(stopped=now.stopped, idle=self._idle(now, limit or 0.0)) from None
        except asyncio.CancelledError:
            # the request cannot be taken back
            self._kill_group()
            raise

    async def _reply(self, start: float, limit: float | None) -> Json:
        line = asyncio.ensure_future(self._reader.readline())
        end = limit
        try:
            while not line.done():
                if limit is None or end is None:
                    await asyncio.wait({line})
                    continue
                left = end - (self._clock() - start)
                if left <= 0:
                    if end >= _STRETCH * limit or not self._starved(limit):
                        raise Late
                    end += limit / 2
                    continue
                if self._halfway is None and left <= limit / 2:
                    self._halfway = group_of(self.pid).seconds
                rest = left if self._halfway is not None else left - limit / 2
                await asyncio.wait({line}, timeout=max(rest, 0.05))
        finally:
            line.cancel()
        raw = line.result()
        if not raw.endswith(b"\n"):
            raise EOFError
        reply = json.loads(raw)
        if not isinstance(reply, dict):
            raise EOFError
        return reply

    def _starved(self, limit: float) -> bool:
        """Whether others had the processors. If so, the next spell of half a limit begins."""
        now = group_of(self.pid)
        starved = now.ready and not now.stopped and self._idle(now, limit)
        if starved:
            self._halfway = now.seconds
        return starved

    def _idle(self, now: ProcessGroup, limit: float) -> bool:
        """Whether it had less than _IDLE of a processor in the last spell of half a limit."""
        return self._halfway is not None and now.seconds - self._halfway < _IDLE * limit / 2

    def pause(self) -> None:
        """Stops the whole group, so that it does not disturb a timed run."""
        if self.alive and self._paused_at is None and self._signal(signal.SIGSTOP):
            self._paused_at = monotonic()

    def resume(self) -> None:
        if self._paused_at is not None:
            self._signal(signal.SIGCONT)
            self._paused += monotonic() - self._paused_at
            self._paused_at = None

    async def _died(self) -> Died:
        """The own exit status of a process that closed the connection."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), _LEAVING)
        status = await self.kill()
        words = self.last_words()
        if self._kernels is not None:
            forget_damaged(words, self._kernels)
        return Died(status, words)

    async def kill(self) -> int:
        """Ends the group. Returns the process's exit status, or -SIGKILL if it does not end."""
        self._kill_group()
        status = -signal.SIGKILL
        with suppress(TimeoutError):
            status = await asyncio.wait_for(self.process.wait(), _GONE)
        with suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(self._listener, 0.3)
        self._writer.close()
        # the loop may end before it has seen the end of a pipe that the dead process's children still hold
        self.process._transport.close()  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        return status

    def last_words(self) -> str:
        """The last line without indentation that the process printed: of a traceback, the exception itself. A
        note comes with the line before it."""
        lines = self._words.decode(errors="replace").splitlines()
        said = [x.strip() for x in lines if x.strip() and not x[0].isspace() and not x.startswith("note:")]
        return said[-1][:300] if said else ""

    def _clock(self) -> float:
        now = monotonic()
        running = 0.0 if self._paused_at is None else now - self._paused_at
        return now - self._paused - running

    def _kill_group(self) -> None:
        if self.alive:
            self.alive = False
            self._signal(signal.SIGKILL)
            if self._guardian is not None:
                self._guardian.leave(self.pid)

    def _signal(self, number: signal.Signals) -> bool:
        """Signals the group, whose number is its leader's. Children of a dead leader are still in it."""
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    async def _listen(self) -> None:
        stderr = self.process.stderr
        assert stderr is not None
        while part := await stderr.read(4096):
            self._words += part
            del self._words[:-_WORDS]

"""Waits while the machine is at fault: it tries again with growing pauses, and at last gives up."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from mdh.diagnostics import Failed
from mdh.tuner.measure.failures import of_the_machine

T = TypeVar("T")
LASTS = 60.0
"""Seconds that a fault of the machine may last before it ends the run."""
_FIRST = 0.25
_LONGEST = 5.0
_ATTEMPTS = 5
"""Attempts before the bench gives up, however long each takes. A process that was stopped at its start is
silent for minutes, but that is one fault and does not last."""
Say = Callable[[str], None]
"""Called with a remark for the user."""


def silent(remark: str) -> None:
    """Ignores a remark."""


class Outage:
    """Handles faults of the machine in one kind of work. During a fault, only one attempt at a time is made.

    closed: nothing is tried again any more.
    """

    def __init__(self, say: Say = silent) -> None:
        self._say = say
        self._turn = asyncio.Lock()
        self._since: float | None = None
        self._attempts = 0
        self._pause = _FIRST
        self._told: set[str] = set()
        self.closed = False

    async def overcome(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, once the machine allows it. Raises the Failed of `work`: at once if the
        machine is not at fault, else after the fault has lasted for LASTS seconds and _ATTEMPTS attempts."""
        while True:
            again = self._since is not None
            try:
                if again:
                    async with self._turn:
                        await asyncio.sleep(self._pause)
                        done = await work()
                else:
                    done = await work()
            except Failed as failed:
                self._note(failed, again)
            else:
                self._since, self._attempts, self._pause = None, 0, _FIRST
                return done

    def _note(self, failed: Failed, again: bool) -> None:
        """Counts a failed attempt. Raises `failed` if waiting does not help, or not any more. again: the
        attempt knew of the fault; several attempts that began before count as one."""
        if self.closed or not of_the_machine(failed.diagnostics):
            raise failed
        now = monotonic()
        if self._since is None:
            self._since, self._attempts = now, 1
        elif again:
            self._attempts += 1
            if now - self._since > LASTS and self._attempts >= _ATTEMPTS:
                raise failed
            self._pause = min(2 * self._pause, _LONGEST)
        self._tell(failed)

    def _tell(self, failed: Failed) -> None:
        """Tells the user once of each thing that needs repair."""
        first = failed.diagnostics[0]
        if first.code not in self._told:
            self._told.add(first.code)
            hint = f" ({first.help})" if first.help else ""
            self._say(
                f"{first.code}: {first.headline}{hint}; the tuner tries again, and ends where this lasts"
                f" {LASTS:.0f} s"
            )

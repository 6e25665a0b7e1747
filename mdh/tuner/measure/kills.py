"""Whether a worker that was killed, or crashed, speaks against the candidate that it worked on."""

from collections import Counter, deque
from time import monotonic

_SPELL = 60.0
"""Seconds in which the kills of others count."""
_ALONE, _AMONG_OTHERS = 3, 6
"""Kills that a candidate is held for: where it alone is met, and where other workers are killed too.
A candidate that eats the machine's memory is killed by the system again and again; somebody who ends
processes does not choose."""


class Kills:
    """Of one bench. A trial's name is its own: a candidate that is tried again begins anew."""

    def __init__(self) -> None:
        self._of: Counter[str] = Counter()
        self._crashes: Counter[str] = Counter()
        self._late: Counter[str] = Counter()
        self._recent: deque[tuple[float, str]] = deque(maxlen=32)

    def blame(self, name: str) -> bool:
        """Call it once for each kill. True: the candidate is at fault."""
        self._recent.append((monotonic(), name))
        self._of[name] += 1
        return self._of[name] >= (_AMONG_OTHERS if self._others(name) else _ALONE)

    def overran(self, name: str, *, outside: bool) -> bool:
        """Call it once for each limit that passed. True: the candidate is at fault. outside: its process was
        stopped, or had no processor, which says as little about the candidate as a kill among others. Where
        processes are killed just now, others are slowed by what kills them, and the second time is
        believed."""
        if outside:
            self.blame(name)
            return self._of[name] >= _AMONG_OTHERS
        self._late[name] += 1
        return self._late[name] > 1 or not self._others(name)

    def believe(self, name: str) -> bool:
        """Call it once for each crash or refusal that may come from want of memory or files. True: the
        candidate is at fault. Two faults of a machine do meet one candidate, so the third is believed."""
        self._crashes[name] += 1
        return self._crashes[name] >= _ALONE

    def elsewhere(self) -> None:
        """A process that worked on no candidate was killed."""
        self._recent.append((monotonic(), ""))

    def forget(self, name: str) -> None:
        """The trial has ended."""
        del self._of[name], self._crashes[name], self._late[name]

    def _others(self, name: str) -> bool:
        """Other workers were killed a short time ago."""
        now = monotonic()
        return any(other != name and now - at < _SPELL for at, other in self._recent)

"""Shows the progress of `mdh tune` on stderr: a progress bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from mdh.cli.console import log, remarks_shown
from mdh.cli.live import fitted, live_console
from mdh.report.tune_text import progress_line, share_done
from mdh.results.trial import Trial
from mdh.results.tuning import RunProgress
from mdh.tuner.loop.state import Watch

_EVERY = 5.0
"""Seconds between two plain lines; a better result is shown sooner."""
_SOONER = 0.5
_BAR = 24
_NARROW = 72
"""A terminal of fewer columns shows no bar, and no name."""


class Plain:
    """Progress as lines, for a file or a pipe."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last = -_EVERY

    def __call__(self, now: RunProgress, trial: Trial | None, /) -> None:
        since = now.elapsed - self._last
        news = (now.improved and since >= _SOONER) or (trial is not None and trial.phase == "winner")
        if trial is not None and (news or since >= _EVERY):
            self._last = now.elapsed
            log(f"{self._name}: {progress_line(now, now.elapsed)}")


class Bar:
    """Progress as one line of a terminal, which is redrawn."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._now: RunProgress | None = None
        self._at = monotonic()

    def __call__(self, now: RunProgress, trial: Trial | None, /) -> None:
        self._now, self._at = now, monotonic()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        now, waited = self._now, monotonic() - self._at
        words = "starting" if now is None else progress_line(now, now.elapsed + waited)
        if options.max_width < _NARROW:
            # the figures are what is waited for
            yield fitted(words)
            return
        share = None if now is None else share_done(now, now.elapsed + waited)
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=None if share is None else 1.0, completed=share or 0.0, width=_BAR)
        row.add_row(fitted(self._name), bar, fitted(words))
        yield row


@contextmanager
def live(name: str) -> Iterator[Watch]:
    """A watch for one run. Other text on stderr appears above the bar."""
    if sys.stderr is None or not sys.stderr.isatty() or not remarks_shown():
        yield Plain(name)
        return
    bar = Bar(name)
    with Live(bar, console=live_console(), transient=True, refresh_per_second=4, redirect_stdout=False):
        yield bar

"""`mdh tune --serve`: shows a tuning to browsers on this machine while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mdh.cli.command_line import CommandLine
from mdh.cli.console import log
from mdh.cli.tune_board import Board, BoardRun, BoardServer
from mdh.cli.tune_live import live
from mdh.results.trial import Trial
from mdh.results.tuning import RunProgress, Tuned
from mdh.textfile import reason
from mdh.tuner.loop.state import Watch
from mdh.tuner.order import Order


@dataclass(frozen=True)
class RunDisplay:
    """Where the runs of a command are shown: on the terminal, and on the board if there is one."""

    board: Board | None = None

    @contextmanager
    def run(self, order: Order) -> Iterator["ShownRun"]:
        """A watch for a run."""
        with self.cell(order.program.name, order) as shown:
            yield shown

    @contextmanager
    def cell(self, name: str, order: Order | None = None) -> Iterator["ShownRun"]:
        """A watch for a part of a tuning: a run, or a cell of a table."""
        with live(name) as watch:
            if self.board is None:
                yield ShownRun(watch)
                return
            about = (order.job.sizes, order.devices, order.sampler) if order is not None else ((), (), "")
            yield ShownRun(watch, self.board, self.board.begin(BoardRun(name, *about)))


@dataclass(frozen=True)
class ShownRun:
    """One run, as a watch."""

    watch: Watch
    board: Board | None = None
    run: BoardRun | None = None

    def __call__(self, now: RunProgress, trial: Trial | None, /) -> None:
        self.watch(now, trial)
        if self.board is not None and self.run is not None:
            self.board.tell(self.run, now, trial)

    def end(self, result: Tuned | None) -> None:
        if self.board is not None and self.run is not None:
            self.board.end(self.run, result)


@contextmanager
def shown(line: CommandLine, title: str, port: int | None) -> Iterator[RunDisplay]:
    """What runs are shown by until the end. port: None serves no page. Raises Failed F219."""
    if port is None:
        yield RunDisplay()
        return
    board = Board(title)
    try:
        server = BoardServer(board, port)
    except OSError as error:
        raise line.fail(
            "F219", f"port {port} cannot be served: {reason(error)}", str(port), last=True,
            help="leave the number out for any free port, or name another one",
        ) from None  # fmt: skip
    log(f"{server.address} shows the tuning to browsers on this machine until it ends")
    try:
        yield RunDisplay(board)
    finally:
        server.leave()

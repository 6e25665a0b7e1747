"""`mdh tune --serve`: one page for this machine alone, which ends with the tuning."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest

from mdh.cli.command_line import with_port
from mdh.cli.main import run
from mdh.cli.tune_board import Board, BoardRun, BoardServer
from mdh.report.trials.live import variables_of
from mdh.results.tuning import RunProgress
from tests.report.test_tune import many, trial, tuned
from tests.support.source_tree import ROOT

NOW = RunProgress("search", 3.0, 2, (), 1e-3, 2e-3, 60.0, None)


@contextmanager
def served() -> Iterator[tuple[BoardServer, BoardRun]]:
    board = Board("matmul")
    begun = board.begin(BoardRun("matmul", (("N", 64),), ("c",), "evolution"))
    server = BoardServer(board, 0)
    try:
        yield server, begun
    finally:
        server.leave()


def asked(server: BoardServer, path: str, method: str = "GET", host: str = "") -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)) as connection:
        connection.request(method, path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_a_number_that_is_no_port(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "matmul", "--serve", "99999"]) == 2
    assert "help: give a whole number from 0 to 65535" in capsys.readouterr().err


def test_the_page_shows_what_is_known() -> None:
    with served() as (server, begun):
        for one in many()[:20]:
            server.board.tell(begun, NOW, one)
        status, text = asked(server, "/")
        assert status == 200
        assert text.count("<tr data-t=") == 20
        assert "src=" not in text and "href=" not in text.replace('href="data:,"', "")
        assert asked(server, "/", host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize(
    ("path", "method", "host", "status"),
    [
        ("/../../etc/passwd", "GET", "", 404),
        ("/%2e%2e/etc/passwd", "GET", "", 404),
        ("/events/x", "GET", "", 404),
        ("/", "GET", "example.org", 403),
        ("/events", "GET", "example.org", 403),
        ("/", "GET", "127.0.0.1", 403),
        ("/", "POST", "", 501),
        ("/", "OPTIONS", "", 501),
    ],
)
def test_nothing_else_is_served(path: str, method: str, host: str, status: int) -> None:
    """No files, no other names of this machine, which pages elsewhere can make up."""
    with served() as (server, _):
        found, text = asked(server, path, method, host)
        assert found == status
        assert "root:" not in text and "data-run" not in text


def test_it_listens_on_loopback_alone() -> None:
    with served() as (server, _):
        assert server.server_address[0] == "127.0.0.1"


def test_readers_get_what_changes_and_the_end() -> None:
    events: list[str] = []
    with served() as (server, begun):
        reader = Thread(target=lambda: events.append(asked(server, "/events")[1]))
        reader.start()
        while not server.readers:
            time.sleep(0.01)
        server.board.tell(begun, NOW, trial(0, 8, "BLK.x", 1e-3))
        server.board.end(begun, tuned(many()))
    reader.join(10)
    rows = events[0].splitlines()
    last = json.loads([row for row in rows if row.startswith("data: ") and "html" in row][-1][6:])
    assert last["run"] == 0 and last["html"].count("<tr data-t=") == 60
    assert "event: end" in rows


def test_a_reader_that_is_slow_holds_no_tuning_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a text is rendered, trials are reported as ever."""
    began, go_on = Event(), Event()

    def slow(run: BoardRun) -> str:
        began.set()
        go_on.wait(10)
        return f"{len(run.trials)} trials"

    monkeypatch.setattr("mdh.cli.tune_board._html", slow)
    board = Board("matmul")
    begun = board.begin(BoardRun("matmul", (), ("c",), "evolution"))
    reader = Thread(target=board.text, args=(begun,))
    reader.start()
    assert began.wait(10)
    teller = Thread(target=board.tell, args=(begun, NOW, trial(0, 8, "BLK.x", 1e-3)))
    teller.start()
    teller.join(5)
    assert not teller.is_alive()
    go_on.set()
    reader.join(10)
    assert board.text(begun)[0] == "1 trials"


@pytest.mark.parametrize("seed", range(4))
def test_random_readers_see_every_trial_in_the_end(seed: int) -> None:
    """Whenever they come and look."""
    rng = Random(seed)
    board = Board("matmul")
    runs = [board.begin(BoardRun(f"p{n}", (), ("c",), "evolution")) for n in range(rng.randint(1, 3))]
    readers: list[list[int]] = [[] for _ in range(3)]
    told = dict.fromkeys(range(len(runs)), 0)
    last: dict[tuple[int, int], str] = {}
    for _ in range(60):
        n = rng.randrange(len(runs))
        if rng.random() < 0.6:
            board.tell(runs[n], NOW, trial(told[n], rng.choice((8, 16)), "BLK.x", rng.uniform(1, 2)))
            told[n] += 1
        else:
            who = rng.randrange(3)
            last.update({(who, at): html for at, html in board.news(readers[who])})
    for who, seen in enumerate(readers):
        last.update({(who, n): html for n, html in board.news(seen)})
        assert list(board.news(seen)) == []
        for n, count in told.items():
            assert last[who, n].count("<tr data-t=") == count


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        words = ["tune", str(ROOT / "inputs_c" / "matmul.c"), "--device", "c", "--trials", "1", "--serve"]
        assert run([*words, f"{other.getsockname()[1]}", "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("error[") == 1 and "[F219]" in said


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("tune matmul --serve", "tune matmul --serve=0"),
        ("tune --serve matmul", "tune --serve=0 matmul"),
        ("tune --serve 8000 matmul", "tune --serve 8000 matmul"),
        ("tune --serve=8000 matmul", "tune --serve=8000 matmul"),
        ("tune --serve --json matmul", "tune --serve=0 --json matmul"),
        ("tune -- --serve", "tune -- --serve"),
    ],
)
def test_the_port_may_be_left_out(words: str, read: str) -> None:
    assert with_port(words.split()) == read.split()


def test_holes_of_trials() -> None:
    one, other = variables_of(
        [trial(0, 8, "FOR.1", 1.0), trial(1, "^", "BLK.x", 1.0), trial(2, 4, "BLK.x", 1.0)]
    )
    assert one.values == (4, 8, "^")
    assert other.values == ("BLK.x", "FOR.1")

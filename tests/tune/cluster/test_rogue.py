"""What answers at the address is no Dask scheduler, or one that is broken: a message in time."""

import asyncio
import struct
import time
from collections.abc import Awaitable, Callable

import pytest

from mdh.diagnostics import Failed
from mdh.tuner.cluster import link as links
from mdh.tuner.cluster import remote
from mdh.tuner.cluster.link import Link

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
msgpack = pytest.importorskip("msgpack")


def frame(*parts: bytes) -> bytes:
    """As Dask sends messages over TCP."""
    lengths = [len(p) for p in parts]
    body = struct.pack(f"<{1 + len(parts)}Q", len(parts), *lengths) + b"".join(parts)
    return struct.pack("<Q", len(body)) + body


SENT = {
    "nothing": b"",
    "garbage": bytes(range(256)) * 64,
    "another protocol": b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10,
    "a huge frame": struct.pack("<Q", 1 << 62) * 4,
    "a deep message": frame(b"\x91" * 100_000),
    "a message of another type": frame(msgpack.packb([1, "x", {"op": 5}])),
    "a greeting, then nonsense": frame(
        msgpack.packb({"compression": None, "python": [3, 11, 7], "pickle-protocol": 5})
    )
    + frame(msgpack.packb([{"op": "stream-start"}])) * 20,
}


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_a_rogue_scheduler_is_refused(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's own limit is one of many for each try: that of a silent one is waited for over a minute."""
    monkeypatch.setattr(links, "_CONNECT", 1.5)
    kept: list[asyncio.StreamWriter] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept.append(writer)
        writer.write(sent)

    async def run() -> Failed:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            with pytest.raises(Failed) as refused:
                await Link.open(f"tcp://127.0.0.1:{port}")
            return refused.value
        finally:
            server.close()
            for writer in kept:
                writer.close()

    begun = time.monotonic()
    failed = asyncio.run(run())
    assert failed.diagnostics[0].code == "F201"
    assert time.monotonic() - begun < 10


class Client:
    """A client of Dask whose scheduler answers whatever it likes."""

    def __init__(self, answer: object) -> None:
        self.answer, self.scheduler = answer, self

    async def identity(self) -> object:
        return self._told()

    async def run(self, *words: object, **options: object) -> object:
        return self._told()

    def _told(self) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [None, 7, [], {}, {"workers": 7}, {"workers": {"a": None}}, KeyError("op"), RecursionError("deep")],
)
def test_answers_of_a_rogue_scheduler_are_a_lost_one(answer: object) -> None:
    with pytest.raises(Failed) as failed:
        asyncio.run(Link("tcp://x:1", Client(answer)).workers())
    assert failed.value.diagnostics[0].code == "F203"


@pytest.mark.parametrize(
    "reply", [None, 7, "", "7", "[]", "{", "[" * 100_000, '{"outcomes": 7}', '{"outcomes": [{}]}', '{"x": 1}']
)
def test_answers_of_a_rogue_worker_are_a_lost_one(reply: object) -> None:
    with pytest.raises(links.WorkerLostError):
        asyncio.run(Link("tcp://x:1", Client({"w": reply})).ask("w", {"do": "measure"}))


@pytest.mark.parametrize(
    "request_", ["", "7", "[]", "{}", '{"do": "x"}', '{"do": []}', '{"do": "measure"}', "[" * 10**5]
)
def test_requests_that_no_tuner_sends_are_refused(request_: str) -> None:
    assert "refused" in asyncio.run(remote.serve(request_))

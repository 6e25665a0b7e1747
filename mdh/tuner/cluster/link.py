"""The connection to a Dask scheduler and its workers. Only this module imports `distributed`.

A scheduler and its workers run any code that a client sends, and this process unpickles their answers. So
connect only to a cluster on a network that you trust, or one whose TLS admits nobody else (`tls://`).
"""

import asyncio
import json
import logging
import warnings
from contextlib import suppress
from typing import Any

from distributed import Client
from distributed.comm.core import CommClosedError

from mdh.tuner.cluster.messages import read_answer
from mdh.tuner.cluster.refusals import WorkerLostError, lost, unreached
from mdh.tuner.cluster.remote import serve
from mdh.tuner.measure.wire import Json, NonsenseError

_CONNECT = 10.0
"""Seconds that a scheduler has to greet the tuner."""
_ANSWER = 20.0
"""Seconds that a scheduler has to answer a question about itself."""
_CLOSE = 0.5


class Link:
    """A connection. Several requests may be in flight at once."""

    def __init__(self, address: str, client: Any) -> None:
        self.address, self._client = address, client

    @staticmethod
    async def open(address: str) -> "Link":
        """Raises Failed F201."""
        # the bench itself reports lost workers and schedulers
        for name in [n for n in logging.root.manager.loggerDict if n.partition(".")[0] == "distributed"]:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client = Client(  # type: ignore[no-untyped-call]
                address, asynchronous=True, timeout=_CONNECT, name="mdh", set_as_default=False
            )
            link = Link(address, client)
            try:
                # Dask's own limit is one for each step, and it tries again
                await asyncio.wait_for(client, _CONNECT)
            except Exception as error:
                await link.close()
                raise unreached(address, _plain(error)) from None
            except BaseException:
                await link.close()
                raise
        return link

    async def workers(self) -> frozenset[str]:
        """Addresses of the running workers. Raises Failed F203."""
        try:
            told = await asyncio.wait_for(self._client.scheduler.identity(), _ANSWER)
            workers = dict(told["workers"])
            return frozenset(str(a) for a, w in workers.items() if w.get("status", "running") != "closed")
        except Exception as error:
            raise lost(self.address, _plain(error)) from None

    async def ask(self, worker: str, request: Json) -> Json:
        """Sends a request and returns the answer. Raises Failed F203, and WorkerLostError."""
        try:
            replies = await self._client.run(serve, json.dumps(request), workers=[worker], on_error="return")
            reply = replies.get(worker)
        except Exception as error:
            raise lost(self.address, _plain(error)) from None
        if not isinstance(reply, str):
            raise WorkerLostError(_why(reply))
        try:
            return read_answer(request["do"], reply)
        except NonsenseError as error:
            raise WorkerLostError(str(error)) from None

    async def close(self) -> None:
        """Closes within a second, whatever state the scheduler is in."""
        with suppress(Exception):
            await asyncio.wait_for(self._client.close(_CLOSE), 2 * _CLOSE)


def _plain(error: Exception) -> Exception:
    """The error in plain words. Dask names sockets and streams where it means that the other side is gone."""
    return ConnectionError("the connection is closed") if isinstance(error, CommClosedError) else error


def _why(reply: object) -> str:
    match reply:
        case ModuleNotFoundError():
            return f"mdh is not the same there: {reply}"
        case CommClosedError():
            return "its connection broke"
        case BaseException():
            return f"{type(reply).__name__}: {reply}"
        case _:
            return "it gave no answer"

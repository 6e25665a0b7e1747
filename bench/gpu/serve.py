"""A GPU process: it answers the table's orders, and ends where the GPU cannot be used any more."""

import sys
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from mdh.device.api import open_device
from mdh.diagnostics import Failed

READY, NO_GPU, LOST = "ready", "no GPU", "lost"


def serve(connection: Connection, device: str, library: Path) -> None:
    """First (READY, machine, versions, peaks) or (NO_GPU, why), then outcomes. LOST ends the process.

    library: the file of CUB's, made by the time that a case needs it.
    """
    try:
        opened = open_device(device)
        # torch and cupy are imported in this process alone
        worker = import_module("bench.gpu.worker").Worker(opened, library)
    except (Failed, ImportError, RuntimeError) as error:
        why = error.diagnostics[0].headline if isinstance(error, Failed) else str(error)
        connection.send((NO_GPU, why))
        return
    connection.send((READY, opened.machine, worker.versions, worker.peaks))
    while (order := connection.recv()) is not None:
        outcome = worker.run(*order)
        if not worker.healthy():
            connection.send((LOST, outcome))
            sys.stdout.flush()
            return
        connection.send((READY, outcome))

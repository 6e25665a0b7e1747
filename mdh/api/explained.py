"""What the Python API tells: errors carry their whole message into the traceback, remarks go to stderr."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mdh.diagnostics import Failed, render_text
from mdh.printable import fitting, printable


@contextmanager
def explained() -> Iterator[None]:
    """A Failed that is raised inside carries its whole message, places included, into the traceback."""
    try:
        yield
    except Failed as failed:
        add_notes(failed)
        raise


def add_notes(failed: Failed) -> None:
    failed.add_note("\n".join(render_text(d) for d in failed.diagnostics))


def say(remark: str) -> None:
    sys.stderr.write(fitting(printable(f"mdh: {remark}\n"), sys.stderr))

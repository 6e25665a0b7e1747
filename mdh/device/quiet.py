"""Compilers inside of this process that write to its stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_STDERR = 2


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Inside, what PoCL's compiler writes to stderr is hidden; the exception has the message of a refusal.
    Python's own buffer is flushed first, so that nothing is lost."""
    with suppress(ValueError, AttributeError):
        # stderr may be closed or replaced
        sys.stderr.flush()
    try:
        kept = os.dup(_STDERR)
    except OSError:
        # no stderr: there is nothing to keep quiet
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), _STDERR)
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)

"""What PoCL's compiler says on the terminal, kept from it: refusals come with the exception."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_STDERR = 2


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """File descriptor 2 leads to nowhere inside. Python's own buffer is emptied first, so that nothing which
    was said before is lost."""
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

import contextlib
import errno
import io
import os

from mdh.cli.console import show


class Full(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


with contextlib.redirect_stdout(Full()):
    show("a result")

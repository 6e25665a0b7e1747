"""`mdh.load`: kernels that `kernel.save` has written."""

import json
import os
from os import PathLike, fspath

from mdh.api.compile import compile
from mdh.api.explained import explained
from mdh.api.kernel import Kernel
from mdh.api.options import of_type
from mdh.api.saving import FILE, SCHEMA, Saved
from mdh.device.protocols import Device
from mdh.diagnostics import fail
from mdh.schema import SchemaError, convert
from mdh.source import Source
from mdh.textfile import SAVED_LIMIT, read_text


def load(folder: str | PathLike[str], device: str | Device | None = None) -> Kernel:
    """The kernel that `kernel.save(folder)` has written, on its device or on another one of the same machine.

    Raises Failed F101 if there is none, A123 for a file that is no such kernel, and as `mdh.compile`
    does.
    """
    with explained():
        of_type("folder", folder, (str, PathLike), "a path")
        path = os.path.join(fspath(folder), FILE)
        source = read_text(path, limit=SAVED_LIMIT)
        try:
            saved = convert(json.loads(source.text), Saved)
        except (ValueError, SchemaError) as error:
            raise fail("A123", f"`{path}` is no saved kernel: {error}", help="save it again") from None
        if saved.schema != SCHEMA:
            raise fail(
                "A123", f"`{path}` is of the form {saved.schema[:40]}, not {SCHEMA}", help="save it again"
            )
    program, schedule = Source(saved.path, saved.text), Source(f"{saved.path} as saved", saved.schedule)
    return compile(
        program, schedule, device or saved.device,
        defines=saved.defines, function=saved.function,
        strict_fp=saved.strict_fp, deterministic=saved.deterministic, allow=saved.allow,
    )  # fmt: skip

"""Messages for OpenCL's status codes."""

import re

from mdh.device.opencl_door import cl
from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.target.kept import keep_refused
from mdh.target.text import KernelText

_NO_MEMORY = (
    "MEM_OBJECT_ALLOCATION_FAILURE",
    "OUT_OF_RESOURCES",
    "OUT_OF_HOST_MEMORY",
    "INVALID_BUFFER_SIZE",
)


def status_name(error: Exception) -> str:
    """The name of a pyopencl error: `OUT_OF_RESOURCES`."""
    code = getattr(error, "code", None)
    return str(cl.status_code.to_string(code, "status %d")) if code is not None else str(error)


def named(error: Exception) -> str | None:
    """The first error that a compiler reports for a place in a text; None if it reports none."""
    lines = str(error).splitlines()
    return next((line.strip() for line in lines if re.search(r"\berror\b", line)), None)


def unfit(title: str) -> Failed:
    """D102: the device cannot be used."""
    headline = f"OpenCL cannot be used here: the compiler of {title} fails on every text"
    return fail("D102", headline, help="it needs memory, open files, and room in TMPDIR, or /tmp")


def build_failed(text: KernelText, title: str, error: Exception) -> Failed:
    """D103 with the compiler's first error and the file that keeps the source."""
    log, first = str(error), named(error)
    does = "fails on" if first is None else "refuses"
    if first is None:
        first = log.strip().splitlines()[0] if log.strip() else "no message"
    headline = f"the compiler of {title} {does} the kernel text of `{text.name}`"
    return Failed(Diagnostic("D103", headline, notes=(first[:300], keep_refused(text, log).note)))


def load_failed(title: str, program: str, error: Exception) -> Failed:
    """D105: a binary cannot be loaded."""
    name = status_name(error)
    headline = f"{title} refuses the machine code kept of `{program}`: {name}"
    return Failed(Diagnostic("D105", headline, witness=(("verb", "load"), ("status", name))))


def no_memory(title: str, what: str, size: int, error: Exception) -> Failed:
    """D104: the device has no memory left."""
    headline = f"{title} has no room for {what} ({size:,} bytes): {status_name(error)}"
    return Failed(Diagnostic("D104", headline, help="use smaller arrays, or a device with more memory"))


def launch_failed(title: str, kernel: str, error: Exception) -> Failed:
    """D104 if memory ran out, else D105."""
    name = status_name(error)
    if name in _NO_MEMORY:
        return no_memory(title, f"kernel `{kernel}`", 0, error)
    headline = f"{title} could not run kernel `{kernel}`: {name}"
    hint = "check the schedule against this device: mdh check --machine"
    if name == "INVALID_KERNEL_NAME":
        # the text was accepted, so it has the kernel: PoCL read a file that another process left unfinished
        hint = "the runtime's cache is damaged: delete what lies in POCL_CACHE_DIR, run again"
    return Failed(Diagnostic("D105", headline, help=hint, witness=(("verb", "run"), ("status", name))))

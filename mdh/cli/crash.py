"""Reports a bug of mdh without a traceback: saves a report, and says where it is and how to run again."""

import platform
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path

from mdh.cli.command_line import CommandLine
from mdh.diagnostics import Diagnostic, Failed, Severity
from mdh.printable import printable

_PACKAGES = ("mdh", "numpy", "pycparser", "pcpp", "islpy", "pyopencl", "cupy-cuda13x", "typer")


def save_crash(line: CommandLine, error: BaseException) -> Failed:
    """B101. The report in the temporary folder has the traceback, the command and the versions; only its
    owner can read it. Passwords of the command line are in neither."""
    where = traceback.extract_tb(error.__traceback__)
    place = f"{Path(where[-1].filename).name}:{where[-1].lineno}" if where else "unknown place"
    headline = f"{type(error).__name__} in {place}: {_first_line(line, error)}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="mdh-crash-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(_report_text(line, error))
        note = f"the full report is in {file.name}"
    except OSError as trouble:
        note = f"the full report could not be saved: {trouble.strerror}"
    again = f"rerun with: {line.source.text}"
    bug = Diagnostic(
        "B101",
        headline,
        notes=(note, again),
        help="this is a bug of mdh, not of your input; send the report with the input files",
        severity=Severity.BUG,
    )
    return Failed(line.told(bug))


def _report_text(line: CommandLine, error: BaseException) -> str:
    out = [line.source.text, f"python {sys.version.split()[0]} on {platform.platform()}"]
    metadata = import_module("importlib.metadata")
    for package in _PACKAGES:
        try:
            out.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    out.append("")
    out.extend(traceback.format_exception(error))
    return printable(line.without_passwords("\n".join(out)))


def _first_line(line: CommandLine, error: BaseException) -> str:
    """The first line of the error. Passwords are removed before it is cut, while they are whole."""
    text = line.without_passwords(str(error)).strip().splitlines()
    return text[0][:200] if text else "no message"

"""The version of mdh."""

from importlib import import_module


def release() -> str:
    """The installed version; `unknown` if mdh runs from a folder that was never installed."""
    # a tenth of the time of `mdh --help`, which prints no version
    metadata = import_module("importlib.metadata")
    try:
        found: str = metadata.version("mdh")
    except metadata.PackageNotFoundError:
        return "unknown"
    return found

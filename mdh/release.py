"""The version of mdh."""

from importlib.metadata import PackageNotFoundError, version


def release() -> str:
    """The installed version; `unknown` if mdh runs from a folder that was never installed."""
    try:
        return version("mdh")
    except PackageNotFoundError:
        return "unknown"

"""The messages for a cluster that cannot be used, or not any more."""

from collections.abc import Mapping

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.passwords import masked_word
from mdh.results.trial import Failure, Outcome
from mdh.source import Span
from mdh.textfile import reason

START_ONE = "start one: dask scheduler --host 127.0.0.1, and workers for it: dask worker tcp://127.0.0.1:8786"
_GO_ON = "what was measured is on record; the same command goes on with it"


_TELLING = (OSError, ImportError, ValueError, TypeError, RuntimeError)
"""Errors whose texts help the user: they name addresses, versions and settings."""


class WorkerLostError(Exception):
    """The worker ended, or gave an answer that no worker of mdh gives."""


def absent(missing: ImportError) -> Failed:
    """F200: Dask is not installed."""
    return fail("F200", f"a cluster needs Dask: {missing}", help="pip install '.[cluster]' in mdh's folder")


def unreached(address: str, error: Exception) -> Failed:
    """F201: the scheduler cannot be reached."""
    return fail("F201", f"no Dask scheduler at `{address}`: {_words(error)}", help=START_ONE)


def misspelt(address: str) -> Failed:
    """F201: the address is malformed."""
    said = f"`{masked_word(address, place=True)}` is no address of a Dask scheduler"
    return fail("F201", said, help=f"write tcp://HOST:PORT; {START_ONE}")


def nobody(address: str, why: Mapping[str, str]) -> Failed:
    """F202: no worker can take part. why: the reason for each worker."""
    if not why:
        return fail("F202", f"the cluster at `{address}` has no workers", help=f"dask worker {address}")
    notes = tuple(f"{worker}: {words}" for worker, words in sorted(why.items())[:8])
    hint = "a worker needs the tuner's version of mdh and a device: see `mdh doctor` there"
    headline = f"no worker of the cluster at `{address}` can take part"
    return Failed(Diagnostic("F202", headline, notes=notes, help=hint))


def lost(address: str, error: Exception) -> Failed:
    """F203: the scheduler was lost."""
    return fail("F203", f"the Dask scheduler at `{address}` is lost: {_words(error)}", help=_GO_ON)


def emptied(address: str) -> Failed:
    """F204: the last worker was lost."""
    return fail("F204", f"the cluster at `{address}` has lost its last worker", help=_GO_ON)


def unlucky(attempts: int, why: str) -> Outcome:
    """F205: the candidate may be the cause that workers are lost."""
    headline = f"{attempts} workers were lost while they measured it, the last: {why}"
    return Outcome(Failure.CRASH, "F205", headline)


def included(place: Span, name: str) -> Failed:
    """F206: the program includes a file."""
    path = place.source.name
    return fail(
        "F206",
        f"`{path}` includes the file `{name}`, which workers on other machines do not have",
        place,
        help=f"write the lines of `{name}` into `{path}`, or give its macros by -D",
    )


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if not isinstance(error, _TELLING) or isinstance(error, RecursionError):
        # of meaningless bytes the error would only name the structure that they do not fill
        return "it sends what no Dask scheduler sends"
    return next((line.strip() for line in reason(error).splitlines() if line.strip()), "no reason given")

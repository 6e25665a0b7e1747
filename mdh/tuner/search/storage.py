"""Opens what `--storage` names: a database that several tuners share, or a journal file.

Raises Failed F182 if it cannot be opened, and F183 if it is lost later. No message shows a password.
"""

import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, ProgrammingError, SQLAlchemyError

from mdh.diagnostics import Failed, fail
from mdh.passwords import masked, masked_word, secrets, without

FORMS = "postgresql://user:password@host/database, sqlite:///file.db, or the path of a journal file"
CONNECT_SECONDS = 10
_WORDS = 200
"""The most characters of a reason in a message."""
MOST_JOURNAL = 1 << 29
"""Bytes. Optuna reads a journal as a whole and keeps several times its size. A trial of 30 holes has 9 KB."""
TABLE_RACES = 10
"""The most attempts to create tables. If several tuners find an empty database, all create its tables at
once; one succeeds and the others try again."""


def open_storage(url: str) -> BaseStorage:
    """The storage of a URL. Creates missing tables. Raises Failed F182."""
    _demand_one_reading(url)
    scheme = url.split(":", 1)[0] if "://" in url else "journal"
    path = url.removeprefix("journal://")
    try:
        if scheme == "journal":
            return _journal(url, path)
        return _database(_with_driver(url), scheme)
    except (ArgumentError, NoSuchModuleError):
        raise fail("F182", f"`{shown(url)}` names no storage", help=f"write {FORMS}") from None
    except ImportError as missing:
        raise fail(
            "F182",
            f"`{shown(url)}` needs a database driver: {_reason(url, missing)}",
            help=_driver_help(scheme),
        ) from None
    except (SQLAlchemyError, StorageInternalError, OSError, TypeError, json.JSONDecodeError) as error:
        # TypeError: a parameter of the URL that its driver does not have
        raise fail("F182", f"cannot open the storage `{shown(url)}`: {_reason(url, error)}") from None


def _journal(url: str, path: str) -> JournalStorage:
    """Opens a journal file. Its lock is a link to it, with an absolute path, so that a lock which a killed
    tuner left is recognised from every folder. Raises Failed F182."""
    path = os.path.abspath(path)
    _demand_file(url, path)
    size = os.path.getsize(path) if os.path.exists(path) else 0
    if size > MOST_JOURNAL:
        headline = f"the journal `{shown(url)}` has {size:,} bytes, more than {MOST_JOURNAL:,}"
        raise fail("F182", headline, help="give a new journal: the records hold what was measured")
    try:
        return JournalStorage(JournalFileBackend(path))
    except (OSError, Failed):
        raise
    except Exception as error:  # the library follows the lines of a journal, whatever they say
        raise fail(
            "F182", f"the journal `{shown(url)}` is damaged: {type(error).__name__}, {_reason(url, error)}",
            help="give a new journal: the records hold what was measured",
        ) from None  # fmt: skip


def _demand_file(url: str, path: str) -> None:
    """Raises Failed F182 if the path is something else than a file: reading a pipe would never end, and a
    device has no end. Raises OSError if it cannot be examined, for example because links form a circle."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    except ValueError:  # a zero byte
        raise fail("F182", f"`{shown(url)}` names no file", help=f"write {FORMS}") from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise fail(
            "F182", f"cannot open the storage `{shown(url)}`: it is {what}",
            help="name a regular file, or one that is not there yet: it is made",
        )  # fmt: skip


def _database(url: str, scheme: str) -> RDBStorage:
    """Opens a database. Raises Failed F182, and errors of the library."""
    try:
        named = make_url(url).database
    except ValueError:  # some texts end in an int() of its parser
        raise ArgumentError(url) from None
    if scheme.startswith("sqlite") and named and not named.startswith(("file:", ":memory:")):
        _demand_file(url, named)
    for race in range(TABLE_RACES):
        try:
            # Optuna fills in what stands in braces
            return RDBStorage(url.replace("{", "{{").replace("}", "}}"), engine_kwargs=_engine(scheme))
        except (IntegrityError, ProgrammingError):
            if race == TABLE_RACES - 1:
                raise
            time.sleep(0.2)
    raise AssertionError


def _engine(scheme: str) -> dict[str, Any]:
    """Options by which a host that does not answer is noticed in seconds, not after TCP's two minutes."""
    if scheme.startswith("postgresql"):
        waits = {"connect_timeout": CONNECT_SECONDS, "keepalives_idle": 10, "tcp_user_timeout": 20_000}
        return {"connect_args": waits, "pool_pre_ping": True}
    if scheme.startswith("sqlite"):
        return {"connect_args": {"timeout": CONNECT_SECONDS}}
    return {"pool_pre_ping": True}


def _with_driver(url: str) -> str:
    """The URL with an explicit driver: `postgresql://` means psycopg 2 to some versions of SQLAlchemy and
    psycopg 3 to others."""
    if url.startswith(("postgresql://", "postgres://")):
        rest = url.split("://", 1)[1]
        driver = "psycopg2" if find_spec("psycopg") is None and find_spec("psycopg2") else "psycopg"
        return f"postgresql+{driver}://{rest}"
    return url


def _driver_help(scheme: str) -> str:
    if scheme.startswith("postgres"):
        return "pip install '.[storage]' in mdh's folder"
    return f"install the driver of `{scheme}`, or write {FORMS}"


@contextmanager
def guarded(url: str) -> Iterator[None]:
    """Raises Failed F183 for errors of an open storage; the same call may be tried again later."""
    try:
        yield
    except (SQLAlchemyError, StorageInternalError, OSError, json.JSONDecodeError) as error:
        raise lost(url, error) from None
    except Failed:
        raise
    except Exception as error:  # of a study with damaged lines or rows the library's own errors tell little
        what = ValueError(f"what it holds is damaged ({type(error).__name__}, {_reason(url, error)})")
        raise lost(url, what) from None


def lost(url: str, error: Exception) -> Failed:
    return fail(
        "F183",
        f"the storage `{shown(url)}` no longer answers: {_reason(url, error)}",
        help="nothing that was measured is lost, the record has it; start again when the storage is back, "
        "or without --storage",
    )


def shown(url: str) -> str:
    """The URL without a password, for messages."""
    return masked_word(url, place=True)


def _demand_one_reading(url: str) -> None:
    """Raises Failed F182 if a part of the password could be read as the host, the port or the database: it
    would be sent to name servers, or become the name of a file."""
    if "://" not in url:
        if shown(url) == url:
            return
        raise fail("F182", f"`{shown(url)}` holds a password, and is no URL", help=f"write {FORMS}")
    scheme, _, rest = url.partition("://")
    user = rest.rpartition("@")[0]
    no_account = scheme == "journal" or rest.startswith("/")
    if not no_account and ("@" in user or "/" in user.partition(":")[0]):
        raise fail(
            "F182",
            f"`{shown(url)}` can be read in several ways",
            help="write @ as %40, : as %3A, / as %2F and % as %25 where they separate no parts of the URL",
        )


def _reason(url: str, error: BaseException) -> str:
    """The first line of the innermost cause, without the URL's password. Outer causes only mention sessions
    and commits."""
    while error.__cause__ is not None:
        error = error.__cause__
    inner = getattr(error, "orig", None) or error
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror.lower()
    lines = [line.strip() for line in str(inner).splitlines() if line.strip()]
    if not lines:
        return type(inner).__name__
    return masked(without(lines[0], secrets(url, place=True)))[:_WORDS]

"""Translation validation: compares the stages that the front end found with the C text, for each program.

The compiler does not trust its own reading of a program. It runs the text by the interpreter and the stages
by the reference, on small sizes and exact data, and refuses the program if they differ. Source: Pnueli,
Siegel and Singerman, "Translation Validation", TACAS 1998.
"""

from importlib import import_module

from mdh.device.cache import cache_if_any, key_of
from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.bound import BoundText
from mdh.ir.program import Program

SCHEMA = "mdh.validated/1"
_known: set[str] = set()
"""The programs that this process has compared."""


def validate(text: BoundText, program: Program) -> None:
    """Raises Failed B102 if the stages of `program` do not compute what its text says.

    Results are remembered in this user's cache. A program that cannot be made small enough, or for which no
    data are found, is left to `run --check`.
    """
    key = key_of(SCHEMA, text.text, repr(sorted(text.sizes.items())), repr(program))
    cache = None if key in _known else cache_if_any()
    if key in _known or (cache is not None and cache.get(key) is not None):
        return
    # the interpreter and the reference are imported only if there is something to compare
    found: Diagnostic | None = import_module("mdh.verify.comparison").misread(text, program)
    if found is not None:
        raise Failed(found)
    _known.add(key)
    if cache is not None:
        cache.put(key, b"{}")

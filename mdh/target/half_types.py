"""C's 16-bit float types, which not every C compiler has: what a folder needs of its own."""

import re

HALF_TYPES = {
    "_Float16": "defined __FLT16_MAX__ "
    "&& (!defined __clang__ || __clang_major__ >= 15 || defined __aarch64__)",
    "__bf16": "defined __BFLT16_MAX__ || (defined __clang__ ? __clang_major__ >= 17 : "
    "__GNUC__ >= 13 && defined __SSE2__)",
}
"""Type → the preprocessor's condition that it is there, with its arithmetic (GCC 12 and Clang 15 for
`_Float16`, GCC 13 and Clang 17 for `__bf16`; earlier Clangs define the limits of what they lack)."""

_PASSED_OVER = re.compile(r"//(?:\\\n|[^\n])*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def half_types(text: str) -> tuple[str, ...]:
    """The types that compiling a C text takes, comments and strings aside."""
    code = _PASSED_OVER.sub(" ", text)
    return tuple(t for t in HALF_TYPES if re.search(rf"\b{t}\b", code))

"""Fresh names, and the words that no name can be in C."""

from collections.abc import Collection


def unused(stem: str, taken: Collection[str]) -> str:
    """`stem`, or `stem_2`, `stem_3`… if that is taken."""
    name, n = stem, 2
    while name in taken:
        name, n = f"{stem}_{n}", n + 1
    return name


def fresh(stem: str, taken: set[str]) -> str:
    """An unused name, which is taken from now on."""
    name = unused(stem, taken)
    taken.add(name)
    return name


C_WORDS = frozenset(
    word
    for line in (
        "auto break case char const continue default do double else enum extern float for goto if inline",
        "int long register restrict return short signed sizeof static struct switch typedef typeof union",
        "unsigned void volatile while asm main NULL size_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t",
        "wchar_t INFINITY NAN true false bool int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t",
        "uint64_t errno",
    )
    for word in line.split()
)
"""C11's keywords, the types of its small headers, and the macros that every target defines."""

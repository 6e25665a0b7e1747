"""Ways to make a text hostile, each `(text, random) -> text`; `hostile` takes one of a language's.

Unlike `tests.support.mutations`, which damages a text here and there, these aim at what breaks parsers:
depth, size, numbers without end, expansion.
"""

import re
from collections.abc import Callable
from random import Random

Mutator = Callable[[str, Random], str]

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_NAME = re.compile(r"[A-Za-z_]\w*")
_COUNTS = (2, 20, 150, 199, 500, 5_000)


def _at_one(text: str, random: Random, pattern: re.Pattern[str], change: Callable[[str], str]) -> str:
    """`text` with one match changed; the whole text where there is none."""
    found = list(pattern.finditer(text))
    if not found:
        return change(text)
    m = random.choice(found)
    return text[: m.start()] + change(m[0]) + text[m.end() :]


def large_number(text: str, random: Random) -> str:
    new = random.choice(
        (
            "9" * 5000,
            "0x" + "f" * 40,
            "0" * 4400,
            str(2**31 - 1),
            str(2**63),
            "1e999",
            "0x1p99999999",
            "0x1p-9999999f",
            "-1",
            "1" * 300 + ".0f",
            "\u0663",
        )
    )
    return _at_one(text, random, _NUMBER, lambda _: new)


def nested_number(text: str, random: Random) -> str:
    count = random.choice(_COUNTS)
    left, right = random.choice(
        (
            ("(", ")"),
            ("- ", ""),
            ("!", ""),
            ("(int)", ""),
            ("1?1:", ""),
            ("sqrtf(", ")"),
            ("(", ""),
            ("", ")"),
            ("{", "}"),
            ("[", "]"),
            ("not ", ""),
            ("@a(", ")"),
        )
    )
    return _at_one(text, random, _NUMBER, lambda n: left * count + n + right * count)


def long_name(text: str, random: Random) -> str:
    return _at_one(text, random, _NAME, lambda n: n * random.choice((2, 20, 60, 2_000)))


def repeated_line(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    n = random.randrange(len(lines))
    return "".join((*lines[:n], *lines[n : n + 1] * random.choice((2, 20, 150, 2_500)), *lines[n + 1 :]))


def repeated_piece(text: str, random: Random) -> str:
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice((1, 2, 5, 20, 200)))
    return text[:end] + text[start:end] * random.choice(_COUNTS) + text[end:]


def odd_characters(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    piece = random.choice(
        (
            "\\\n",
            "\\",
            "\f",
            "\v",
            "\x1a",
            "\x7f",
            "\ud7ff",
            "\u2028",
            "\u202e",
            "\U0001f600",
            '"',
            "'",
            "/*",
            "*/",
            "//",
            "??/\n",
            "%:",
            "<:",
            "\u00b2",
            "\ufeff",
        )
    )
    return text[:at] + piece * random.choice((1, 1, 2, 1_000)) + text[at:]


def exploding_macro(text: str, random: Random) -> str:
    depth, body = random.choice((3, 12, 40)), random.choice(("1", "", "+1", "(1)", ";"))
    lines = "".join(f"#define Q{k + 1} Q{k} {random.choice(('', '+', '*'))} Q{k}\n" for k in range(depth))
    return f"#define Q0 {body}\n{lines}" + _at_one(text, random, _NUMBER, lambda _: f"Q{depth}")


def applied_macro(text: str, random: Random) -> str:
    head = random.choice(
        (
            "#define D(x) x x\n",
            "#define D(x) x##x\n",
            "#define D(x) #x\n",
            "#define D(x) D(x)\n",
            "#define D(...) __VA_ARGS__\n",
            "#define D(x, y) x\n",
            "#define D(\n",
        )
    )
    count = random.choice((1, 5, 40))
    return head + _at_one(text, random, _NUMBER, lambda n: "D(" * count + n + ")" * count)


def directive(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    new = random.choice(
        (
            "#if 1 << 99999999999\n#endif\n",
            "#if 1/0\n#endif\n",
            "#if (\n#endif\n",
            "#if\n",
            "#else\n",
            "#line 7\n",
            "#\n",
            '#line 99999999999 "a:1:2: b"\n',
            "#include\n",
            '#include "/etc/passwd"\n',
            "#include <x>\n",
            '_Pragma("x")\n',
            '_Pragma("mdh stage(s)")\n',
            "#pragma mdh( : )\n",
            "#define\n",
            "#define f\n",
            "#undef f\n",
            "#error e\n",
            "#define for\n",
            "#define int float\n",
            "#pragma scop\n",
            "#pragma\n",
            "#if 0\n",
            "#define defined 1\n",
            "#if defined(\n#endif\n",
            "#if __has_include(<x>)\n#endif\n",
            "#define X #\nX define Y\n",
        )
    )
    lines.insert(random.randint(0, len(lines)), new * random.choice((1, 1, 1, 30, 2_500)))
    return "".join(lines)


def declaration(text: str, random: Random) -> str:
    new = random.choice(
        (
            "struct { int x; } s;",
            "union u { int a; float b; };",
            "enum { A = 1 << 31, B };",
            "typedef int int;",
            "typedef struct q q;",
            "int *(*p[3])(int);",
            '_Static_assert(0, "x");',
            "int a[0];",
            "int a[] = {};",
            "int x : 3;",
            "float y[8], y[8];",
            "void g(void);",
            "auto x = 1;",
            "_Atomic int v;",
            "int a[2] = {[1] = 3};",
            "const int c = c;",
            "float t[2] = {1, 2, 3};",
            "switch (1) { case 1: ; }",
            "x: goto x;",
            "int (x) = 1;",
            "_Alignas(8) int z;",
            "_Generic(1, int: 2);",
            "static int k;",
            "extern int e;",
            "register int r = 1;",
        )
    )
    at = random.choice([m.end() for m in re.finditer(r"[;{}]|\A", text)])
    return text[:at] + new + text[at:]


_BOTH: tuple[Mutator, ...] = (
    large_number,
    nested_number,
    long_name,
    repeated_line,
    repeated_piece,
    odd_characters,
)
MUTATORS: dict[str, tuple[Mutator, ...]] = {
    "c": (*_BOTH, exploding_macro, applied_macro, directive, declaration),
    "mdh": _BOTH,
}
"""By language: the ending of its files."""


def hostile(text: str, random: Random, language: str) -> str:
    """`text` after one to three of its language's mutators."""
    for _ in range(random.choice((1, 1, 2, 3))):
        text = random.choice(MUTATORS[language])(text, random)
    return text

"""C texts that no person writes: what makes a careless parser crash, hang or run out of memory.

`TEXTS` names each one. Files that a text includes are in `INCLUDED`, by the text's name.
"""

FUNCTION = "void f(float y[8]) {{\n  for (int i = 0; i < 8; i++)\n    y[i] = {0};\n}}\n"
BODY = "void f(float y[8]) {{\n{0}\n}}\n"
LONG = "9" * 5000


def value(text: str) -> str:
    """A function that stores the expression `text`."""
    return FUNCTION.format(text)


def body(text: str) -> str:
    """A function whose body is `text`."""
    return BODY.format(text)


def doubling(times: int, first: str, use: str) -> str:
    """Macros each of which stands for two of the one before."""
    lines = (f"#define A{k + 1} A{k} {'+' if first else ''} A{k}\n" for k in range(times))
    return f"#define A0 {first}\n{''.join(lines)}{use}"


_NUMBERS = {
    f"number {name}": value(text)
    for name, text in {
        "decimal": LONG, "hexadecimal": "0x" + "f" * 5000, "octal": "07" * 2500, "float": LONG + ".0f",
        "leading zeros": "0" * 5000 + "1.17549435e-38f",
        "long part": "1.00000005960464477539062500" + "0" * 3900 + "1f",
        "large exponent": "0x1p99999999", "exponent of 5,000 digits": "0x1p" + LONG,
        "small exponent": "0x1p-99999999f", "character": r"'\xffffffff'",
    }.items()
}  # fmt: skip

_DEEP = {
    f"{count} {name}": text
    for count in (150, 199, 3000)
    for name, text in {
        "parentheses": value("(" * count + "1" + ")" * count),
        "open parentheses": value("(" * count),
        "braces": body("{" * count + "y[0]=1;" + "}" * count),
        "negations": value("- " * count + "1"),
        "addresses": value("& " * count + "y"),
        "sizeofs": value("sizeof " * count + "y"),
        "casts": value("(int)" * count + "1"),
        "conditionals": value("i?1:" * count + "1"),
        "conditionals within": value("i?" * count + "1" + ":1" * count),
        "ifs": body("if (y[0]) " * count + "y[1]=0;"),
        "loops": body("".join(f"for (int i{k}=0;i{k}<2;i{k}++) " for k in range(count)) + "y[1]=0;"),
        "pointers": f"void f(float {'*' * count}y) {{ y[0] = 1; }}",
        "dimensions": f"void f(float y{'[1]' * count}) {{ y[0] = 1; }}",
        "subscripts": value("y" + "[0]" * count),
        "subscripts within": value("y[" * count + "0" + "]" * count),
        "structures": "struct { " * count + "int x;" + "} a;" * count + value("1"),
        "declarators": "int " + "(" * count + "p" + ")" * count + ";" + value("1"),
        "calls": value("sqrtf(" * count + "1" + ")" * count),
        "assignments": body("y[0] = " * count + "1;"),
        "labels": body("".join(f"l{k}: " for k in range(count)) + "y[0]=1;"),
        "macros": "".join(f"#define A{k} A{k + 1}\n" for k in range(min(count, 1999))) + value("A0"),
        "macro arguments": "#define X(a) a\n" + value("X(" * count + "1" + ")" * count),
        "conditions": "#if 1\n" * min(count, 990) + value("1") + "#endif\n" * min(count, 990),
    }.items()
}

_LONG = {
    "100,000 semicolons": body(";" * 100_000 + "y[0]=1;"),
    "blocks": body("{}" * 50_000 + "y[0]=1;"),
    "statements": body("y[0] = 1;\n" * 5_000),
    "locals": body("".join(f"int a{k} = {k};\n" for k in range(20_000)) + "y[0]=1;"),
    "dimensions": f"void f(float y{'[1]' * 50_000}) {{ y[0] = 1; }}",
    "comments": value("/**/" * 50_000 + "1"),
    "open comments": "/* " * 80_000 + value("1"),
    "slashes": "/" * 200_000 + "\n" + value("1"),
    "newlines": "\n" * 200_000 + value("1"),
    "blanks": " " * 200_000 + value("1"),
    "one line": value("1").replace("\n", " " * 50_000),
    "quotes": '"' * 200_000 + value("1"),
    "escaped quotes": '\\"' * 100_000 + value("1"),
    "directives": "#undef X\n" * 20_000 + value("1"),
    "errors": "#error X\n" * 1_900 + value("1"),
    "open conditions": "#if 0\n" * 1_900 + value("1"),
    "attributes": "__attribute__((a " * 14_000 + value("1"),
    "a long name": value("a" * 200_000),
    "a long string": value('"' + "a" * 200_000 + '"'),
    "long names": f"void f({','.join(f'float {240 * chr(97)}{k}[8]' for k in range(900))})"
    + " { " + "ab" * 100 + "[0] = 1; }",
}  # fmt: skip

_MACROS = {
    "doubling macros": doubling(40, "1", value("A40")),
    "doubling macros of nothing": doubling(40, "", value("1 A40")),
    "doubling macros in a condition": doubling(40, "", "#if 1 A40\n#endif\n" + value("1")),
    "doubling arguments": "#define D(x) x x\n" + value("D(" * 40 + "1" + ")" * 40),
    "doubling names": "#define C(x) x##x\n#define D(x) C(x)\n" + value("D(" * 40 + "a" + ")" * 40),
    "doubling strings": "#define S(x) #x #x\n#define D(x) S(x)\n" + value("D(" * 40 + '""' + ")" * 40),
    "one long macro, often": "#define A " + "+1" * 2000 + "\n" + "".join(value("A") for _ in range(30)),
    "one long macro, deep": "#define A " + "+1" * 9000 + "\n"
    + "".join(f"#define A{k} A{k - 1 if k else ''}\n" for k in range(300)) + value("A299"),
    "a shift by much": "#if (1 << 99999999999) > 3\n#endif\n" + value("1"),
    "a shift by less than nothing": "#if 1u << -1\n#endif\n" + value("1"),
    "a shift by a product": "#if 1 << 9 * 99999999\n#endif\n" + value("1"),
    "a condition of 5,000 digits": f"#define N {'9' * 3000}\n#if N*N*N > 3\n#endif\n" + value("1"),
    "a string in a condition": '#if "ab" > 3\n#endif\n' + value("1"),
}  # fmt: skip

_PRAGMAS = {
    "_Pragma": '_Pragma("once")\n' + value("1"),
    "_Pragma in a function": body('_Pragma("mdh stage(s)") for (int i = 0; i < 8; i++) y[i] = 1;'),
    "_Pragma of two strings": '_Pragma("a" "b")\n' + value("1"),
    "_Pragma of nothing": "_Pragma()\n" + value("1"),
    "a bare #pragma": "#pragma\n" + value("1"),
    "a bare #include": "#include\n" + value("1"),
    "a bare #line": "#line\n" + value("1"),
    "a #line of 3,000 digits": f"#line {'9' * 3000}\n" + value("1"),
    "a #line below zero": "#line -5\n" + value("1)"),
    "a #line that quotes": '#line 7 "a:1:2: b"\n' + value("1)"),
}

TEXTS: dict[str, str] = {**_NUMBERS, **_DEEP, **_LONG, **_MACROS, **_PRAGMAS}

_FOUND = {
    "a call of a call": value("sinf(1)(2)"),
    "a struct without a name": body("struct { int x; }; struct { int x; } = 1; y[0] = z;"),
    "a parameter without a name": "void f(float [8], float y[8]) { y[0] = z; }",
}
"""Found by `tests.hostile.mutators`."""

TEXTS |= _FOUND

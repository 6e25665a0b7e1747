"""What `main.c` has for open sizes: `M=100` among its arguments, and arrays as large as they need to be."""

from collections.abc import Mapping

from mdh.ir.open_size import OpenExtent
from mdh.ir.program import Buffer, Program

Sizes = Mapping[str, int] | None

KNOWN = r"""        else if (!strcmp(argv[i], "--no-check"))
            check = 0;
"""
SIZES = r"""
/* `M=100` sets an open size. Returns whether `word` does so with a value that the kernels take. */
static int sets_size(const char *word)
{
    for (int n = 0; n < SIZES; ++n) {
        const size_t length = strlen(sizes[n].name);
        if (!strncmp(word, sizes[n].name, length) && word[length] == '=') {
            const long long value = atoll(word + length + 1);
            *sizes[n].value = (int)value;
            return value >= sizes[n].least && value <= sizes[n].most && value % sizes[n].multiple == 0;
        }
    }
    return 0;
}
"""


def size_variable(name: str) -> str:
    """The variable of an open size in `main.c`."""
    return f"size_{name}"


def open_sizes(program: Program, at: Sizes = None) -> str:
    """The open sizes, and how many elements each array has by them. at: the values that they begin with;
    None: the largest ones."""
    if not program.opens:
        return ""
    begin = {s.name: s.most for s in program.opens} | dict(at or {})
    variables = "".join(f"static int {size_variable(s.name)} = {begin[s.name]};\n" for s in program.opens)
    rows = "".join(
        f'    {{ "{s.name}", &{size_variable(s.name)}, {s.least}, {s.most}, {s.multiple} }},\n'
        for s in program.opens
    )
    arrays = [program.buffer_of[p] for p in program.params if p in program.buffer_of]
    counts = "".join(f"    arrays[{a}].count = {_elements(b)};\n" for a, b in enumerate(arrays) if b.open)
    return f"""
{variables}static const struct {{ const char *name; int *value; int least, most, multiple; }} sizes[] = {{
{rows}}};
enum {{ SIZES = sizeof sizes / sizeof sizes[0] }};
{SIZES}
static void count_elements(void)
{{
{counts}}}
"""


def _elements(b: Buffer) -> str:
    each = zip(b.shape, b.open, strict=True)
    return " * ".join(f"(size_t){n}" if o is None else _extent(o) for n, o in each)


def _extent(extent: OpenExtent) -> str:
    terms = [size_variable(n) if c == 1 else f"{c} * {size_variable(n)}" for n, c in extent.form.terms]
    rest = extent.form.const
    sum_ = " + ".join(terms) + (f" {'+' if rest > 0 else '-'} {abs(rest)}" if rest else "")
    return f"(size_t)({sum_})"


def open_main(main: str, program: Program) -> str:
    """`main` with arguments for the open sizes."""
    usage = " ".join(f"[{s.name}={s}]" for s in program.opens)
    return (
        main.replace(KNOWN, KNOWN + "        else if (sets_size(argv[i]))\n            continue;\n")
        .replace("[--no-check]\\n", f"[--no-check] {usage}\\n")
        .replace("    open_device();\n", "    count_elements();\n    open_device();\n")
    )

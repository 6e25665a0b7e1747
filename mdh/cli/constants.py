"""`--const NAME=FILE.npy` and `--const-pattern NAME=FILE.npy`: array parameters that are constants."""

from functools import partial

from mdh.cli.array_file import NoArrayError, read_array
from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.options import CONSTANTS
from mdh.diagnostics import fail
from mdh.frontend.constant_arrays import constant_text, demand_constant


def with_arrays(line: CommandLine, words: list[str]) -> list[str]:
    """The words with a define in the place of every such option. Raises Failed F115 for files that cannot be
    read, C127 for arrays that cannot be constants."""
    out, left, seen = list[str](), list(words), set[str]()
    while left:
        option, equals, value = left.pop(0).partition("=")
        if option not in CONSTANTS:
            out.append(f"{option}{equals}{value}")
            continue
        if not equals and not left:
            raise line.fail(
                "F107", f"{option} needs a name and a file", option, help=f"write {option} C=C.npy"
            )
        word = value if equals else left.pop(0)
        name, _, path = word.partition("=")
        if not (name.isidentifier() and name.isascii()) or not path:
            raise line.fail(
                "F115", f"{option} `{word}` is not NAME=FILE.npy", word, help=f"write {option} C=C.npy"
            )
        if name in seen:
            raise line.fail("F115", f"`{name}` is given twice", word, help="keep one of the two", last=True)
        seen.add(name)
        text = at_word(line, word, partial(array_text, path, pattern=option != CONSTANTS[0]))
        out += ["-D", f"{name}={text}"]
    return out


def array_text(path: str, *, pattern: bool) -> str:
    """The define of the array in a file. Raises Failed F115, C127."""
    try:
        array = read_array(path, partial(demand_constant, pattern=pattern))
    except NoArrayError as error:
        hint = "give a .npy file, which numpy.save wrote, of plain numbers"
        raise fail("F115", f"`{path}` {error}", help=hint) from None
    return constant_text(array, pattern=pattern)

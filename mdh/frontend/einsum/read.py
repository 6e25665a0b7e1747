"""Einsum texts to a Program: the entry point of the front end, as `mdh.frontend.read.FrontEnd` has it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.bound import BoundText
from mdh.frontend.constant_arrays import split_constants
from mdh.frontend.constant_parameters import with_constants, without_constants
from mdh.frontend.einsum.parser import Einsum, parse
from mdh.frontend.einsum.path import path_of
from mdh.frontend.heading import Heading
from mdh.frontend.nest import INT, FunctionInC, c_name, loop, read_nest, words
from mdh.frontend.sizes import size_values
from mdh.frontend.types import C_TYPES
from mdh.frontend.typing_rules import FUNCTIONS
from mdh.ir import syntax as c
from mdh.ir.dtype import F64, DType
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.source import Source, Span

UNBOUND, EXTENT = "E104", "E105"
NAME, RESULT = "einsum", "out"


@dataclass(frozen=True, slots=True)
class _LetterNames:
    """sizes: by letter. operands: in order."""

    sizes: Mapping[str, str]
    operands: tuple[str, ...]
    counters: Mapping[str, str]


def bound_text(source: Source, defines: Mapping[str, str | int] = {}, opens: Iterable[str] = ()) -> BoundText:
    """The text with its sizes bound, by their names in C. Raises Failed E1xx, C105, C123, C125."""
    e = parse(source)
    names = _names(e)
    for n in opens:
        if n in names.sizes:
            headline = f"the size of `{n}` is a parameter of the kernel, and called `{names.sizes[n]}` there"
            hint = f"leave it open by that name: -D {names.sizes[n]}=…"
            raise Failed(Diagnostic("C125", headline, help=hint, witness=(("define", n),)))
    arrays, others = split_constants(defines)
    letters = _letters(names, others)
    given = {letters.get(n, n): v for n, v in others.items()}
    values = size_values(source.name, given, _spans(e))
    return BoundText(source, source.text, {names.sizes[n]: v for n, v in values.items()}, arrays=arrays)


def size_spans(source: Source) -> dict[str, Span]:
    """The sizes by their letters and by their names in C."""
    e = parse(source)
    spans, names = _spans(e), _names(e)
    return {**spans, **{names.sizes[letter]: span for letter, span in spans.items()}}


def deciding(source: Source, name: str) -> Span | None:
    """None: no value decides what the text is."""
    return None


def function_names(source: Source) -> tuple[str, ...]:
    """An einsum is one function."""
    return (NAME,)


def read_bound(
    text: BoundText,
    *,
    function: str | None = None,
    strict_fp: bool = False,
    allow: Iterable[str] = (),
    opens: Sequence[OpenSize] = (),
) -> Program:
    """The Program. Raises Failed E1xx, C1xx."""
    return read_nest(text, _written, strict_fp=strict_fp, allow=allow, opens=opens)


def read_syntax(text: BoundText, *, function: str | None = None) -> c.Function:
    """The sum as a loop nest in C. Raises Failed E1xx."""
    nest = _written(text)
    return with_constants(nest.function, nest.sizes, text)


def read_heading(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> Heading:
    """The names of the parameters: sizes, operands, the result."""
    e, text = parse(source), bound_text(source, defines, opens)
    names = _names(e)
    shapes = {
        name: tuple(names.sizes[letter] for letter in letters) or (None,)
        for name, letters in zip(names.operands, e.operands, strict=True)
    }
    kept = set(opens)
    fixed = {n: v for n, v in text.sizes.items() if n not in kept}
    order = (*names.operands, RESULT)
    heading = Heading(NAME, (*names.sizes.values(), *order), shapes, order, (RESULT,), fixed)
    return without_constants(heading, text.arrays)


def free_sizes(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> tuple[str, ...]:
    """Sizes that no define binds, by their names in C."""
    text = bound_text(source, defines)
    names = _names(parse(source))
    return tuple(name for name in names.sizes.values() if name not in text.sizes)


def _spans(e: Einsum) -> dict[str, Span]:
    """Where each letter stands first."""
    out: dict[str, Span] = {}
    for letters, span in zip(e.operands, e.spans, strict=True):
        for letter in letters:
            at = span.source.text.index(letter, span.start)
            out.setdefault(letter, Span(span.source, at, at + 1))
    return out


def _names(e: Einsum) -> _LetterNames:
    """A letter is a counter, and the capital letter its size. Where both are letters of the text, a size is
    `LETTER_size`."""
    taken = {*words(FUNCTIONS), NAME, RESULT}
    operands = tuple(c_name(f"in{n}", taken) for n in range(len(e.operands)))
    counters = {letter: c_name(letter, taken) for letter in e.letters}
    sizes = {
        letter: c_name(letter.upper() if letter.upper() not in taken else f"{letter}_size", taken)
        for letter in e.letters
    }
    return _LetterNames(sizes, operands, counters)


def _letters(names: _LetterNames, defines: Iterable[str]) -> dict[str, str]:
    """The letter of each size that is defined, by letter or by its name in C. Raises Failed C105 if one is
    defined by both."""
    letter_of = {name: letter for letter, name in names.sizes.items()}
    found: dict[str, str] = {}
    for n in defines:
        letter = n if n in names.sizes else letter_of.get(n)
        if letter is None:
            continue
        if letter in found.values():
            headline = f"the size of `{letter}` is bound twice: it is also called `{names.sizes[letter]}`"
            raise Failed(Diagnostic("C105", headline, help="bind it once", witness=(("define", n),)))
        found[n] = letter
    return found


def _written(text: BoundText) -> FunctionInC:
    given = text.source if text.text == text.source.text else Source(text.source.name, text.text)
    e = parse(given)
    names = _names(e)
    values = {letter: text.sizes[name] for letter, name in names.sizes.items() if name in text.sizes}
    _check_sizes(e, values)
    nests, temporary = _steps(e, names, values)
    sizes = tuple(c.Declaration(name, INT, span=_spans(e)[letter]) for letter, name in names.sizes.items())
    inputs = tuple(
        _declared(name, letters, e.kind, names, span)
        for name, letters, span in zip(names.operands, e.operands, e.spans, strict=True)
    )
    result = _declared(RESULT, e.result, e.kind, names, e.place)
    function = c.Function(NAME, (*sizes, *inputs, result), (), c.Block((*temporary, *nests)))
    whole = Span(given, 0, max(1, len(given.text)))
    return FunctionInC(function, whole, text.sizes, frozenset((RESULT,)))


def _check_sizes(e: Einsum, sizes: Mapping[str, int]) -> None:
    places = _spans(e)
    found = [
        Diagnostic(
            UNBOUND, f"the size of `{n}` is not known", (Label(places[n]),), help=f"bind it: -D {n}=16"
        )
        for n in e.letters
        if n not in sizes
    ]
    found += [
        Diagnostic(
            EXTENT, f"the size of `{n}` is {sizes[n]:,}", (Label(places[n]),), help="sizes are 1 or more"
        )
        for n in e.letters
        if n in sizes and sizes[n] < 1
    ]
    if found:
        raise Failed(*found)


def _declared(name: str, letters: str, kind: DType, names: _LetterNames, span: Span) -> c.Declaration:
    extents = tuple(c.Name(names.sizes[letter]) for letter in letters) or (c.Number("1"),)
    return c.Declaration(name, C_TYPES[kind], extents, span=span)


def _steps(
    e: Einsum, names: _LetterNames, sizes: Mapping[str, int]
) -> tuple[list[c.Statement], list[c.Declaration]]:
    """A nest for each product of a pair, and the arrays that keep what is not the result."""
    left = list(zip(names.operands, e.operands, e.spans, strict=True))
    path = path_of(e.operands, e.result, sizes)
    nests, temporary = list[c.Statement](), list[c.Declaration]()
    taken = {
        *words(FUNCTIONS),
        *names.operands,
        *names.sizes.values(),
        *names.counters.values(),
        NAME,
        RESULT,
    }
    for n, step in enumerate(path):
        chosen = [left[k] for k in step]
        left = [one for k, one in enumerate(left) if k not in step]
        needed = set(e.result).union(*(letters for _, letters, _ in left))
        letters = "".join(dict.fromkeys("".join(one for _, one, _ in chosen)))
        # letters of the result first and in its order, so that later products find rows of it together
        order = sorted((x for x in letters if x in needed), key=(e.result + letters).index)
        kept = e.result if n == len(path) - 1 else "".join(order)
        name = RESULT if n == len(path) - 1 else c_name(f"product{n + 1}", taken)
        span = e.place if n == len(path) - 1 else chosen[0][2]
        if name != RESULT:
            temporary.append(_declared(name, kept, e.kind, names, span))
        nests.append(_nest(name, kept, letters, [(a, b) for a, b, _ in chosen], e.kind, names, span))
        left.append((name, kept, span))
    return nests, temporary


def _nest(
    name: str,
    kept: str,
    letters: str,
    operands: Sequence[tuple[str, str]],
    kind: DType,
    names: _LetterNames,
    span: Span,
) -> c.Statement:
    """`name[kept] = the sum of the product of the operands over all other letters`."""
    summed = [x for x in letters if x not in kept]
    target = c.Element(name, tuple(c.Name(names.counters[x]) for x in kept) or (c.Number("0"),), span)
    value: c.Expression | None = None
    for array, own in operands:
        factor = c.Element(array, tuple(c.Name(names.counters[x]) for x in own) or (c.Number("0"),), span)
        value = factor if value is None else c.Infix("*", value, factor)
    assert value is not None
    body: list[c.Statement] = []
    if summed:
        zero = c.Number("0" if not kind.is_float else "0.0" if kind == F64 else "0.0f")
        body.append(c.Assignment(target, "=", zero, span))
    inner: c.Statement = c.Assignment(target, "+=" if summed else "=", value, span)
    for x in reversed(summed):
        inner = loop(names.counters[x], c.Name(names.sizes[x]), inner, span)
    body.append(inner)
    out: c.Statement = body[0] if len(body) == 1 else c.Block(tuple(body))
    for x in reversed(kept):
        out = loop(names.counters[x], c.Name(names.sizes[x]), out, span)
    return out

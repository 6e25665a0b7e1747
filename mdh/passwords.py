"""Finds passwords in URLs and shows them as `***`, in words, in commands and in any other text.

A password is the text between the user and the host (`postgresql://user:password@host`), and the value of a
parameter with such a name (`?password=…`). If a text can be read in two ways, the longer part counts as the
password: hiding too much costs a word of a message, hiding too little costs a password.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, unquote, unquote_plus

MASK = "***"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,40}://")
"""The bounds make matching linear, since texts may be long."""
_NAME = re.compile(r"pass(?!file)|pwd|secret|token|credential|api_?key|odbc_connect", re.IGNORECASE)
_SIGNED = re.compile(r"[\w.\-]*(?:key|sign?ature|jwt|bearer)|(?:x-)?auth\w*|sig|pw", re.IGNORECASE)
"""More names that URLs give to secrets, but that drivers give to other settings."""
_PARAMETER = re.compile(r"[?&;#]([\w.\-%]+)=(.*?)(?=[&;#][\w.\-%]+=|\Z)", re.DOTALL)
_SETTING = re.compile(r"(?:\A|[\s;])([\w.\-]+)\s*=\s*(.*?)(?=[\s;][\w.\-]+\s*=|\Z)", re.DOTALL)
"""A setting in `host=… user=… password=…`, which drivers accept and mdh does not."""
_ACCOUNT = re.compile(r"\A(?:[^\s/:@]*|[^:@]*:?//[^/:@]*):(.+)@", re.DOTALL)
"""`user:password@host`: a URL whose beginning is missing or written differently."""
_ENCODED = re.compile(r"%3A(?:/|%2F){2}(.+)", re.IGNORECASE | re.DOTALL)
"""What follows the scheme of a URL whose separators are encoded."""
_NO_HOST = re.compile(r"[^\s/:@\[]*:(?!\d+(?:[/?,]|\Z))(.+)", re.DOTALL)
"""`://user:password` without a host: no number follows, so it is no port."""
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.){0,1000}+\"|'(?:[^'\\\n]|\\.){0,1000}+'|`[^`\n]{0,1000}+`")
_COMMAND = re.compile(r"^([ \t/*#]*command: )(.+)$", re.MULTILINE)
"""The command in the head of a schedule that the tuner wrote."""
_BARE = re.compile(rf"{_SCHEME.pattern}\S*")


def masked(text: str) -> str:
    """A text with its URLs masked. A URL ends at a blank, or at the quote of the string that holds it."""
    if "://" not in text:
        return text
    text = _COMMAND.sub(lambda m: m[1] + masked_command(m[2]), text)
    return _STRINGS.sub(lambda m: masked_word(m[0]), _BARE.sub(lambda m: masked_word(m[0]), text))


def masked_word(word: str, *, place: bool = False) -> str:
    """One masked word of a command line, or one URL, which extends to the end of the text. place: the word is
    the place of a storage or a cluster, so that forms other than URLs are masked too."""
    out, end = "", 0
    for start, stop in spans(word, place=place):
        out += word[end:start] + MASK
        end = stop
    # the closing quote of a string does not belong to its contents
    closing = word[-1] if end == len(word) > 1 and word[0] in "\"'`" and word[-1] == word[0] else ""
    return out + word[end:] + closing


def masked_command(line: str) -> str:
    """A command line that was quoted for a shell."""
    try:
        words = shlex.split(line)
    except ValueError:
        return masked(line)
    shown = [masked_word(w, place=p) for w, p in zip(words, places(words), strict=True)]
    return masked(line) if shown == words else masked(shlex.join(shown))


def places(words: Iterable[str]) -> Iterator[bool]:
    """For each word, whether it is the place of a storage or a cluster."""
    before = ""
    for word in words:
        yield before.startswith(_PLACES) or (word.startswith(_PLACES) and "=" in word)
        before = word


_PLACES = ("--sto", "--clu")
"""The beginnings of the options; they are recognised even if misspelt."""


def secrets(word: str, *, place: bool = False) -> tuple[str, ...]:
    """The passwords of one word, each in the forms that libraries write, the longest first."""
    found: set[str] = set()
    for start, stop in spans(word, place=place):
        for plain in (word[start:stop], unquote(word[start:stop]), unquote_plus(word[start:stop])):
            whole = {plain, quote(plain), quote(plain, safe=""), quote_plus(plain)}
            found |= whole | {w for p in whole for w in (repr(p)[1:-1], json.dumps(p)[1:-1], shlex.quote(p))}
    return tuple(sorted(found - {"", MASK}, key=lambda s: (-len(s), s)))


def without(text: str, hidden: Iterable[str]) -> str:
    """A text without known passwords. A short one is removed only where it is a whole word, because the
    letter `a` is everywhere."""
    for secret in hidden:
        if len(secret) >= _LONG:
            text = text.replace(secret, MASK)
        else:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return text


_LONG = 4


def spans(word: str, *, place: bool = False) -> list[tuple[int, int]]:
    """The places of passwords in a word, in order and without overlaps."""
    scheme = _SCHEME.search(word)
    found: list[tuple[int, int]] = []
    if scheme is not None:
        begin, at = _password_of(word, scheme.end(), place), word.rfind("@")
        if begin is not None and begin < at:
            found.append((begin, at))
        elif place and (forgotten := _NO_HOST.match(word, scheme.end())):
            found.append(forgotten.span(1))
        found += [m.span(2) for m in _PARAMETER.finditer(word, scheme.end()) if _names_secret(m[1], m[2])]
    elif place:
        begin = len(word.partition("=")[0]) + 1 if word.startswith("-") else 0
        rest = word[begin:]
        account = _ACCOUNT.search(rest)
        inside = [account.span(1)] if account else []
        inside += [*_settings(rest), *(m.span(1) for m in _ENCODED.finditer(rest))]
        found += [(begin + start, begin + stop) for start, stop in inside]
    return _joined(sorted(s for s in found if s[0] < s[1]))


def _password_of(word: str, start: int, place: bool) -> int | None:
    """The start of the password of an account that begins at `start`. The colon before it may be encoded, and
    some databases write a slash."""
    for separator in (":", "%3A", "%3a", *("/" * (place and word[start : start + 1] != "/"))):
        if (found := word.find(separator, start, word.rfind("@"))) >= 0:
            return found + len(separator)
    return None


def _names_secret(name: str, value: str) -> bool:
    """Whether a URL's parameter is a secret. Some parameters hold settings of their own: `options=-c
    password=…`."""
    inner = unquote_plus(value) if "%" in value else ""
    plain = unquote(name)
    return bool(_NAME.search(plain) or _SIGNED.fullmatch(plain) or _settings(inner))


def _settings(text: str) -> list[tuple[int, int]]:
    """The places of the values of settings whose names are those of passwords."""
    return [m.span(2) for m in _SETTING.finditer(text) if _NAME.search(m[1])]


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, stop in found:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(stop, out[-1][1]))
        else:
            out.append((start, stop))
    return out

"""Passwords in URLs: found, and shown as `***`, in words, in commands and in any other text.

A password is what stands between the user and the host (`postgresql://user:password@host`), and the value of
a parameter that is called like one (`?password=…`). Where a text may be read in two ways, the longer part of
it counts as the password: what is hidden too much costs a word of a message, what is shown costs a password.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, unquote, unquote_plus

MASK = "***"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,40}://")
"""Bounds make time linear: texts of others may be long."""
_NAME = re.compile(r"pass(?!file)|pwd|secret|token|credential|api_?key|odbc_connect", re.IGNORECASE)
_SIGNED = re.compile(r"[\w.\-]*(?:key|sign?ature|jwt|bearer)|(?:x-)?auth\w*|sig|pw", re.IGNORECASE)
"""Further names that only URLs give to secrets, and drivers to other settings."""
_PARAMETER = re.compile(r"[?&;#]([\w.\-%]+)=(.*?)(?=[&;#][\w.\-%]+=|\Z)", re.DOTALL)
_SETTING = re.compile(r"(?:\A|[\s;])([\w.\-]+)\s*=\s*(.*?)(?=[\s;][\w.\-]+\s*=|\Z)", re.DOTALL)
"""Of `host=… user=… password=…`, which drivers take and mdh does not."""
_ACCOUNT = re.compile(r"\A(?:[^\s/:@]*|[^:@]*:?//[^/:@]*):(.+)@", re.DOTALL)
"""Of `user:password@host`, a URL whose beginning was forgotten, or is written in another way."""
_ENCODED = re.compile(r"%3A(?:/|%2F){2}(.+)", re.IGNORECASE | re.DOTALL)
"""What follows the scheme of a URL whose separators are encoded."""
_NO_HOST = re.compile(r"[^\s/:@\[]*:(?!\d+(?:[/?,]|\Z))(.+)", re.DOTALL)
"""Of `://user:password`, where the host was forgotten: no number follows, so it is no port."""
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.){0,1000}+\"|'(?:[^'\\\n]|\\.){0,1000}+'|`[^`\n]{0,1000}+`")
_COMMAND = re.compile(r"^([ \t/*#]*command: )(.+)$", re.MULTILINE)
"""Of the head of a schedule that the tuner wrote."""
_BARE = re.compile(rf"{_SCHEME.pattern}\S*")


def masked(text: str) -> str:
    """A text with URLs in it: ends of URLs are blanks, and the quotes of strings that hold them."""
    if "://" not in text:
        return text
    text = _COMMAND.sub(lambda m: m[1] + masked_command(m[2]), text)
    return _STRINGS.sub(lambda m: masked_word(m[0]), _BARE.sub(lambda m: masked_word(m[0]), text))


def masked_word(word: str, *, place: bool = False) -> str:
    """One word of a command line, or one URL: it goes on to the end of the text, whatever is in it. place:
    the word says where a storage or a cluster is, so that forms other than URLs are masked too."""
    out, end = "", 0
    for start, stop in spans(word, place=place):
        out += word[end:start] + MASK
        end = stop
    # the closing quote of a string is no part of what is in it
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
    """Of each word, whether it says where a storage or a cluster is."""
    before = ""
    for word in words:
        yield before.startswith(_PLACES) or (word.startswith(_PLACES) and "=" in word)
        before = word


_PLACES = ("--sto", "--clu")
"""How the options begin, as they do where one is misspelt."""


def secrets(word: str, *, place: bool = False) -> tuple[str, ...]:
    """The passwords of one word, each in the ways that libraries write it; the longest first."""
    found: set[str] = set()
    for start, stop in spans(word, place=place):
        for plain in (word[start:stop], unquote(word[start:stop]), unquote_plus(word[start:stop])):
            whole = {plain, quote(plain), quote(plain, safe=""), quote_plus(plain)}
            found |= whole | {w for p in whole for w in (repr(p)[1:-1], json.dumps(p)[1:-1], shlex.quote(p))}
    return tuple(sorted(found - {"", MASK}, key=lambda s: (-len(s), s)))


def without(text: str, hidden: Iterable[str]) -> str:
    """A text without passwords that are known. A short one stands for itself only where it is a word: the
    letter `a` is everywhere."""
    for secret in hidden:
        if len(secret) >= _LONG:
            text = text.replace(secret, MASK)
        else:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return text


_LONG = 4


def spans(word: str, *, place: bool = False) -> list[tuple[int, int]]:
    """Where passwords stand in a word, in order, apart from one another."""
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
    """Where the password of an account begins that begins at `start`; the colon before it may be encoded,
    and some databases write a slash."""
    for separator in (":", "%3A", "%3a", *("/" * (place and word[start : start + 1] != "/"))):
        if (found := word.find(separator, start, word.rfind("@"))) >= 0:
            return found + len(separator)
    return None


def _names_secret(name: str, value: str) -> bool:
    """Of a parameter of a URL. Some hold settings of their own, `options=-c password=…`."""
    inner = unquote_plus(value) if "%" in value else ""
    plain = unquote(name)
    return bool(_NAME.search(plain) or _SIGNED.fullmatch(plain) or _settings(inner))


def _settings(text: str) -> list[tuple[int, int]]:
    """Where the values of settings stand that are called like passwords."""
    return [m.span(2) for m in _SETTING.finditer(text) if _NAME.search(m[1])]


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, stop in found:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(stop, out[-1][1]))
        else:
            out.append((start, stop))
    return out

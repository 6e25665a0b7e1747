"""The language server: speaks LSP over standard input and output, and knows no schedules. docs/editors.md is
its guide.

Requests that read tokens alone are answered at once. All others run one after another in one thread. A text
is checked when its user pauses; results of an older text are dropped.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from mdh.diagnostics import Failed, Severity
from mdh.editor.actions import FIX_ALL, Action
from mdh.editor.completion import Item
from mdh.editor.messages import Message
from mdh.editor.outline import OutlineEntry
from mdh.editor.session import Session
from mdh.editor.settings import settings_of
from mdh.editor.texts import ClosedError
from mdh.edits import Edit
from mdh.release import release
from mdh.source import Source, Span

T = TypeVar("T")
LOG = logging.getLogger("mdh")
"""Editors keep what is written to standard error."""
PAUSE = 0.15
"""Seconds without a keystroke after which a text is checked."""
SECTION = "mdh"
"""The name of the settings in the editor."""
SEVERITIES = {
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.BUG: lsp.DiagnosticSeverity.Error,
}
KINDS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "step": lsp.CompletionItemKind.Snippet,
    "machine": lsp.CompletionItemKind.Module,
    "program": lsp.CompletionItemKind.Function,
    "size": lsp.CompletionItemKind.Constant,
    "stage": lsp.CompletionItemKind.Class,
    "buffer": lsp.CompletionItemKind.Variable,
    "region": lsp.CompletionItemKind.EnumMember,
    "layer": lsp.CompletionItemKind.EnumMember,
    "attribute": lsp.CompletionItemKind.Property,
    "value": lsp.CompletionItemKind.Value,
    "hole": lsp.CompletionItemKind.TypeParameter,
}
SYMBOLS = {
    "header": lsp.SymbolKind.Constant,
    "section": lsp.SymbolKind.Class,
    "step": lsp.SymbolKind.Method,
    "program": lsp.SymbolKind.Function,
    "stage": lsp.SymbolKind.Class,
}


class Server(LanguageServer):
    """session: what is open. worker: the one thread that reads programs and asks the checker. pending: the
    files that wait for a pause, with their tasks. versions: the editor's numbers of the open texts."""

    def __init__(self) -> None:
        super().__init__("mdh", release(), text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.session = Session()
        self.worker = ThreadPoolExecutor(1, "mdh-editor")
        self.pending: dict[str, asyncio.Task[None]] = {}
        self.versions: dict[str, int] = {}

    async def apart(self, arrow: Callable[[], T]) -> T | None:
        """Runs `arrow` in the one thread; None if the file was closed meanwhile. A bug is logged, and the
        editor goes on without an answer."""

        def run() -> T | None:
            try:
                return arrow()
            except ClosedError:
                return None
            except Exception:  # the border to the editor: any exception here is a bug of mdh
                LOG.exception("an answer is missing")
                return None

        return await asyncio.get_running_loop().run_in_executor(self.worker, run)

    def check(self, paths: Iterable[str], pause: float = PAUSE) -> None:
        """Checks files after a pause. A file that already waits begins anew."""
        for path in paths:
            if path in self.pending:
                self.pending[path].cancel()
            self.pending[path] = asyncio.ensure_future(self._checked(path, pause))

    async def _checked(self, path: str, pause: float) -> None:
        await asyncio.sleep(pause)
        source = self.session.texts.open.get(path)
        if source is None:
            return
        found = await self.apart(lambda: self.session.messages(path)) or ()
        if self.session.texts.open.get(path) is source:
            self.show(path, [_diagnostic(m) for m in found])

    def show(self, path: str, diagnostics: list[lsp.Diagnostic]) -> None:
        params = lsp.PublishDiagnosticsParams(_uri(path), diagnostics, self.versions.get(path))
        self.text_document_publish_diagnostics(params)

    def offset(self, path: str, position: lsp.Position) -> int:
        return offset_at(self.session.texts.open[path], position)

    def known(self, uri: str) -> str | None:
        """The path of an open file; None for what is not open, or is no file."""
        path = _path(uri)
        return path if path in self.session.texts.open else None

    async def configure(self) -> None:
        """Asks the editor for the settings, and checks what is open by them."""
        given: object = {}
        if self._asks():
            item = lsp.ConfigurationItem(section=SECTION)
            found = await self.workspace_configuration_async(lsp.ConfigurationParams([item]))
            given = _plain(found[0]) if found else {}
        self.take(given)

    def _asks(self) -> bool:
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.configuration)

    def take(self, given: object) -> None:
        """Takes settings."""
        roots = [p for f in self.workspace.folders.values() if (p := to_fs_path(f.uri))]
        root = self.workspace.root_path
        self.session.configure(settings_of(given), roots or ([root] if root else []))
        self.check(tuple(self.session.texts.open), 0.0)


server = Server()


@server.feature(lsp.INITIALIZED)
async def initialized(ls: Server, _params: lsp.InitializedParams) -> None:
    await ls.configure()


@server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
async def configured(ls: Server, params: lsp.DidChangeConfigurationParams) -> None:
    """Editors send the settings, or say that they can be asked for."""
    given = params.settings
    found = given.get(SECTION) if isinstance(given, dict) else getattr(given, SECTION, None)
    if found is not None:
        ls.take(_plain(found))
    else:
        await ls.configure()


@server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
async def moved(ls: Server, _params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    await ls.configure()


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
async def opened(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    if path := _path(document.uri):
        ls.versions[path] = document.version
        ls.check(ls.session.put(path, document.text), 0.0)


@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
async def changed(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    path = ls.known(params.text_document.uri)
    if path is not None and params.content_changes:
        ls.versions[path] = params.text_document.version
        ls.check(ls.session.put(path, params.content_changes[-1].text))


@server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
async def closed(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    path = ls.known(params.text_document.uri)
    if path is not None:
        ls.check(ls.session.drop(path))
        ls.versions.pop(path, None)
        ls.show(path, [])


@server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
async def saved(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    if path := _path(params.text_document.uri):
        ls.check(ls.session.touched(path))


@server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
async def watched(ls: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    for change in params.changes:
        if (path := _path(change.uri)) and path not in ls.session.texts.open:
            ls.check(ls.session.touched(path))


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
async def hovered(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    path = ls.known(params.text_document.uri)
    if path is None:
        return None
    offset = ls.offset(path, params.position)
    found = await ls.apart(lambda: ls.session.hover(path, offset))
    if found is None:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text), range_of(found.span))


@server.feature(
    lsp.TEXT_DOCUMENT_COMPLETION,
    lsp.CompletionOptions(trigger_characters=["@", ".", ":", "[", "(", ",", "?", " ", "="]),
)
def completed(ls: Server, params: lsp.CompletionParams) -> lsp.CompletionList:
    path = ls.known(params.text_document.uri)
    items = () if path is None else ls.session.complete(path, ls.offset(path, params.position))
    return lsp.CompletionList(False, [_item(x) for x in items])


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
async def defined(ls: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
    path = ls.known(params.text_document.uri)
    if path is None:
        return []
    offset = ls.offset(path, params.position)
    found = await ls.apart(lambda: ls.session.definition(path, offset)) or ()
    return [_location(span) for span in found]


@server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
def referred(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    path = ls.known(params.text_document.uri)
    found = () if path is None else ls.session.references(path, ls.offset(path, params.position))
    return [_location(span) for span in found]


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
async def outlined(ls: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    path = ls.known(params.text_document.uri)
    found = () if path is None else await ls.apart(lambda: ls.session.outline(path))
    return [_symbol(x) for x in found or ()]


@server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
def renaming(ls: Server, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    path = ls.known(params.text_document.uri)
    found = None if path is None else ls.session.renamable(path, ls.offset(path, params.position))
    return None if found is None else range_of(found)


@server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
def renamed(ls: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    path = ls.known(params.text_document.uri)
    if path is None:
        return None
    try:
        found = ls.session.renamed(path, ls.offset(path, params.position), params.new_name)
    except Failed as failed:
        raise JsonRpcInvalidParams(failed.diagnostics[0].headline) from failed
    return _change(path, found)


@server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
def formatted(ls: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    path = ls.known(params.text_document.uri)
    return [] if path is None else _edits(ls.session.formatted(path))


@server.feature(
    lsp.TEXT_DOCUMENT_CODE_ACTION,
    lsp.CodeActionOptions(
        [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll], resolve_provider=True
    ),
)
def offered(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    path = ls.known(params.text_document.uri)
    if path is None:
        return []
    low, high = (ls.offset(path, p) for p in (params.range.start, params.range.end))
    out = [_action(path, x, params.context.diagnostics) for x in ls.session.actions(path, low, high)]
    if ls.session.fixable(path):
        out.append(lsp.CodeAction(FIX_ALL, lsp.CodeActionKind.SourceFixAll, data=path))
    return out


@server.feature(lsp.CODE_ACTION_RESOLVE)
async def resolved(ls: Server, action: lsp.CodeAction) -> lsp.CodeAction:
    """The changes of an action that takes seconds to find."""
    path = action.data
    if isinstance(path, str) and path in ls.session.texts.open:
        found = await ls.apart(lambda: ls.session.fix_all(path))
        if found is not None and found[0] is ls.session.texts.open.get(path):
            action.edit = _change(path, found[1])
    return action


def _path(uri: str) -> str:
    """The path of a file; empty for other addresses."""
    return (to_fs_path(uri) or "") if uri.startswith("file:") else ""


def _uri(path: str) -> str:
    return from_fs_path(path) or ""


def _plain(value: Any) -> Any:
    """Settings as pygls gives them, as plain mappings and lists."""
    if hasattr(value, "_asdict"):
        return {k: _plain(v) for k, v in value._asdict().items()}
    return value


def offset_at(source: Source, position: lsp.Position) -> int:
    """The character at a position, which counts units of UTF-16."""
    line = min(position.line, len(source.line_starts) - 1)
    text, units, n = source.line(line + 1), position.character, 0
    while n < len(text) and units > 0:
        units -= 2 if ord(text[n]) > 0xFFFF else 1
        n += 1
    return source.line_starts[line] + n


def position_of(source: Source, offset: int) -> lsp.Position:
    line, column = source.position(min(offset, len(source.text)))
    before = source.line(line)[: column - 1]
    return lsp.Position(line - 1, len(before) + sum(ord(c) > 0xFFFF for c in before))


def range_of(span: Span) -> lsp.Range:
    return lsp.Range(position_of(span.source, span.start), position_of(span.source, span.end))


def _location(span: Span) -> lsp.Location:
    return lsp.Location(_uri(span.source.name), range_of(span))


def _diagnostic(m: Message) -> lsp.Diagnostic:
    related = [lsp.DiagnosticRelatedInformation(_location(span), text) for span, text in m.related]
    href = None if m.page is None else lsp.CodeDescription(Path(m.page).as_uri())
    return lsp.Diagnostic(
        range_of(m.span), m.text, SEVERITIES[m.severity], m.code or None, href, SECTION,
        related_information=related or None,
    )  # fmt: skip


def _item(x: Item) -> lsp.CompletionItem:
    documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, x.documentation) if x.documentation else None
    return lsp.CompletionItem(
        x.label, kind=KINDS[x.kind], detail=x.detail or None, documentation=documentation,
        sort_text=f"{x.order:04}", filter_text=x.label, text_edit=lsp.TextEdit(range_of(x.span), x.text),
    )  # fmt: skip


def _symbol(x: OutlineEntry) -> lsp.DocumentSymbol:
    inside = [_symbol(y) for y in x.inside]
    return lsp.DocumentSymbol(
        x.title, SYMBOLS[x.kind], range_of(x.span), range_of(x.name), x.detail, children=inside
    )


def _edits(edits: Iterable[Edit]) -> list[lsp.TextEdit]:
    return [lsp.TextEdit(range_of(span), text) for span, text in edits]


def _change(path: str, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
    return lsp.WorkspaceEdit({_uri(path): _edits(edits)})


def _action(path: str, x: Action, shown: Iterable[lsp.Diagnostic]) -> lsp.CodeAction:
    about = [
        d for d in shown if (d.code or "") == x.about.code and d.message.startswith(x.about.headline[:200])
    ]
    return lsp.CodeAction(
        x.title, lsp.CodeActionKind.QuickFix, about or None, x.preferred or None, edit=_change(path, x.edits)
    )


def serve() -> None:
    """Serves one editor until it says `exit`, or closes the pipe. Whatever else writes to standard output
    meanwhile goes to standard error, because it would damage the messages."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server.start_io(stdin, stdout)
    server.worker.shutdown(wait=False, cancel_futures=True)

"""What an editor has open, and what is known of it. Everything that reads programs or asks the checker runs
in one thread, because sets of isl are made there; `server` sees to that.

Analyses are kept until their text, a file that they were made of, or a setting changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mdh.editor.actions import Action, actions, fix_all
from mdh.editor.analysis import Analyser, Analysis
from mdh.editor.completion import Item, complete
from mdh.editor.formatting import formatted
from mdh.editor.headers import headers_of
from mdh.editor.hover import Hover, hover, hover_program
from mdh.editor.links import definition, definition_in_program, references, renamable, renamed
from mdh.editor.messages import Message, messages_of
from mdh.editor.outline import OutlineEntry, outline, program_outline
from mdh.editor.programs import ProgramView, program_view
from mdh.editor.settings import Settings
from mdh.editor.texts import Texts, is_program, is_schedule
from mdh.edits import Edit
from mdh.source import Source, Span


@dataclass
class Session:
    texts: Texts = field(default_factory=Texts)
    settings: Settings = field(default_factory=Settings)
    roots: tuple[str, ...] = ()
    analyses: dict[str, Analysis] = field(default_factory=dict)
    views: dict[str, ProgramView | None] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    """Files whose analyses were made of something that has changed."""
    analyser: Analyser = field(init=False)

    def __post_init__(self) -> None:
        self.analyser = Analyser(self.texts, self.settings, self.roots)

    def configure(self, settings: Settings, roots: Sequence[str]) -> None:
        """Takes other settings; all is checked again."""
        self.settings, self.roots = settings, tuple(roots)
        self.analyser = Analyser(self.texts, settings, self.roots)
        self.stale |= set(self.texts.open)

    def put(self, path: str, text: str) -> tuple[str, ...]:
        """Takes a new text of an open file. Returns the open files whose messages may be others now, this one
        first."""
        self.texts.put(path, text)
        return (path, *(p for p in self.touched(path) if p != path))

    def drop(self, path: str) -> tuple[str, ...]:
        """Forgets a file that was closed. Returns the open files that this concerns."""
        self.texts.drop(path)
        self.analyses.pop(path, None)
        self.views.pop(path, None)
        return self.touched(path)

    def touched(self, path: str) -> tuple[str, ...]:
        """Notes that a file changed. Returns the open files that this concerns."""
        if is_schedule(path):
            others = [p for p, view in self.views.items() if view is not None and path in view.schedules]
        elif is_program(path):
            others = [p for p, found in self.analyses.items() if not found.files or path in found.files]
        else:
            # a file that a program includes, or a machine
            others = [*self.analyses, *self.views]
            self.analyser.programs.clear()
        # what is being read for the first time may have read the file before it changed
        others += [p for p in self.texts.open if p not in self.analyses and p not in self.views and p != path]
        self.stale.update(others)
        return tuple(p for p in dict.fromkeys(others) if p in self.texts.open)

    def analysis(self, path: str) -> Analysis:
        """Of an open schedule, up to date. For the one thread."""
        known = self.analyses.get(path)
        if known is None or known.source is not self.texts.current(path) or path in self.stale:
            # noted before it is read: what changes meanwhile makes it stale again
            self.stale.discard(path)
            known = self.analyses[path] = self.analyser.schedule(path)
        return known

    def view(self, path: str) -> ProgramView | None:
        """Of an open program, up to date; None for C that is none of mdh's. For the one thread."""
        known = self.views.get(path)
        changed = known is not None and known.source is not self.texts.current(path)
        if path not in self.views or changed or path in self.stale or known is None:
            self.stale.discard(path)
            owned = [p for p, found in self.analyses.items() if path in found.files]
            known = self.views[path] = program_view(path, self.analyser, owned)
        return known

    def messages(self, path: str) -> tuple[Message, ...]:
        """What is shown in an open text. For the one thread."""
        source = self.texts.current(path)
        if is_schedule(path):
            return messages_of(source, self.analysis(path).problems)
        view = self.view(path) if is_program(path) else None
        return () if view is None else messages_of(source, view.problems)

    def hover(self, path: str, offset: int) -> Hover | None:
        """For the one thread."""
        if is_schedule(path):
            return hover(self.analysis(path), offset)
        view = self.view(path)
        return None if view is None else hover_program(view, offset)

    def definition(self, path: str, offset: int) -> tuple[Span, ...]:
        """For the one thread."""
        if is_schedule(path):
            return definition(self.analysis(path), offset)
        view = self.view(path)
        return () if view is None else definition_in_program(view, offset, self.texts)

    def complete(self, path: str, offset: int) -> tuple[Item, ...]:
        """By what is known already, which may be of an older text: a keystroke does not wait for the
        checker."""
        source = self.texts.current(path)
        known = self.analyses.get(path) or Analysis(source, headers_of(source))
        return complete(known, source, offset) if is_schedule(path) else ()

    def outline(self, path: str) -> tuple[OutlineEntry, ...]:
        """For the one thread."""
        if is_schedule(path):
            return outline(self.texts.current(path))
        view = self.view(path)
        return () if view is None else tuple(e for p in view.programs for e in program_outline(p))

    def references(self, path: str, offset: int) -> tuple[Span, ...]:
        return references(self.texts.current(path), offset) if is_schedule(path) else ()

    def renamable(self, path: str, offset: int) -> Span | None:
        return renamable(self.texts.current(path), offset) if is_schedule(path) else None

    def renamed(self, path: str, offset: int, name: str) -> tuple[Edit, ...]:
        """Raises Failed."""
        return renamed(self.texts.current(path), offset, name)

    def formatted(self, path: str) -> tuple[Edit, ...]:
        return formatted(self.texts.current(path)) if is_schedule(path) else ()

    def actions(self, path: str, low: int, high: int) -> tuple[Action, ...]:
        """By the analysis of this text, which has been shown; none while there is none yet."""
        known = self.analyses.get(path)
        if known is None or known.source is not self.texts.open.get(path):
            return ()
        return actions(known, low, high)

    def fixable(self, path: str) -> bool:
        """Whether the last check found a warning that has a remedy."""
        known = self.analyses.get(path)
        return known is not None and any(f.remedy is not None for f in known.findings)

    def fix_all(self, path: str) -> tuple[Source, tuple[Edit, ...]]:
        """The changes of `mdh check --fix`, and the text that they are of. For the one thread."""
        found = self.analysis(path)
        return found.source, fix_all(found, self.analyser)

"""The function at bound sizes: built, and called on arguments that are looked at in each call."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from threading import Lock
from typing import Any, TypeVar

from mdh.api.arguments import Binder
from mdh.api.explained import add_notes, explained, say
from mdh.api.keys import Calls, Key
from mdh.api.passing import LEFT_OUT
from mdh.device.arrays import new_array, shape_of
from mdh.device.protocols import BoundCall, Device, Executable
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.reference.numbers import numpy_dtype

K = TypeVar("K")
V = TypeVar("V")
_RECENT = 32
"""Calls that are kept bound: those of a loop over a few sets of arrays, and of arrays made anew, since memory
that was freed is soon given out again."""


class Variant:
    """schedule: the text that was used; source: what was built of it. outputs_of: of the arguments of a call,
    one output as given; several as a tuple in the order of the parameters."""

    def __init__(self, program: Program, plan: Plan, built: Executable, device: Device) -> None:
        self.program, self.plan, self.built, self.device = program, plan, built, device
        self.binder = Binder(program, device)
        self.outputs_of: Callable[[Sequence[Any]], Any] = itemgetter(
            *(i for i, name in enumerate(program.params) if name in self.binder.written)
        )
        self._first = next(i for i, name in enumerate(program.params) if name in program.buffer_of)
        self._calls: dict[type, Calls] = {}
        self._lock = Lock()

    @property
    def schedule(self) -> str:
        return self.plan.text

    @property
    def source(self) -> str:
        return self.built.text.source

    def with_results(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with a new array for each result that the call leaves out. Raises Failed A113."""
        if not any(a is LEFT_OUT for a in args):
            return args
        example = next((a for a in args if a is not LEFT_OUT and shape_of(a) is not None), None)
        buffers = self.program.buffer_of
        return tuple(
            new_array(example, buffers[name].shape, numpy_dtype(buffers[name].dtype)) if a is LEFT_OUT else a
            for name, a in zip(self.program.params, args, strict=True)
        )

    def run(self, args: Sequence[Any]) -> Any:
        """Returns the outputs. Raises Failed A1xx before anything runs, D1xx."""
        kind = type(args[self._first])
        calls = self._calls.get(kind) or self._calls_of(kind)
        key = None if calls is None else calls.key(args)
        if calls is None or key is None:
            self._run_once(args)
            return self.outputs_of(args)
        call, stream = calls.recent.get(key) or self._new(calls, key, args), calls.stream
        if call is None:
            self._run_once(args)
        elif stream is None:
            call.launch()
        else:
            call.launch_on(stream())
        return self.outputs_of(args)

    def bound(self, args: Sequence[Any]) -> Callable[[], Any]:
        """Runs the kernels on `args` each time that it is called, and returns the outputs. Raises Failed
        A1xx."""
        bound, calls = self.binder.bind(args), self._calls_of(type(args[self._first]))
        key = None if calls is None else calls.key(args)
        if calls is None or key is None or calls.addresses(key) is None:
            return partial(self._looked_at, args)
        # not a known call, which does not keep the arrays alive
        outputs, call = self.outputs_of(args), self.built.call(bound.arrays, bound.scalars)
        launch, launch_on, stream = call.launch, call.launch_on, calls.stream

        def run() -> Any:
            try:
                if stream is None:
                    launch()
                else:
                    launch_on(stream())
            except Failed as failed:
                add_notes(failed)
                raise
            return outputs

        return run

    def _looked_at(self, args: Sequence[Any]) -> Any:
        with explained():
            return self.run(args)

    def _run_once(self, args: Sequence[Any]) -> None:
        bound = self.binder.bind(args)
        for text in bound.notes:
            say(text)
        call = self.built.call(bound.arrays, bound.scalars)
        call.launch_on(sorted(bound.streams))

    def _calls_of(self, kind: type) -> Calls | None:
        keys = self.binder.keys
        calls = None if keys is None else keys.of_type(kind)
        if calls is not None:
            self._calls[kind] = calls
        return calls

    def _new(self, calls: Calls, key: Key, args: Sequence[Any]) -> BoundCall | None:
        """The call for all arguments of a new key. It does not keep their memory alive, and is used only
        while they do. None for arguments that are to be looked at closely. Raises Failed A1xx, D104."""
        addresses = calls.addresses(key)
        if addresses is None:
            return None
        numbers = calls.numbers(key)
        model = calls.models.get(numbers)
        call = None if model is None else model.moved(addresses)
        if call is None:
            call = self.built.call(calls.memory(addresses), self.binder.scalars(args))
            with self._lock:
                _put(calls.models, numbers, call)
        with self._lock:
            _put(calls.recent, key, call)
        return call


def _put(kept: dict[K, V], key: K, value: V) -> None:
    """Adds a value in place of the oldest one, if there are many."""
    while len(kept) >= _RECENT and key not in kept:
        del kept[next(iter(kept))]
    kept[key] = value

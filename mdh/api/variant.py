"""The function at bound sizes: built, and called on arguments that are looked at in each call."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from mdh.api.arguments import Binder
from mdh.api.explained import add_notes, explained, say
from mdh.api.keys import Key, Keys
from mdh.api.passing import LEFT_OUT
from mdh.device.addresses import stream_reader
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
    """schedule: the text that was used; source: what was built of it."""

    def __init__(self, program: Program, plan: Plan, built: Executable, device: Device) -> None:
        self.program, self.plan, self.built, self.device = program, plan, built, device
        self.binder = Binder(program, device)
        self._outputs = tuple(i for i, name in enumerate(program.params) if name in self.binder.written)
        self._recent: dict[Key, BoundCall] = {}
        self._scalars: dict[tuple[Any, ...], Mapping[str, int | float]] = {}
        self._lock = Lock()

    @property
    def schedule(self) -> str:
        return self.plan.text

    @property
    def source(self) -> str:
        return self.built.text.source

    def outputs_of(self, args: Sequence[Any]) -> Any:
        """One output: the argument as given; several: a tuple in the order of the parameters."""
        if len(self._outputs) == 1:
            return args[self._outputs[0]]
        return tuple(args[i] for i in self._outputs)

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

    def run(self, args: Sequence[Any]) -> None:
        """Raises Failed A1xx before anything runs, D1xx."""
        keys = self.binder.keys
        key = None if keys is None else keys.of(args)
        if keys is None or key is None:
            self._run_once(args)
        else:
            call = self._recent.get(key)
            if call is None:
                scalars = self._scalars.get(keys.numbers(key))
                call = self._keep(keys, key, self.binder.scalars(args) if scalars is None else scalars)
            call.launch_on(key[1])

    def launched(self, arrays: Sequence[Any], numbers: tuple[Any, ...]) -> bool:
        """Runs a call whose results are memory of their own, if an earlier one had these numbers and arrays
        have a key; else returns False. arrays: in the order of the parameters. numbers: as `numbers_of` has
        them. Raises Failed D1xx."""
        keys = self.binder.keys
        key = None if keys is None else keys.of_fresh(arrays, numbers)
        if keys is None or key is None:
            return False
        call = self._recent.get(key)
        if call is None:
            scalars = self._scalars.get(numbers)
            if scalars is None:
                return False
            call = self._keep(keys, key, scalars)
        call.launch_on(key[1])
        return True

    def bound(self, args: Sequence[Any]) -> Callable[[], Any]:
        """Runs the kernels on `args` each time that it is called, and returns the outputs. Raises Failed
        A1xx."""
        bound, keys = self.binder.bind(args), self.binder.keys
        key = None if keys is None else keys.of(args)
        if key is None:
            return partial(self._looked_at, args)
        outputs = self.outputs_of(args)
        call = self.built.call(bound.arrays, bound.scalars)
        if not key[1]:
            launch = call.launch

            def run() -> Any:
                try:
                    launch()
                except Failed as failed:
                    add_notes(failed)
                    raise
                return outputs

            return run
        launch_on = call.launch_on
        stream = stream_reader(type(next(iter(bound.arrays.values())).owner), self.device.spec)

        def run_on_stream() -> Any:
            try:
                launch_on(stream())
            except Failed as failed:
                add_notes(failed)
                raise
            return outputs

        return run_on_stream

    def _looked_at(self, args: Sequence[Any]) -> Any:
        with explained():
            self.run(args)
        return self.outputs_of(args)

    def _run_once(self, args: Sequence[Any]) -> None:
        bound = self.binder.bind(args)
        for text in bound.notes:
            say(text)
        call = self.built.call(bound.arrays, bound.scalars)
        call.launch_on(sorted(bound.streams))

    def _keep(self, keys: Keys, key: Key, scalars: Mapping[str, int | float]) -> BoundCall:
        """The call for all arguments of this key. It does not keep their memory alive, and is used only while
        they do."""
        call = self.built.call(keys.arrays(key), scalars)
        with self._lock:
            _put(self._recent, key, call)
            _put(self._scalars, keys.numbers(key), scalars)
        return call


def _put(kept: dict[K, V], key: K, value: V) -> None:
    """Adds a value in place of the oldest one, if there are many."""
    while len(kept) >= _RECENT and key not in kept:
        del kept[next(iter(kept))]
    kept[key] = value

"""An operator: its kernels on the devices of calls, the types of its results, its backward programs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np

from mdh.api.compile import compile, read_texts
from mdh.api.kernel import Kernel
from mdh.api.texts import ReadOptions, ReadTexts, Text
from mdh.diagnostics import Failed, fail
from mdh.frontend.open_defines import split_defines
from mdh.gradient.derive import ENDING, Backward, backward, differentiable
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.operators.extents import Shape, symbolic_shape
from mdh.operators.form import CODE, Form, form_of
from mdh.operators.pure import demand_pure
from mdh.pipeline import Pipeline
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.printer import print_schedule

Sizes = tuple[int, ...]
Given = Text | Kernel


@dataclass(frozen=True, slots=True)
class ResultType:
    """The array that an operator returns."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class BackwardKernel:
    """A kernel of gradients. incoming: parameters that are gradients of results, by these. results: what the
    kernel writes, by the input whose gradient it is."""

    kernel: Kernel
    incoming: Mapping[str, str]
    results: Mapping[str, str]

    def run(self, values: Mapping[str, Any], grads: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        """values: inputs, results, numbers and sizes by name. grads: the gradients of results, by result.
        made: the arrays for gradients of inputs, by input."""
        named = {name: made[of] for name, of in self.results.items()}
        named |= {name: grads[of] for name, of in self.incoming.items()}
        names = self.kernel.parameters
        self.kernel(**{n: named[n] if n in named else values[n] for n in names})


class RegisteredOperator:
    """What frameworks register. A kernel serves its own device; a program is compiled for each device that
    calls need.

    options: those of `mdh.compile`, for programs. by: the backward program; None: it is derived."""

    def __init__(
        self,
        given: Given,
        mutates: Sequence[str] = (),
        by: Given | None = None,
        options: Mapping[str, Any] = {},
    ) -> None:
        self._program: Text | None = None if isinstance(given, Kernel) else given
        self._options = dict(options)
        if isinstance(given, Kernel):
            if options:
                raise TypeError(f"a kernel has its options; given: {', '.join(options)}")
            texts = given.texts
        else:
            others = {n: v for n, v in options.items() if n not in ("device", "tune", "schedule")}
            texts = read_texts(given, options.get("schedule"), ReadOptions(**others))
        self.texts, self._by = texts, by
        self._kernel = given if isinstance(given, Kernel) else None
        self._opens = tuple(texts.given.opens)
        sizes = tuple(n for n in texts.heading.parameters if n in {*texts.sizes, *self._opens})
        self.form: Form = form_of(
            texts.given.source, texts.heading, sizes, texts.given.bound, self._opens, texts.given.function,
            mutates,
        )  # fmt: skip
        self.name = self.form.name
        bound = texts.given.bound
        known = {n: v for n, v in bound.items() if n in self.form.parameters and isinstance(v, int)}
        self.fixed: dict[str, int] = {**known, **texts.heading.fixed}
        """Parameters whose values are bound: sizes by defines, and those that shapes of constants tell."""
        self._kernels: dict[str, Kernel] = {}
        self._programs: dict[Sizes, Program] = {}
        self._derived: dict[tuple[Sizes, tuple[str, ...]], Backward] = {}
        self._backward: dict[tuple[str, Sizes, tuple[str, ...]], BackwardKernel] = {}
        # derivations take kernels, and kernels programs
        self._lock = RLock()

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.form.parameters

    @cached_property
    def identity(self) -> str:
        """All that decides what the operator computes, the same in other processes."""
        own = None if self._kernel is None else self._kernel.device.spec
        return repr((_identity(self.texts), own, sorted(self._options.items(), key=str), self._by_identity))

    @property
    def _by_identity(self) -> str:
        by = self._by
        if by is None:
            return ""
        return _identity(by.texts if isinstance(by, Kernel) else read_texts(by, None, ReadOptions()))

    def kernel(self, device: str) -> Kernel:
        """The kernel for arrays on `device`, which is `cpu` or `cuda:N`."""
        if self._kernel is not None:
            return self._kernel
        with self._lock:
            if device not in self._kernels:
                options = {"device": self._device(device), **self._of_compile(device)}
                assert self._program is not None
                self._kernels[device] = compile(self._program, **options)
            return self._kernels[device]

    def _of_compile(self, device: str) -> dict[str, Any]:
        """The option `device` speaks of arrays in host memory."""
        return {n: v for n, v in self._options.items() if n != "device" or device == "cpu"}

    @staticmethod
    def _device(device: str) -> str:
        return "c" if device == "cpu" else device

    def sizes(self, shapes: Mapping[str, Sequence[Any]], given: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all sizes, which may be symbols. shapes: of the arrays among the arguments. given:
        the arguments that are sizes. Raises Failed A121 for an array of another rank."""
        out = {n: given[n] for n in self.form.given}
        for name, shape in shapes.items():
            names = self.form.extents[name]
            if any(n in self.form.sizes for n in names if n) and len(names) != len(shape):
                what = f"`{name}` has {len(names)} dimensions, the array {len(shape)}"
                raise fail(CODE, what, help="sizes are taken from its shape")
            for n, extent in zip(names, shape, strict=False):
                if n in self.form.sizes and n not in out:
                    out[n] = extent
        return out

    def symbolic(self, sizes: Mapping[str, Any]) -> list[Shape] | None:
        """The shapes of the results where sizes may be symbols; None if the text does not say them so."""
        known = {**self.fixed, **sizes}
        found = [symbolic_shape(self.form, n, known) for n in self.form.results]
        return None if None in found else [s for s in found if s is not None]

    def types(self, sizes: Mapping[str, int]) -> tuple[ResultType, ...]:
        """Of the results, at these sizes. Raises Failed A121, and what reading the program finds."""
        arrays = self.program(sizes).buffer_of
        return tuple(ResultType(arrays[n].shape, numpy_dtype(arrays[n].dtype)) for n in self.form.results)

    def program(self, sizes: Mapping[str, int]) -> Program:
        """The program at these sizes, whose results depend on its inputs alone. Raises Failed A121."""
        key = tuple(sizes[n] for n in self.form.sizes)
        with self._lock:
            if key not in self._programs:
                given = self.texts.given
                closed = replace(given, defines={**given.defines, **sizes}, ranges=())
                program = closed.read(Pipeline())
                demand_pure(program, self.form)
                self._programs[key] = program
            return self._programs[key]

    def differentiable(self, sizes: Mapping[str, int]) -> tuple[str, ...]:
        return differentiable(self.program(sizes))

    def derived(self, sizes: Mapping[str, int], wanted: Sequence[str]) -> Backward:
        """The derived backward program; with open sizes it has these, too. Raises Failed A120."""
        free = {n: sizes[n] for n in self.form.sizes if n not in self._opens}
        key = tuple(free.values()), tuple(wanted)
        with self._lock:
            if key not in self._derived:
                given = self.texts.given
                opened = replace(given, defines={**given.defines, **free})
                program = opened.read(Pipeline()) if self._opens else self.program(sizes)
                self._derived[key] = backward(program, wanted)
            return self._derived[key]

    def backward(self, device: str, sizes: Mapping[str, int], wanted: Sequence[str]) -> BackwardKernel:
        """The kernel of the gradients of `wanted` for arrays on `device`. Raises Failed A120, A122."""
        key = device, tuple(sizes[n] for n in self.form.sizes), tuple(wanted)
        with self._lock:
            if key not in self._backward:
                made = self._given_backward if self._by is not None else self._derived_backward
                self._backward[key] = made(device, sizes, wanted)
            return self._backward[key]

    def _derived_backward(
        self, device: str, sizes: Mapping[str, int], wanted: Sequence[str]
    ) -> BackwardKernel:
        given = self.texts.given
        found = self.derived(sizes, wanted)
        kernel = self._compiled(found, device, self._ranges())
        if kernel is None:
            # this program cannot stay open, so there is one for each size
            found = backward(self.program(sizes), wanted)
            kernel = compile(
                found.source, device=self._backward_device(device), strict_fp=given.strict_fp,
                deterministic=given.deterministic, allow=given.allow,
            )  # fmt: skip
        return BackwardKernel(kernel, found.incoming, found.results)

    def _ranges(self) -> dict[str, OpenSize]:
        given = self.texts.given
        opened = split_defines(given.source, given.defines)[1]
        return {s.name: s for s in (*opened, *given.ranges)}

    def _compiled(self, found: Backward, device: str, ranges: Mapping[str, OpenSize]) -> Kernel | None:
        """None where the sizes of the backward program cannot stay open."""
        given = self.texts.given
        compiling: Callable[[], Kernel] = lambda: compile(  # noqa: E731
            found.source, device=self._backward_device(device), defines={n: ranges[n] for n in found.sizes},
            strict_fp=given.strict_fp, deterministic=given.deterministic, allow=given.allow,
        )  # fmt: skip
        if not found.sizes:
            return compiling()
        try:
            return compiling()
        except Failed as failed:
            if any(d.code not in ("C125", "C126", "K117", "K118") for d in failed.diagnostics):
                raise
            return None

    def _given_backward(self, device: str, sizes: Mapping[str, int], wanted: Sequence[str]) -> BackwardKernel:
        by = self._by
        assert by is not None
        kernel = by if isinstance(by, Kernel) else compile(by, device=self._backward_device(device))
        form, names = self.form, set(kernel.parameters)
        incoming = {f"{n}{ENDING}": n for n in form.results if f"{n}{ENDING}" in names}
        results = {f"{n}{ENDING}": n for n in form.inputs if f"{n}{ENDING}" in names}
        known = {*form.parameters, *incoming, *results}
        both = next((n for n in (*incoming, *results) if n in form.parameters), None)
        if both is not None:
            raise fail("A122", f"`{both}` is a parameter of `{self.name}`, and a gradient", help="rename it")
        other = next((n for n in kernel.parameters if n not in known), None)
        if other is not None:
            what = f"the backward program `{kernel.name}` takes `{other}`, which `{self.name}` does not know"
            hint = f"its parameters are those of `{self.name}`, and gradients: " + ", ".join(
                f"{n}{ENDING}" for n in (*form.results, *form.inputs)
            )
            raise fail("A122", what, help=hint)
        missing = next((n for n in wanted if n not in results.values()), None)
        if missing is not None:
            what = f"the backward program `{kernel.name}` computes no gradient of `{missing}`"
            raise fail("A122", what, help=f"add a parameter {missing}{ENDING}, or detach `{missing}`")
        return BackwardKernel(kernel, incoming, results)

    def _backward_device(self, device: str) -> str | Any:
        if self._kernel is not None:
            return self._kernel.device
        return self._of_compile(device).get("device", self._device(device))


def _identity(texts: ReadTexts) -> str:
    given = texts.given
    schedule = None if given.schedule is None else print_schedule(given.schedule)
    return repr(
        (
            given.source.name, given.source.text, schedule, sorted(given.defines.items(), key=str),
            given.function, given.strict_fp, given.deterministic, given.allow,
        )
    )  # fmt: skip

"""The sums of products and a few more by TVM, with schedules that its MetaSchedule searched.

A search takes a minute or more, so what it found is kept: records of this repository in
artifacts/tvm_records.json, made on two Zen 4 cores by 16 to 64 candidates each, and those of later searches
in a file of that name in $MDH_BENCH_CACHE (or the system's folder for caches). A case without a record is
searched with $MDH_BENCH_TVM_TRIALS candidates; 0, as it is where nothing is set: it is left out. Searches
need more packages, and nothing ends a candidate that the compiler never finishes:

    pip install xgboost-cpu psutil tornado cloudpickle

Tried with apache-tvm 0.27.0.post1 and apache-tvm-ffi 0.1.14.post1; with 0.1.15 searches die.
"""

import json
import logging
import os
import tempfile
from collections.abc import Callable
from importlib import import_module
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.cases import ROOT
from bench.cpu.data import Arrays
from bench.cpu.kept import cache_folder, key_of
from bench.cpu.sums import Subscript, Sum, sum_of

# else it would build a bridge to torch, where that is installed
os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")
tvm: Any = import_module("tvm")
te: Any = tvm.te
ms: Any = import_module("tvm.s_tir.meta_schedule")
_derived: Any = import_module("tvm.ir.utils").derived_object

Call = Callable[[], Any]
RECORDS = ROOT / "artifacts" / "tvm_records.json"
TRIALS = int(os.environ.get("MDH_BENCH_TVM_TRIALS", "0"))
_BATCH, _POPULATION = 16, 128
_HOPELESS = 3.0
"""Times the best: a candidate as slow as that is called once only."""


def version() -> str:
    if TRIALS:
        for package in ("xgboost", "psutil", "tornado", "cloudpickle"):
            import_module(package)
    return f"TVM {tvm.__version__}, MetaSchedule"


def prepare(program: str, arrays: Arrays, threads: int) -> Call | None:
    """Arguments are copies, for TVM wants them at multiples of 64 bytes; `finish` brings the result back."""
    module = workload(program, arrays)
    if module is None:
        return None
    logging.getLogger("tvm").setLevel(logging.WARNING)
    aim = target(threads)
    key = key_of(program, arrays)
    schedule = _known(key, module)
    if schedule is None and TRIALS > 0:
        tune(key, module, aim, arrays, TRIALS, cache_folder() / RECORDS.name)
        schedule = _known(key, module)
    if schedule is None:
        return None
    built = tvm.compile(schedule.mod, aim)
    function = built["main"]
    bound = [tvm.runtime.tensor(array) for array in arrays.values()]

    def call() -> None:
        function(*bound)

    def finish() -> None:
        for array, tensor in zip(arrays.values(), bound, strict=True):
            array[...] = tensor.numpy()

    call.__dict__["finish"] = finish
    return call


def target(threads: int) -> Any:
    processor = tvm.target.codegen.llvm_get_system_cpu()
    return tvm.target.Target({"kind": "llvm", "mcpu": processor, "num-cores": threads})


def workload(program: str, a: Arrays) -> Any | None:
    """The program as a module of one function whose parameters are in the arrays' order."""
    inputs = {n: te.placeholder(v.shape, str(v.dtype), n) for n, v in a.items()}
    described = sum_of(program, a)
    if described is not None:
        name, out = described.out, _summed(described, inputs)
    elif program in _OTHERS:
        name, make = _OTHERS[program]
        out = make(inputs)
    else:
        return None
    inputs[name] = out
    return tvm.IRModule({"main": te.create_prim_func(list(inputs.values()))})


def _summed(s: Sum, inputs: dict[str, Any]) -> Any:
    axes = {x: te.reduce_axis((0, s.extents[x]), x) for x in s.summed}
    left, right = s.factors

    def term(*places: Any) -> Any:
        at = {**dict(zip(s.kept, places, strict=True)), **axes}
        first, second = (inputs[f.array][tuple(_place(x, at) for x in f.subscripts)] for f in (left, right))
        return te.sum(first * second, axis=list(axes.values()))

    # a letter that only the result has is a dimension of one element
    shape = inputs[s.out].shape
    out = te.compute(shape, term, s.out if s.bias is None else "product")
    if s.bias is None:
        return out
    bias = inputs[s.bias]

    def end(*places: Any) -> Any:
        return te.max(out[places] + bias[places[-1]], te.const(0, out.dtype))

    return te.compute(shape, end, s.out)


def _place(terms: Subscript, at: dict[str, Any]) -> Any:
    out: Any = None
    for factor, letter in terms:
        part = at[letter] if factor == 1 else at[letter] * factor
        out = part if out is None else out + part
    return out


def _jacobi(inputs: dict[str, Any]) -> Any:
    x = inputs["A"]

    def mean(i: Any, j: Any, k: Any) -> Any:
        near = x[i + 1, j + 1, k + 1] + x[i, j + 1, k + 1] + x[i + 2, j + 1, k + 1] + x[i + 1, j, k + 1]
        return (near + x[i + 1, j + 2, k + 1] + x[i + 1, j + 1, k] + x[i + 1, j + 1, k + 2]) * te.const(
            1 / 7, x.dtype
        )

    return te.compute(inputs["B"].shape, mean, "B")


def _row_max(inputs: dict[str, Any]) -> Any:
    x = inputs["A"]
    j = te.reduce_axis((0, x.shape[1]), "j")
    return te.compute(inputs["best"].shape, lambda i: te.max(x[i, j], axis=j), "best")


_OTHERS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "jacobi3d": ("B", _jacobi),
    "row_max": ("best", _row_max),
}


def _records(path: Path) -> dict[str, Any]:
    """Of each key the record of its best candidate, as MetaSchedule writes it."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _known(key: str, module: Any) -> Any | None:
    """The best schedule of the records, those of this machine before those of the repository."""
    for path in (cache_folder() / RECORDS.name, RECORDS):
        record = _records(path).get(key)
        if record is not None:
            schedule = tvm.s_tir.Schedule(module)
            try:
                found = ms.database.TuningRecord.from_json(record, ms.database.Workload(module))
                found.trace.apply_to_schedule(schedule, remove_postproc=False)
            except Exception:
                # steps of another version of TVM
                continue
            return schedule
    return None


def tune(key: str, module: Any, aim: Any, arrays: Arrays, trials: int, path: Path) -> None:
    """Search and keep the best candidate's record in `path`. In this process and one thread but for the
    candidates' own, so that nothing is spent on starting processes."""
    bench = _Bench(arrays)
    strategy = ms.search_strategy.EvolutionarySearch(
        population_size=_POPULATION, init_min_unmeasured=_POPULATION // 2, genetic_num_iters=3
    )
    # the callbacks that come by themselves would also delete the folder of what was built
    callbacks = [ms.measure_callback.AddToDatabase(), ms.measure_callback.UpdateCostModel()]
    with tempfile.TemporaryDirectory() as folder:
        found = ms.tune_tir(
            module, aim, folder, trials, num_trials_per_iter=min(trials, _BATCH), seed=1, strategy=strategy,
            num_tuning_cores=1, builder=bench.builder(), runner=bench.runner(), database="memory",
            measure_callbacks=callbacks,
        )  # fmt: skip
        pair = [str(Path(folder) / name) for name in ("workloads.json", "best.json")]
        found.dump_pruned(ms.database.JSONDatabase(*pair))
        lines = Path(pair[1]).read_text(encoding="utf-8").splitlines()
    if lines:
        _, record = json.loads(lines[0])
        kept = {**_records(path), key: record}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(kept.items()))
        path.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


class _Bench:
    """Builds candidates and times them, here and now."""

    def __init__(self, arrays: Arrays) -> None:
        self.tensors = [tvm.runtime.tensor(array) for array in arrays.values()]
        self.built: dict[str, Any] = {}
        self.best = inf

    def build(self, inputs: Any) -> list[Any]:
        out = []
        self.built.clear()
        for given in inputs:
            name = str(len(self.built))
            try:
                self.built[name] = tvm.compile(given.mod, given.target)["main"]
                out.append(ms.builder.BuilderResult(name, None))
            except Exception as error:
                # a candidate that TVM cannot build is one that lost
                out.append(ms.builder.BuilderResult(None, str(error)))
        return out

    def time(self, name: str) -> float:
        """Seconds: the shortest of some calls."""
        function, least, end = self.built[name], inf, perf_counter() + 0.1
        for number in range(50):
            start = perf_counter()
            function(*self.tensors)
            now = perf_counter()
            least = min(least, now - start)
            if least > _HOPELESS * self.best or (number >= 3 and now > end):
                break
        self.best = min(self.best, least)
        return least

    def builder(self) -> Any:
        build = self.build

        class Builder(ms.builder.PyBuilder):  # type: ignore[misc]
            def build(self, build_inputs: Any) -> list[Any]:
                return build(build_inputs)

        return _derived(Builder)()

    def runner(self) -> Any:
        time = self.time

        class Future(ms.runner.PyRunnerFuture):  # type: ignore[misc]
            def __init__(self, seconds: float) -> None:
                super().__init__()
                self.seconds = seconds

            def done(self) -> bool:
                return True

            def result(self) -> Any:
                return ms.runner.RunnerResult([self.seconds], None)

        future = _derived(Future)

        class Runner(ms.runner.PyRunner):  # type: ignore[misc]
            def run(self, runner_inputs: Any) -> list[Any]:
                return [future(time(str(given.artifact_path))) for given in runner_inputs]

        return _derived(Runner)()

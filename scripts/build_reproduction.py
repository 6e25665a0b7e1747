"""Writes the site's page of the last results of experiments of papers."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mdh.report.reproduction_page import site_page
from mdh.reproduce.stored import read_results
from mdh.reproduce.table import EXPERIMENTS, LEFT_OUT
from mdh.results.reproduction import CaseTime, PeerTime, PeerTotal, Reproduction

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "mdh" / "docs" / "reproduction.md"
STORED = ROOT / "artifacts" / "reproduce"
_TIME = re.compile(r"~?([\d.]+) \(([\d.]+) ([µm])s\)")
"""`1.98 (2.52 µs)`: a ratio, and the peer's time."""
_RATIO = re.compile(r"~?([\d.]+)(?: |$)")
_UNITS = {"µ": 1e-6, "m": 1e-3}
_COMMAND = re.compile(r"(?:[Ww]ritten by\s+)`(scripts/[^`]+)`")
_MACHINE = re.compile(r"^- machine: (.+)$", re.MULTILINE)
CROWDED = 1.0
"""Processes for each processor from which on a result says more of the others than of mdh: it is left out."""
_OWN = "torch", "torch, other form"
"""The peers of the pages that `mdh reproduce` knows, too."""
Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]


@dataclass(frozen=True)
class Measured:
    """A page of measurements: its path, and by experiment the rows that are cases of it."""

    path: str
    cases: Mapping[str, Mapping[str, str]]


_PLAIN = {
    "toplas-linear-algebra": {
        "dot 2^24": "dot 2^24", "matvec 8192": "matvec 8192", "matmul 10x500x64": "matmul 10x500x64",
        "matmul 1024x1024x1024": "matmul 1024x1024x1024",
    },
    "toplas-stencils": {"jacobi3d 512": "jacobi3d 512", "filter 5x5 4096": "filter 5x5 4096"},
    "toplas-ccsdt": {f"ccsdt {n}": f"contraction {n}" for n in range(1, 9)},
    "toplas-prl": {"prl 2^17": "2^17 records"},
    "toplas-networks": {
        "matmul 16x1000x2048": "matmul 16x1000x2048", "matmul 1x1000x2048": "matmul 1x1000x2048",
        "conv first layer batch 16": "ResNet-50, first convolution, batch 16",
        "conv first layer batch 1": "ResNet-50, first convolution, batch 1",
    },
    "tiramisu-gemm": {"gemm alpha beta 3072": "gemm 3072"},
}  # fmt: skip
_CPU_PEERS = ("numpy", "torch", "oneMKL", "gcc", "Halide", "TVM")
_CPU = {
    "hipar-cpu": {
        "matmul 1x1000x2048": "matmul 1x1000x2048",
        "conv first layer": "ResNet-50, first convolution, batch 1",
    },
    "toplas-linear-algebra": {
        "dot 2^24": "dot 2^24", "matvec 4096": "matvec 4096", "matvec 8192": "matvec 8192",
        "matmul 10x500x64": "matmul 10x500x64", "matmul 1024": "matmul 1024x1024x1024",
        "batched 16x10x500x64": "batched 16x10x500x64",
    },
    "toplas-stencils": {
        "jacobi3d 256": "jacobi3d 256", "jacobi3d 512": "jacobi3d 512", "filter 5x5 4096": "filter 5x5 4096",
    },
    "toplas-ccsdt": {f"ccsdt {n}": f"contraction {n}" for n in range(1, 9)},
    "toplas-prl": {"prl 2^15": "2^15 records"},
    "toplas-networks": {
        "matmul 16x1000x2048": "matmul 16x1000x2048", "matmul 1x1000x2048": "matmul 1x1000x2048",
        "conv first layer": "ResNet-50, first convolution, batch 1",
    },
}  # fmt: skip
_SPARSE = {"giles-sparse": {"giles 2^20": "N = 2^20, D = 25, a quarter not zero"}}
_DIESEL = {"SGEMM": "diesel-sgemm", "DGEMM": "diesel-dgemm", "GEMM + bias + ReLU": "diesel-layer"}
_AGAINST = {"cuBLAS": "torch", "calls apart": "apart", "a fused call": "fused"}
"""What the page compares with, and the peer's name in the experiment: cuBLAS is called by torch."""
_BENCHED = (
    Measured("artifacts/h200/bench.md", _PLAIN),
    Measured("artifacts/h200/mlp3.md", {"tc-table": {"MLP3 128": "MLP3 128-64-32-2"}}),
    Measured("artifacts/h200/constants.md", _SPARSE),
    Measured("artifacts/h100/constants.md", _SPARSE),
)


def tables(text: str) -> Iterator[Table]:
    """The tables of a page: the title above, the heads of the columns, the rows."""
    title, head = "", tuple[str, ...]()
    rows: list[tuple[str, ...]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("## "):
            title = line.removeprefix("## ")
        if line.startswith("|"):
            cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
            if not head:
                head = cells
            elif not set(line) <= set("|-:"):
                rows.append(cells)
        elif head:
            yield title, head, rows
            head, rows = (), []


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _result(
    experiment: str, path: str, cases: Sequence[CaseTime], title: str = "", kind: str = "gpu"
) -> Reproduction:
    """What a page of measurements says of an experiment."""
    text = _text(path)
    machine = title or _MACHINE.findall(text)[0]
    command = _COMMAND.findall(text)
    versions = re.findall(r"^- ((?:torch|cuBLASLt|numpy|mkl|tvm): .+)$", text, re.MULTILINE)
    ran = command[0] if command else "scripts/listing1 cuda:0"
    # on the page of the CPU each version begins with the library's name
    named = tuple(v.partition(": ")[2] if kind == "cpu" else v.replace(": ", " ") for v in versions)
    return Reproduction(experiment, "", machine, kind, ran, "", tuple(cases), named, page=path)


def _peers(names: Mapping[str, str], warm: Sequence[str], cold: Sequence[str] | None) -> tuple[PeerTime, ...]:
    """names: column -> the peer's name, in the order of the cells."""
    out = []
    for n, name in enumerate(names.values()):
        found, other = _TIME.match(warm[n]), None if cold is None else _RATIO.match(cold[n])
        if found is not None:
            ratio = None if other is None else float(other[1])
            out.append(PeerTime(name, float(found[2]) * _UNITS[found[3]], float(found[1]), ratio))
    return tuple(out)


def tc_result(path: str) -> Reproduction:
    """Of the page of Tensor Comprehensions' kernels."""
    found = {title: {r[0]: r for r in rows} for title, head, rows in tables(_text(path)) if "kernel" in head}
    heads = next(head for title, head, _ in tables(_text(path)) if title == "Warm")
    names = {t: t for t in _OWN}
    at = [heads.index(t) for t in _OWN]
    cases = []
    for name, row in found["Warm"].items():
        cold = found["Cold"][name]
        peers = _peers(names, [row[i] for i in at], [cold[i] for i in at])
        seconds = float(row[heads.index("here: ours µs")]) * 1e-6
        cases.append(CaseTime(name, seconds, row[-1].strip("()"), peers=peers))
    return _result("tc-table", path, cases)


def diesel_results(path: str) -> Iterator[Reproduction]:
    """Of the page of Diesel's products, one each of its figures."""
    for title, head, rows in tables(_text(path)):
        if title not in _DIESEL:
            continue
        peers = [h.partition(",")[0] for h in head[2:] if h.endswith(", warm")]
        names = {p: "torch" if p == "cuBLAS" else p for p in peers}
        cases = []
        for row in rows:
            warm, cold = row[2 : 2 + len(peers)], row[2 + len(peers) :]
            seconds = float(row[1]) * 1e-6
            cases.append(CaseTime(row[0], seconds, "default", seconds, peers=_peers(names, warm, cold)))
        found = _result(_DIESEL[title], path, cases)
        yield replace(found, totals=tuple(_totals(path, title)))


def _totals(path: str, figure: str) -> Iterator[PeerTotal]:
    """The totals that the page itself prints for a figure. They cannot be counted again from its rows: a
    ratio that is printed as `1.00` may lie on either side of 1."""
    rows = next(rows for title, _, rows in tables(_text(path)) if title == "The paper's figures and here")
    for name, _, _, warm, cold in rows:
        subject, _, what = name.partition(": ")
        if subject.startswith(f"{figure} against "):
            peer = _AGAINST[subject.removeprefix(f"{figure} against ")]
            yield PeerTotal(peer, what.removesuffix(", of 100"), warm, cold)


def bench_results(page: Measured) -> Iterator[Reproduction]:
    """Of the page of fixed cases, one each of the experiments that have some of them."""
    found = {title: (head, {_plain(r[0]): r for r in rows}) for title, head, rows in tables(_text(page.path))}
    ours = found["Ours and the best peer"][1]
    head, warm = found["Each peer, warm"]
    cold = found["Each peer, cold"][1]
    names = {h: h for h in head[1:]}
    for experiment, cases in page.cases.items():
        times = []
        for row, case in cases.items():
            peers = _peers(names, warm[row][1:], cold[row][1:] if row in cold else None)
            seconds = float(ours[row][1]) * 1e-6
            times.append(CaseTime(case, seconds, ours[row][-1] or "default", peers=peers))
        yield _result(experiment, page.path, times)


def cpu_results(path: str) -> Iterator[Reproduction]:
    """Of the page of the CPU, whose ratios are those of turns and whose times are the shortest ones."""
    found = {title: (head, {r[0]: r for r in rows}) for title, head, rows in tables(_text(path))}
    head, warm = found["Warm caches"]
    cold = found["Cold caches"][1]
    peers = [n for n, h in enumerate(head) if h in _CPU_PEERS]
    first = peers[0]
    for experiment, cases in _CPU.items():
        times = []
        for row, case in cases.items():
            names = {head[n]: head[n] for n in peers}
            other = cold[row][2:] if row in cold else None
            seconds = float(warm[row][2]) * 1e-3
            times.append(CaseTime(case, seconds, "shipped", peers=_peers(names, warm[row][first:], other)))
        yield _result(experiment, path, times, "AMD EPYC, 2 cores", "cpu")


def _plain(name: str) -> str:
    return name.removesuffix(" (default)").rstrip("¹")


def listing_result(path: str) -> Reproduction:
    """Of the page of the tuned listing, whose schedule names the GPU."""
    rows = {r[0]: r for _, _, some in tables(_text(path)) for r in some}
    seconds = {name: float(row[1]) * 1e-6 for name, row in rows.items()}
    own = seconds["listing 1 opened and tuned"]
    others = {"published/hipar22_listing1": "listing 1 as written", "cublas": "cuBLAS"}
    peers = tuple(PeerTime(n, seconds[row], seconds[row] / own) for n, row in others.items())
    case = next(e for e in EXPERIMENTS if e.name == "hipar-listing1").cases[0]
    time = CaseTime(case.name, own, "matmul_init/listing1_open", seconds["mdh default"], peers=peers)
    return _result("hipar-listing1", path, [time], "NVIDIA H200")


def results() -> list[Reproduction]:
    """Of the pages, then the stored ones."""
    found = [tc_result(f"artifacts/{gpu}/tc.md") for gpu in ("h200", "h100")]
    found += [r for gpu in ("h200", "h100") for r in diesel_results(f"artifacts/{gpu}/diesel.md")]
    found = joined([*found, *(r for page in _BENCHED for r in bench_results(page))])
    found += [listing_result("artifacts/listing1_cuda.md")]
    found += cpu_results("artifacts/cpu.md")
    return chosen([*found, *read_results(sorted(STORED.glob("*.json")))])


def joined(found: Sequence[Reproduction]) -> list[Reproduction]:
    """One result of an experiment on a machine, where several pages have cases of it."""
    out: dict[tuple[str, str], Reproduction] = {}
    for one in found:
        first = out.setdefault((one.experiment, one.title), one)
        if first is not one:
            out[one.experiment, one.title] = replace(
                first, cases=(*first.cases, *one.cases), page=f"{first.page} {one.page}",
                command=f"{first.command}` and `{one.command}",
            )  # fmt: skip
    return list(out.values())


def chosen(found: Sequence[Reproduction]) -> list[Reproduction]:
    """Of an experiment on a machine the result with the most cases, of equal ones the last. Of a crowded CPU
    none."""
    calm = [r for r in found if r.kind == "gpu" or (r.load or 0.0) <= CROWDED]
    best = {(r.experiment, r.title): r for r in sorted(calm, key=lambda r: len(r.measured))}
    return [best[key] for key in dict.fromkeys((r.experiment, r.title) for r in calm)]


def page() -> str:
    return site_page(EXPERIMENTS, LEFT_OUT, results())


def main(write: Callable[[str], object] = sys.stdout.write) -> None:
    argparse.ArgumentParser(prog="reproduction", description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
    write(f"wrote {PAGE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()

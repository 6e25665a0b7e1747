"""The estimates by which default schedules of contractions on GPUs are chosen, measured and fitted.

scripts/fit-default measure OUT.jsonl --minutes 9             tiles of random products, on an NVIDIA GPU
scripts/fit-default fit artifacts/h200/default_fit*.jsonl.gz  constants for mdh/cost/gpu.py, and tiles
scripts/fit-default measure-windows OUT.jsonl --minutes 2     plans of convolutions, on an NVIDIA GPU
scripts/fit-default fit-windows artifacts/h200/window_fit.jsonl.gz   constants for mdh/cost/gpu.py
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from experiments.fit_default.files import WrongFileError
from mdh.diagnostics import Failed

_GPU = "numpy, torch and cupy"
VERBS = {"measure": _GPU, "fit": "scipy", "measure-windows": _GPU, "fit-windows": "mdh alone"}
"""And what each needs, which others do not."""


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/fit-default", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=list(VERBS))
    verb = parser.parse_args(argv[:1]).verb
    try:
        module = import_module(f"experiments.fit_default.{verb.replace('-', '_')}")
    except ImportError as error:
        sys.stderr.write(f"scripts/fit-default {verb} needs {VERBS[verb]}: {error}\n")
        return 1
    inner = argparse.ArgumentParser(prog=f"scripts/fit-default {verb}", description=module.__doc__)
    module.add_arguments(inner)
    try:
        return int(module.main(inner.parse_args(argv[1:])))
    except WrongFileError as error:
        sys.stderr.write(f"{error}\n")
    except Failed as failed:
        sys.stderr.write(f"{failed.diagnostics[0].code} {failed.diagnostics[0].headline}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

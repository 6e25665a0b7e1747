"""Runs the self-test in a separate process: `python -m mdh.device.self_test_child SPEC` prints JSON.

A compiler with a bug may end its process, or never return.
"""

import json
import subprocess
import sys

from mdh.children import module_command, module_environment
from mdh.device.api import open_device
from mdh.device.faults import faults_from, faults_json
from mdh.device.self_test import Passed, self_test
from mdh.diagnostics import Diagnostic, Failed
from mdh.target.faults import CompilerFaults, Fault

SECONDS = 300.0


def examined(spec: str) -> Passed:
    """The result of a self-test of the device; CRASH if it does not end. Raises Failed D105 if the device
    refuses a test."""
    command = module_command("mdh.device.self_test_child", spec)
    try:
        done = subprocess.run(
            command, env=module_environment(), capture_output=True, text=True, timeout=SECONDS, check=False
        )
        said = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        said = None
    if said is None:
        return Passed(CompilerFaults(frozenset({Fault.CRASH})))
    if "refused" in said:
        raise Failed(Diagnostic("D105", said["refused"]))
    return Passed(faults_from(said["faults"]), tuple(said["functions"]))


def _main(spec: str) -> None:
    try:
        passed = self_test(open_device(spec))
    except Failed as failed:
        told: dict[str, object] = {"refused": failed.diagnostics[0].headline}
    else:
        told = {"faults": faults_json(passed.faults), "functions": passed.functions}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    _main(sys.argv[1])

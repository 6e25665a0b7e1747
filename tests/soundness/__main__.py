"""`python -m tests.soundness`: see tests/soundness/campaign.py."""

import argparse
import sys

from tests.soundness import campaign


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/soundness", description=campaign.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--expressions", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="none", help="none, c, opencl:0, oclgrind, cuda:0")
    parser.add_argument("--machine", help="a machine file's name, where it is not the device's own")
    parser.add_argument("--schedules", action="store_true", help="random schedules, not the default ones")
    parser.add_argument("--gcc", type=int, default=0, help="so many programs are compared with C compilers too")
    parser.add_argument("--jobs", type=int, default=2, help="processes; 0: all in this one")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no batch after that time")
    parser.add_argument("--out", default="soundness", help="the folder of the parts")
    parser.add_argument("--shrink", type=int, default=20, help="most failures that are made smaller")
    parser.add_argument("--no-shrink", action="store_true")
    given = parser.parse_args(argv)
    status = 0
    if given.programs:
        status |= campaign.main_programs(given)
    if given.expressions:
        status |= campaign.main_expressions(given)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

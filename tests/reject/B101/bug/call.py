from mdh.cli.command_line import CommandLine
from mdh.cli.crash import save_crash

raise save_crash(CommandLine.of(["check", "input.c"]), RuntimeError("a stage broke"))

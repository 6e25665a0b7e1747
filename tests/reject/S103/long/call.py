"""A schedule of more characters than the limit, given as text."""

from mdh.schedule.parser import parse_schedule
from mdh.source import Source

parse_schedule(Source("schedule.mdh", "// padding\n" * 15000))

"""A schedule of more characters than the limit."""

from pathlib import Path

Path("schedule.mdh").write_text("// padding\n" * 15000, encoding="utf-8")

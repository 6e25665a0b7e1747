from pathlib import Path

Path("big.mdh").write_text("// line\n" * 130_000)

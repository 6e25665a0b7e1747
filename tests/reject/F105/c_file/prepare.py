from pathlib import Path

Path("input.c").write_text("int x;\n" * 1_500_000)

"""`python -m mdh` is `mdh`."""

from mdh.cli.main import main

main()

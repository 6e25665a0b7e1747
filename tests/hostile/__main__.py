"""`python -m tests.hostile`: see `tests.hostile.campaign`, which worker processes can import."""

import sys

from tests.hostile.campaign import main

sys.exit(main(sys.argv[1:]))

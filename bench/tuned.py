"""`scripts/bench tuned`: see `bench.gpu.tuned`."""

import sys

from bench.gpu.tuned import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

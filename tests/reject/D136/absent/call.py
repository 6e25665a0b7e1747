from unittest.mock import patch

from mdh.device import openblas

openblas._found.cache_clear()
try:
    with patch.object(openblas, "_NAMES", ()), patch.object(openblas, "_PACKAGES", ()):
        openblas.find_openblas()
finally:
    openblas._found.cache_clear()

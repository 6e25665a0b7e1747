from mdh.device import openblas

openblas._found.cache_clear()
openblas.find_library, kept = (lambda name: None), openblas.find_library
openblas._PACKAGES, packages = (), openblas._PACKAGES
try:
    openblas.find_openblas()
finally:
    openblas.find_library, openblas._PACKAGES = kept, packages
    openblas._found.cache_clear()

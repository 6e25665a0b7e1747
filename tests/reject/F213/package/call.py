import sys
from unittest.mock import patch

from mdh.cli.lsp import demand_packages

with patch.dict(sys.modules, {"pygls": None}):
    demand_packages()

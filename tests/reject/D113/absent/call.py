import os

from mdh.device.api import open_device

kept = os.environ.get("CC")
os.environ["CC"] = "/nonexistent/cc -m32"
try:
    open_device("c")
finally:
    if kept is None:
        del os.environ["CC"]
    else:
        os.environ["CC"] = kept

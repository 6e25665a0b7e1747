"""Takes the port. Where another program has it already, that does as well."""

import socket
from contextlib import suppress

other = socket.socket()
with suppress(OSError):
    other.bind(("127.0.0.1", 47219))
    other.listen()
# it stays open as long as this process
other.detach()

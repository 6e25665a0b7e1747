"""`mdh docs`: serves the site of the documentation to browsers on this machine."""

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any

import typer

from mdh.cli.command_line import CommandLine
from mdh.cli.console import log, show
from mdh.cli.exit_codes import OK

app = typer.Typer(rich_markup_mode=None, add_completion=False)
PACKAGE = Path(__file__).resolve().parent.parent
SITE = PACKAGE / "site"
"""What `scripts/site` builds."""
LOOPBACK = "127.0.0.1"
"""Other machines cannot read the site."""
PortOpt = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="0, the default, is any that is free.")
]
OpenOpt = Annotated[bool, typer.Option("--open", help="Open the site in a browser.")]
FolderOpt = Annotated[
    bool, typer.Option("--folder", help="Print the folder of the pages as Markdown; serve nothing.")
]


class _Handler(SimpleHTTPRequestHandler):
    """Serves files without a line in the terminal for each of them."""

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def site_server(port: int, folder: Path = SITE) -> ThreadingHTTPServer:
    """A server of the files in `folder` for this machine alone. Raises OSError if the port is taken."""
    return ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, directory=str(folder)))


@app.command()
def docs(ctx: typer.Context, port: PortOpt = 0, open: OpenOpt = False, folder: FolderOpt = False) -> None:
    """Serve the documentation to browsers on this machine, until Ctrl-C."""
    line: CommandLine = ctx.obj
    pages = PACKAGE / "docs"
    if folder:
        show(f"{pages}\n")
        raise typer.Exit(OK)
    if not (SITE / "index.html").is_file():
        advice = f"./scripts/site and `pip install .` in mdh's folder; the pages as Markdown: {pages}"
        raise line.fail("F101", "this installation holds no site", "docs", help=advice)
    try:
        server = site_server(port)
    except OSError as error:
        said = f"port {port} cannot be used: {error.strerror}"
        raise line.fail("F107", said, str(port), help="leave --port out, or name another one") from None
    with server:
        address = f"http://{LOOPBACK}:{server.server_port}/"
        log(f"{address} serves the documentation until Ctrl-C")
        if open:
            webbrowser.open(address)
        server.serve_forever()

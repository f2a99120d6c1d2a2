"""open: a local page, on which a person who writes no YAML sees risk against loss, and decides."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path
from typing import Annotated, Final

from hushtable.cli.arguments import KeyFile, Threads
from hushtable.cli.groups import argument, option
from hushtable.cli.terminal import print_lines, print_to_stderr
from hushtable.errors import InputError

_MAX_WAIT_SECONDS: Final = 10.0  # seconds


def open_(
    file: Annotated[Path | None, argument("FILE", "Table to open: CSV (also .gz), Parquet or Excel.")] = None,
    policy: Annotated[
        Path | None, option("Policy file to work on. Default: policy.yaml beside the table.", "--policy", "-p")
    ] = None,
    port: Annotated[int, option("Port to listen on; 0 takes any free port.", min=0, max=65535)] = 0,
    no_browser: Annotated[bool, option("Do not open a browser; print the address.", "--no-browser")] = False,
    anywhere: Annotated[bool, option("Also open and write files outside the current folder.", "--anywhere")] = False,
    key_file: KeyFile = None,
    threads: Threads = None,
) -> None:
    """Open a page in your browser: see who can be found, choose, look, sign. It never leaves this computer.

    The first line that is printed holds the address with its token. Ends with Ctrl+C, or after 30 idle minutes.
    """
    from hushtable.cli import fault_line
    from hushtable.cli.requests import key_in
    from hushtable.page import Desk, PageServer

    key = None if key_file is None else key_in(key_file)
    desk = Desk(Path(), anywhere=anywhere, policy=policy, key=key, key_file=key_file, of_fault=fault_line)
    if policy is not None:
        desk.resolve_path(policy)
    if file is not None:
        desk.open_table(file)
    try:
        server = PageServer(desk, port)
    except OSError:
        raise InputError(
            f"port {port} cannot be listened on.", hint="another program may use it: take --port 0."
        ) from None
    print_lines(server.url)
    print_to_stderr("Keep this address to yourself. Ctrl+C ends the page; the policy and its history are files.")
    if not no_browser:
        # If no browser can be started, the printed address is enough.
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(server.launch_url())
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
    desk.jobs.stop()
    # A release that is being written is finished, or its drafts are removed.
    desk.jobs.wait(_MAX_WAIT_SECONDS)

"""The local page in process: a server in a thread, and someone who asks it as a browser would."""

from __future__ import annotations

import contextlib
import http.client
import random
import re
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from hushtable.page import Desk, PageServer

SEARCHING = 60.0  # seconds


def hospital(path: Path, n: int = 400) -> Path:
    """Write a made-up German hospital's file as they come: cp1252, semicolons, decimal commas."""
    draw = random.Random(4)
    towns = ["München", "Köln", "Düren", "Görlitz"]
    lines = ["Patientennr;Name;Geburtsdatum;Geschlecht;PLZ;Wohnort;Aufnahme;Station;Kreatinin;Diagnose;Merkmal;Schicht"]
    for number in range(n):
        born = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(1930, 2005)}"
        came = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.2024"
        lines.append(
            f"{100_000 + number};Müller {number};{born};{draw.choice(['männlich', 'weiblich'])};"
            f"{draw.choice(['80331', '80333', '50667', '52349', '02826'])};{draw.choice(towns)};{came};"
            f"{draw.choice(['Innere', 'Chirurgie', 'Geriatrie'])};{draw.randint(0, 3)},{draw.randint(0, 9)};"
            f"{draw.choice(['J18', 'I10', 'E11', 'K80', 'M54'])};{draw.choice('ABC')};{draw.choice(['früh', 'spät'])}"
        )
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    return path


class Visitor:
    """Someone with a browser: keeps the cookie, and says where a request comes from."""

    def __init__(self, server: PageServer) -> None:
        self.server = server
        self.cookie = ""

    def ask(
        self, method: str, path: str, headers: dict[str, str | None] | None = None, body: str | bytes | None = None
    ) -> tuple[int, str, http.client.HTTPMessage]:
        """Send one request; a header of None is not sent."""
        said: dict[str, str | None] = {"Host": self.server.host, "Cookie": self.cookie or None, "Connection": "close"}
        if method == "POST":
            said |= {
                "Origin": self.server.origin,
                "Sec-Fetch-Site": "same-origin",
                "Content-Type": "application/x-www-form-urlencoded",
            }
            said["Content-Length"] = str(len(body or ""))
        said |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_address[1], timeout=60)
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in said.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body.encode() if isinstance(body, str) else body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers

    def enter(self) -> None:
        """Use the first address."""
        parts = urlsplit(self.server.url)
        status, _, headers = self.ask("GET", f"{parts.path}?{parts.query}")
        assert status == 303
        self.cookie = headers["Set-Cookie"].partition(";")[0]

    def get(self, path: str) -> str:
        """Return a page."""
        status, text, _ = self.ask("GET", path)
        assert status == 200, (path, status, text[:500])
        return text

    def do(self, action: str, **fields: object) -> str:
        """Send a form, and return where it leads, or the page that says why it was refused."""
        body = urlencode({name: str(each) for name, each in fields.items()})
        status, text, headers = self.ask("POST", f"/do/{action}", body=body)
        assert status in (303, 422), (action, status)
        return headers["Location"] if status == 303 else text

    def open(self, name: str, role: str = "other") -> Desk:
        """Open a table, and give what is asked one role."""
        assert self.do("open", path=name) == "/columns"
        desk = self.settle()
        assert not desk.fault
        for column in desk.policy.with_role("ask"):
            self.do("role", column=place(desk, column), role=role)
        return self.settle()

    def settle(self) -> Desk:
        """Wait until nothing goes on."""
        assert self.server.desk.jobs.wait(SEARCHING)
        return self.server.desk


@contextlib.contextmanager
def served(folder: Path, **options: object) -> Iterator[Visitor]:
    """Serve a folder, and let a visitor in."""
    desk = Desk(folder, **options)
    with PageServer(desk) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        visitor = Visitor(server)
        visitor.enter()
        try:
            yield visitor
        finally:
            server.shutdown()
            thread.join()
            desk.jobs.stop()
            desk.jobs.wait(SEARCHING)


def place(desk: Desk, name: str) -> int:
    """Return the place of a column: forms hold places, and no names."""
    return desk.looked.typed_frame.columns.index(name)


def fault_in(text: str) -> str:
    """Return what a page says was wrong."""
    found = re.search(r'role="alert"[^>]*>(.*?)</div>', text, re.DOTALL)
    return unescape(re.sub("<[^>]+>", " ", found[1])).strip() if found else ""

"""The page's door on loopback: who may knock, which screen answers, and when it closes.

Loopback is no wall: any site that the browser shows, and any program on the machine, can send a request. So the token
of the first address becomes a cookie that no other site's request carries; the host must be the exact one, which
defeats rebinding; what changes something must come from the page itself, as the browser says in headers that no script
can write; and a page may load nothing, run one script, and be framed by nobody.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import sys
from collections.abc import Callable, Mapping
from functools import cache
from hmac import compare_digest
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Thread
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from hushtable.errors import HushError
from hushtable.page.actions import ACTIONS, FormFields
from hushtable.page.desk import Desk
from hushtable.page.parts import SCREENS, describe_time_left
from hushtable.page.screens import render_page
from hushtable.page.words import PageWords
from hushtable.reporting import page_style
from hushtable.wording import choose_language, use_language

IDLE_SECONDS: Final = 30 * 60.0
"""After so long without a request that somebody made, and without a job, the server ends."""

_HOST: Final = "127.0.0.1"
_LAUNCH_SECONDS: Final = 120.0
_MAX_FORM_BYTES: Final = 64_000  # bytes
_MAX_FIELDS: Final = 500
_MAX_REQUEST_SECONDS: Final = 10.0  # seconds in which a request must arrive


class PageServer(ThreadingHTTPServer):
    """Serves one desk to one person.

    Parameters
    ----------
    desk : Desk
    port : int
        0 for any free one.
    clock : callable
        Seconds, as `time.monotonic`.
    """

    daemon_threads = True
    # Not on Windows: there, a second server could listen on the same port unnoticed.
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, desk: Desk, port: int = 0, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__((_HOST, port), _Handler)
        self.desk = desk
        self.clock = clock
        self.last_asked = clock()
        self.host = f"{_HOST}:{self.server_address[1]}"
        self.cookie_name = f"hushtable-{self.server_address[1]}"
        self.cookie = secrets.token_urlsafe(32)
        self._token = secrets.token_urlsafe(32)
        self._launch: tuple[str, float] | None = None
        self._is_ending = False

    @property
    def origin(self) -> str:
        """The origin that browsers send with requests from the page."""
        return f"http://{self.host}"

    @property
    def url(self) -> str:
        """The address to type, with the token that lets its reader in."""
        return f"{self.origin}/enter?token={self._token}"

    def launch_url(self) -> str:
        """Return an address whose token works once and soon: other users see the arguments of a browser's process."""
        token = secrets.token_urlsafe(32)
        self._launch = token, self.clock() + _LAUNCH_SECONDS
        return f"{self.origin}/enter?token={token}"

    def is_token(self, token: str) -> bool:
        """Tell whether a token is valid; a launch token is valid only once."""
        with self.desk.lock:
            launch, self._launch = self._launch, None
        if launch is not None and compare_digest(token.encode(), launch[0].encode()):
            return self.clock() <= launch[1]
        with self.desk.lock:
            self._launch = self._launch or launch
        return compare_digest(token.encode(), self._token.encode())

    def is_idle(self) -> bool:
        """Tell whether no request has come for long, and no job is running."""
        if self.desk.jobs.is_busy:
            self.last_asked = self.clock()
        return self.clock() - self.last_asked > IDLE_SECONDS

    def service_actions(self) -> None:
        """Shut down if the server is idle; called several times a second."""
        if self.is_idle() and not self._is_ending:
            self._is_ending = True
            # In a thread: the serving thread cannot wait for its own end.
            Thread(target=self.shutdown, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections: a traceback may hold the fields of a form."""


@cache
def _read_asset(name: str) -> str:
    return files("hushtable.page").joinpath(name).read_text(encoding="utf-8")


@cache
def _read_styles() -> str:
    return f"{page_style()}\n{_read_asset('page.css')}"


def _content_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _security_headers() -> Mapping[str, str]:
    """Return the headers of every answer."""
    allowed = (
        "default-src 'none'",
        f"style-src {_content_hash(_read_styles())}",
        f"script-src {_content_hash(_read_asset('page.js'))}",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(allowed),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        # Not no-referrer: with that, the browser would not send a form's origin.
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }


class _RefusedError(Exception):
    """The request is not answered."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "hushtable"
    sys_version = ""
    timeout = _MAX_REQUEST_SECONDS
    # Head and body leave together: a second small packet would wait for the answer to the first.
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer with a screen."""
        self._answer_request(self._answer_get)

    def do_POST(self) -> None:
        """Do what a form asks."""
        self._answer_request(self._answer_post)

    def log_message(self, *_: object) -> None:
        """Log nothing: requests are private."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse an invalid request, with a short answer."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._send_answer(status, f"{status.value} {status.phrase}\n", "text/plain; charset=utf-8")

    def _answer_request(self, work: Callable[[str, Mapping[str, list[str]]], None]) -> None:
        try:
            self._check_host()
            path, query = self._parse_address()
            work(path, query)
        except _RefusedError as refused:
            self.send_error(refused.status)
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        # The text of an unexpected error may hold a cell.
        except Exception:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _check_host(self) -> None:
        if self.headers.get_all("Host") != [self.server.host]:
            raise _RefusedError(HTTPStatus.MISDIRECTED_REQUEST)

    def _parse_address(self) -> tuple[str, Mapping[str, list[str]]]:
        if not self.path.startswith("/") or self.path.startswith("//") or len(self.path) > 2000:
            raise _RefusedError(HTTPStatus.BAD_REQUEST)
        try:
            parts = urlsplit(self.path)
            return parts.path, parse_qs(parts.query, max_num_fields=20)
        except ValueError:
            raise _RefusedError(HTTPStatus.BAD_REQUEST) from None

    def _is_known(self) -> bool:
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie_name)
        except CookieError:
            return False
        return found is not None and compare_digest(found.value.encode(), self.server.cookie.encode())

    def _check_known(self) -> None:
        if not self._is_known():
            raise _RefusedError(HTTPStatus.FORBIDDEN)

    def _answer_get(self, path: str, query: Mapping[str, list[str]]) -> None:
        # Even links from other sites are refused.
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise _RefusedError(HTTPStatus.FORBIDDEN)
        if path == "/enter":
            self._let_in(query)
            return
        self._check_known()
        if path == "/state":
            self._send_state()
            return
        self.server.last_asked = self.server.clock()
        if path == "/":
            self._redirect_to("/columns")
            return
        if path.removeprefix("/") not in (*SCREENS, "open"):
            raise _RefusedError(HTTPStatus.NOT_FOUND)
        said = {name: each[0] for name, each in query.items()}
        self._send_screen(path.removeprefix("/"), said)

    def _let_in(self, query: Mapping[str, list[str]]) -> None:
        if not self.server.is_token(query.get("token", [""])[0]):
            raise _RefusedError(HTTPStatus.FORBIDDEN)
        self.server.last_asked = self.server.clock()
        cookie = f"{self.server.cookie_name}={self.server.cookie}; Path=/; HttpOnly; SameSite=Strict"
        self._redirect_to("/columns", {"Set-Cookie": cookie})

    def _send_state(self) -> None:
        """Send the progress of a job; this request does not keep the server alive."""
        desk = self.server.desk
        job = desk.jobs.job
        state = {
            "version": desk.version,
            "busy": desk.jobs.is_busy,
            "job": "" if job is None else job.name,
            "share": 0.0 if job is None else job.share,
            "left": describe_time_left(job, self._words()),
        }
        self._send_answer(HTTPStatus.OK, json.dumps(state), "application/json")

    def _answer_post(self, path: str, _: Mapping[str, list[str]]) -> None:
        self._check_known()
        if self.headers.get_all("Origin") != [self.server.origin]:
            raise _RefusedError(HTTPStatus.FORBIDDEN)
        if self.headers.get_all("Sec-Fetch-Site") != ["same-origin"]:
            raise _RefusedError(HTTPStatus.FORBIDDEN)
        action = ACTIONS.get(path.removeprefix("/do/")) if path.startswith("/do/") else None
        if action is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND)
        fields = FormFields(self._read_fields())
        self.server.last_asked = self.server.clock()
        desk = self.server.desk
        with desk.lock:
            fault, location = "", ""
            try:
                desk.reread_policy()
                location = action(desk, fields)
            except HushError as error:
                fault = str(error)
            except OSError as error:
                fault = f"a file could not be read or written: {error.strerror}."
        if fault:
            # Older errors are about something else.
            desk.fault = ""
            self._send_screen(_screen_of(path), fields.first_texts(), fault, path.removeprefix("/do/"))
        else:
            self._redirect_to(location)

    def _read_fields(self) -> Mapping[str, list[str]]:
        kind = self.headers.get_content_type()
        length = self.headers.get_all("Content-Length") or [""]
        if self.headers.get("Transfer-Encoding") is not None or len(length) != 1 or not length[0].isdecimal():
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED)
        if len(length[0]) > 9 or int(length[0]) > _MAX_FORM_BYTES:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if kind != "application/x-www-form-urlencoded":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        body = self.rfile.read(int(length[0]))
        try:
            return parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
        except ValueError:
            raise _RefusedError(HTTPStatus.BAD_REQUEST) from None

    def _send_screen(self, screen: str, query: Mapping[str, str], fault: str = "", action: str = "") -> None:
        """Send a screen, or again the one whose form was refused."""
        desk = self.server.desk
        words = self._words()
        with desk.lock, use_language(words.language):
            desk.reread_policy()
            desk.start_search()
            shown = render_page(
                desk,
                screen,
                query,
                words,
                style=_read_styles(),
                script=_read_asset("page.js"),
                fault=fault,
                action=action,
            )
        status = HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK
        self._send_answer(status, shown, "text/html; charset=utf-8")

    def _words(self) -> PageWords:
        return PageWords(self.server.desk.language or choose_language(self.headers.get("Accept-Language", "")))

    def _redirect_to(self, place: str, headers: Mapping[str, str] | None = None) -> None:
        self._send_answer(HTTPStatus.SEE_OTHER, "", "text/plain; charset=utf-8", {"Location": place, **(headers or {})})

    def _send_answer(self, status: HTTPStatus, text: str, kind: str, headers: Mapping[str, str] | None = None) -> None:
        # A name of a file or column may hold half a surrogate pair.
        body = text.encode("utf-8", errors="replace")
        self.send_response(status)
        for name, value in {**_security_headers(), **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if getattr(self, "command", None) != "HEAD":
            self.wfile.write(body)


_SCREEN_OF: Final[Mapping[str, str]] = {
    "open": "open",
    "hierarchy": "groups",
    "label": "groups",
    "group": "groups",
    "regroup": "groups",
    "join": "groups",
    "drop_level": "groups",
    "move": "choose",
    "compare": "choose",
    "choose": "choose",
    "advise": "choose",
    "follow": "choose",
    "target": "look",
    "accept": "sign",
    "write": "sign",
}


def _screen_of(path: str) -> str:
    """Return the screen that holds a refused form."""
    return _SCREEN_OF.get(path.removeprefix("/do/"), "columns")

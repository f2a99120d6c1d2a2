"""Who may knock at the page: tokens, hosts, origins, sizes; and what every answer forbids the browser."""

import random
import re
import threading

import pytest

import page_fuzz
from hushtable.page import Desk, PageServer, server as door
from served_page import Visitor, fault_in, served
from strategies import draws


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    with served(page_fuzz.folder_of(tmp_path_factory.mktemp("doors"))) as found:
        found.open("people.csv")
        yield found


ENTER = "/enter?token={token}"


def test_the_token_becomes_a_cookie_and_the_address_a_clean_one(visitor):
    path = visitor.server.url.removeprefix(visitor.server.origin)
    status, _, headers = Visitor(visitor.server).ask("GET", path)
    assert (status, headers["Location"]) == (303, "/columns")
    assert headers["Set-Cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert visitor.server.url.split("=")[1] not in headers["Set-Cookie"]


@pytest.mark.parametrize(
    "path", ["/", "/columns", "/sign", "/state", "/enter", "/enter?token=", "/enter?token=x", "/enter?token=%C3%A9"]
)
def test_without_a_token_nothing_is_told(visitor, path):
    status, text, headers = Visitor(visitor.server).ask("GET", path)
    assert (status, text) == (403, "403 Forbidden\n")
    assert "Set-Cookie" not in headers


def test_a_launch_lets_in_once_and_soon(tmp_path):
    now = [0.0]
    with PageServer(Desk(tmp_path), clock=lambda: now[0]) as server:
        token = server.launch_url().split("=")[1]
        assert not server.is_token("x")
        assert server.is_token(token)
        assert not server.is_token(token)
        token = server.launch_url().split("=")[1]
        now[0] = 121.0
        assert not server.is_token(token)
        assert server.is_token(server.url.split("=")[1])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost:{port}"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": None}, 421),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Cookie": None}, 403),
        ({"Cookie": "hushtable-{port}=x"}, 403),
    ],
)
def test_a_screen_is_for_its_own_browser(visitor, headers, status):
    port = str(visitor.server.server_address[1])
    said = {name: value and value.replace("{port}", port) for name, value in headers.items()}
    for path in ("/columns", "/state", "/"):
        assert visitor.ask("GET", path, said)[0] == status


def test_a_known_token_from_another_site_does_not_enter(visitor):
    path = visitor.server.url.removeprefix(visitor.server.origin)
    status, _, headers = Visitor(visitor.server).ask("GET", path, {"Sec-Fetch-Site": "cross-site"})
    assert status == 403
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": None}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost:{port}"}, 403),
        ({"Sec-Fetch-Site": None}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Cookie": None}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Length": None}, 411),
        ({"Content-Length": "64001"}, 413),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_a_form_comes_from_the_page_alone(visitor, headers, status):
    before = visitor.server.desk.language
    port = str(visitor.server.server_address[1])
    said = {name: value and value.replace("{port}", port) for name, value in headers.items()}
    assert visitor.ask("POST", "/do/language", said, "language=de")[0] == status
    assert visitor.server.desk.language == before


def test_every_answer_allows_one_style_and_one_script(visitor):
    for path in ("/columns", "/state", "/nothing"):
        _, _, headers = visitor.ask("GET", path)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["Cache-Control"] == "no-store"
        assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
        assert "Python" not in headers["Server"]
    text = visitor.get("/sign")
    assert len(re.findall("<script", text)) == 1
    assert len(re.findall("<style", text)) == 1
    assert not re.findall(r"<[^>]+ (?:style|on\w+)=", text)


@pytest.mark.parametrize(
    "typed", ["../secret.csv", "link.csv", "sub/../../secret.csv", "/etc/passwd", "", "\0", "sub", ".", "x\udcff.csv"]
)
def test_nothing_outside_the_folder_is_opened(visitor, typed):
    body = "path=" + "".join(f"%{byte:02x}" for byte in typed.encode("utf-8", "surrogatepass"))
    status, text, _ = visitor.ask("POST", "/do/open", body=body)
    assert status in (400, 422)
    assert page_fuzz.SECRET not in text
    assert visitor.settle().looked.path.name == "people.csv"


@pytest.mark.parametrize("typed", ["../out.csv", "/tmp/hushtable-out.csv", "sub/../../out.csv"])
def test_nothing_outside_the_folder_is_written(visitor, typed):
    assert "outside the folder" in fault_in(visitor.do("write", name=typed))


def test_anywhere_opens_what_is_typed(tmp_path):
    home = page_fuzz.folder_of(tmp_path)
    with served(home, anywhere=True) as found:
        found.do("open", path="../secret.csv")
        assert found.settle().looked.path == tmp_path / "secret.csv"


def test_an_idle_server_ends_but_never_during_a_job(tmp_path):
    now, gate = [0.0], threading.Event()
    desk = Desk(tmp_path)
    with PageServer(desk, clock=lambda: now[0]) as server:
        now[0] = door.IDLE_SECONDS
        assert not server.is_idle()
        job = desk.jobs.start("reading", lambda _: gate.wait(), lambda *_: None)
        now[0] = 10 * door.IDLE_SECONDS
        assert not server.is_idle()
        gate.set()
        desk.jobs.wait()
        assert job.is_over
        assert not server.is_idle()
        now[0] += door.IDLE_SECONDS + 1
        assert server.is_idle()
        # It ends by itself: else this would not come back.
        server.serve_forever(0.01)


def test_who_only_looks_how_far_a_job_is_does_not_keep_the_server_up(visitor):
    before = visitor.server.last_asked
    assert visitor.ask("GET", "/state")[0] == 200
    assert visitor.server.last_asked == before
    visitor.get("/columns")
    assert visitor.server.last_asked > before


def test_odd_requests_are_refused_and_told_nothing(tmp_path):
    with served(page_fuzz.folder_of(tmp_path)) as found:
        found.open("people.csv")
        assert page_fuzz.complaints(found, random.Random(7), draws(300)) == []


@pytest.mark.slow
def test_ten_thousand_odd_requests(tmp_path):
    with served(page_fuzz.folder_of(tmp_path)) as found:
        found.open("people.csv")
        assert page_fuzz.complaints(found, random.Random(1), 10_000) == []
        found.settle()
        outside = {path.name for path in tmp_path.iterdir()}
        assert outside == {"home", "secret.csv"}

"""open: what it prints, what it starts, and what it refuses before it serves."""

import contextlib
import socket
import webbrowser

import pytest

from command import run
from hushtable.page import PageServer


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """A folder with a table; nothing is served, and addresses that a browser would open are noted."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    for name in ("people.csv", "../outside.csv"):
        (tmp_path / "home" / name).write_text("age,sex\n31,f\n34,m\n" * 30, encoding="utf-8")
    opened = []
    monkeypatch.setattr(PageServer, "serve_forever", lambda self: self.desk.jobs.wait())
    monkeypatch.setattr(webbrowser, "open", opened.append)
    return opened


def test_the_first_line_is_the_address_and_the_browser_gets_one_of_its_own(launched):
    shown = run("open", "people.csv")
    assert shown.code == 0
    address = shown.out.splitlines()[0]
    assert address.startswith("http://127.0.0.1:")
    assert "/enter?token=" in address
    (other,) = launched
    # Others on the machine see what a browser is started with: that token lets in once.
    assert other.partition("=")[0] == address.partition("=")[0]
    assert other != address


def test_no_browser_is_opened_where_none_is_wanted(launched):
    assert run("open", "--no-browser").code == 0
    assert launched == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["../outside.csv"], "--anywhere"),
        (["nothing.csv"], "there is no file"),
        (["people.csv", "-p", "../policy.yaml"], "--anywhere"),
        (["people.csv", "--key-file", "nothing.bin"], "cannot read the key file"),
    ],
)
def test_what_is_refused_is_told_before_anything_is_served(launched, options, told):
    shown = run("open", *options)
    assert (shown.code, launched) == (2, [])
    assert told in shown.err


def test_outside_is_opened_where_it_is_typed_with_anywhere(launched):
    assert run("open", "../outside.csv", "--anywhere", "--no-browser").code == 0


def test_a_port_that_is_taken_is_wrong_input(launched):
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        shown = run("open", "--port", taken.getsockname()[1])
    assert shown.code == 2
    assert "cannot be listened on" in shown.err

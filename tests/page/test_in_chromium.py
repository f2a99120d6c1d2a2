"""The page in a real browser: the whole way, the attacks of other sites, and what everybody needs to use it.

Needs Debian's Chromium; for the last, axe-core from npm (`make axe`, or `HUSHTABLE_AXE`: the path of axe.min.js).
With ``HUSHTABLE_SHOTS``, the path of a folder, the screens are drawn into it in every state, wide and narrow, in both
languages. With ``HUSHTABLE_PAUSES``, seconds, a person's waits stand between the clicks.
"""

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from chromium import PROGRAM, Browser
from command import done
from served_page import SEARCHING, hospital, place, served

AXE = Path(os.environ.get("HUSHTABLE_AXE", Path(__file__).parents[2] / ".node/node_modules/axe-core/axe.min.js"))
SHOTS = os.environ.get("HUSHTABLE_SHOTS")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: apt-get install chromium")
PAUSES = float(os.environ.get("HUSHTABLE_PAUSES", "0"))
SHOWN = ("open", "columns", "groups?column=4", "choose", "look", "sign")
QUIET = "JSON.parse(document.body.dataset.state).busy === false && !document.body.hasAttribute('aria-busy')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    # A foreign name that leads to loopback, as a rebound one does.
    with Browser(folder, "--host-resolver-rules=MAP evil.example 127.0.0.1") as found:
        found.size(1280, 960)
        yield found


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """A page on which all is decided and something was compared."""
    folder = tmp_path_factory.mktemp("ward")
    hospital(folder / "aufnahmen.csv", 60)
    with served(folder) as visitor:
        visitor.open("aufnahmen.csv")
        visitor.do("compare", ks="2,3", suppressions="0")
        visitor.settle()
        yield visitor


def shoot(browser, desk, name, at="body"):
    """Draw a screen at two widths in both languages, from the element that it is about."""
    if not SHOTS:
        return
    address = browser.js("location.href")
    for language in ("de", "en"):
        desk.language = language
        for width, height in ((400, 860), (1280, 960)):
            browser.size(width, height)
            browser.goto(address)
            browser.js(f"document.querySelector({at!r})?.scrollIntoView({{block: 'start'}}); 0")
            ending = f"{'_de' if language == 'de' else ''}{'_400' if width == 400 else ''}"
            browser.shot(Path(SHOTS) / f"page_{name}{ending}.png")
    desk.language = ""


def click(browser, words):
    """Click the button or link whose words these are, and wait for what comes of it."""
    found = browser.js(
        "(() => { const all = [...document.querySelectorAll('button, a, summary')];"
        f"const it = all.find(each => each.innerText.trim().startsWith({words!r}) && !each.disabled);"
        "if (it) { it.click(); } return Boolean(it); })()"
    )
    assert found, (words, browser.js("document.body.innerText")[:1500])
    # Until what was clicked has begun, and a person has read what comes of it.
    time.sleep(0.1 + PAUSES)
    browser.wait(QUIET)


def put(browser, field, value):
    browser.js(f"document.getElementById({field!r}).value = {value!r}")
    time.sleep(PAUSES)


def complaints(browser):
    told = [each for each in browser.events if each["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
    browser.events.clear()
    # A form that is refused is answered with 422, which the console notes; there is no picture for the tab.
    return [each for each in told if "422" not in str(each) and "favicon" not in str(each)]


def test_from_a_file_to_a_signed_release(browser, tmp_path, monkeypatch):
    hospital(tmp_path / "aufnahmen.csv", 300)
    with served(tmp_path) as visitor:
        desk = visitor.server.desk
        browser.goto(visitor.server.url)
        assert browser.js("location.href") == f"{visitor.server.origin}/columns"
        assert browser.js("document.cookie") == ""
        shoot(browser, desk, "open")
        click(browser, "aufnahmen.csv")
        browser.wait("document.querySelector('.question')")
        shoot(browser, desk, "columns")
        asked = desk.policy.with_role("ask")
        assert asked
        for _ in asked:
            click(browser, "other")
        browser.wait("document.querySelectorAll('aside .figures div').length === 5")
        assert not desk.policy.with_role("ask")

        click(browser, "2 Groups")
        click(browser, "PLZ")
        shoot(browser, desk, "groups")
        shoot(browser, desk, "cards", ".cards")
        click(browser, "3 Choose")
        put(browser, "k", "4000")
        click(browser, "Set")
        # What is wrong with k stands beside k.
        browser.wait("document.querySelector('main [role=alert]')?.nextElementSibling.querySelector('#k')")
        shoot(browser, desk, "impossible")
        put(browser, "k", "4")
        click(browser, "Set")
        assert desk.k == 4
        put(browser, "ks", "2, 3, 5, 8")
        put(browser, "suppressions", "0")
        click(browser, "Compare")
        browser.wait("document.querySelectorAll('tbody tr form').length === 4")
        shoot(browser, desk, "choose", ".marked")
        # A second tab sees the same, and the first one sees what the second does.
        browser.js("document.querySelectorAll('tbody tr form button')[1].click()")
        browser.wait(f"{QUIET} && document.querySelector('aside strong').innerText === '3'")
        assert desk.k == 3
        # A grey button says why.
        click(browser, "5 Sign")
        assert browser.js("document.getElementById('sign').disabled")
        assert "open the screen Look" in browser.js("document.getElementById('why-grey').innerText")
        click(browser, "4 Look")
        shoot(browser, desk, "look")
        visitor.do("move", k=5, suppression="0", method="mondrian", recoding="readable")
        browser.wait(f"{QUIET} && document.querySelector('aside strong').innerText === '5'")
        click(browser, "Undo")
        browser.wait(f"{QUIET} && document.querySelector('aside strong').innerText === '3'")

        click(browser, "5 Sign")
        shoot(browser, desk, "sign")
        for field, typed in (("person", "Dr. Ada Muster"), ("date", "2026-01-31"), ("comment", "Under contract.")):
            put(browser, field, typed)
        click(browser, "Write, verify and sign")
        browser.wait("document.getElementById('written')")
        shoot(browser, desk, "signed")
        assert desk.written.is_verified
        assert desk.written.signed.person == "Dr. Ada Muster"
        assert complaints(browser) == []
        loss, n_classes = desk.outcome.release.loss, desk.outcome.verdict.n_classes

    monkeypatch.chdir(tmp_path)
    told = done("anonymize", "aufnahmen.csv", "-p", "policy.yaml", "-o", "again.csv", "--json")
    told = json.loads(told.out)
    assert (told["loss"], told["n_classes"]) == (loss, n_classes)
    assert "Signed by Dr. Ada Muster on 2026-01-31" in done("verify", "aufnahmen.release.csv").out


def test_a_cell_is_dragged_to_another_group_and_back_undoes_nothing(browser, ward):
    desk = ward.server.desk
    column = place(desk, "PLZ")
    browser.goto(ward.server.url)
    browser.goto(f"{ward.server.origin}/groups?column={column}")
    before = desk.policy_text
    dragged = (
        "(() => { const [from, to] = document.querySelectorAll('.card'); const dataTransfer = new DataTransfer();"
        "const told = (what, where) => where.dispatchEvent(new DragEvent(what, {bubbles: true, cancelable: true,"
        "dataTransfer})); const item = from.querySelector('[data-node]'); told('dragstart', item);"
        "const allowed = !told('dragover', to); told('drop', to); return allowed; })()"
    )
    assert browser.js(dragged)
    browser.wait(f"{QUIET} && document.querySelector('aside pre').innerText.includes('hierarchies/')")
    assert desk.policy_text != before
    # The address before, and the policy as it stands.
    browser.goto(f"{ward.server.origin}/columns")
    browser.js("history.back()")
    browser.wait("location.pathname === '/groups' && document.querySelector('.cards')")
    assert browser.js("document.querySelector('aside pre').innerText.includes('hierarchies/')")
    click(browser, "Undo")
    browser.wait(QUIET)
    assert desk.policy_text == before


def test_a_stopped_search_offers_to_go_on(browser, tmp_path):
    hospital(tmp_path / "aufnahmen.csv", 60)
    with served(tmp_path) as visitor:
        desk = visitor.open("aufnahmen.csv")
        with desk.lock:
            desk.change_policy(desk.rules().with_entries({("limits", "suppression"): 0.1}))
            desk.stop_job()
        visitor.settle()
        with desk.lock:
            # However fast the search was, this is how a stopped one looks.
            desk.outcome = None
        browser.goto(visitor.server.url)
        browser.goto(f"{visitor.server.origin}/look")
        shoot(browser, desk, "stopped")
        if AXE.is_file():
            assert violations(browser) == []
        click(browser, "Go on")
        browser.wait("document.querySelector('aside .figures')")
    browser.events.clear()


def test_the_keyboard_alone_is_enough(browser, ward):
    browser.goto(ward.server.url)
    browser.press("Tab")
    assert browser.js("document.activeElement.className") == "skip"
    for _ in range(10):
        browser.press("Tab")
        if browser.js("document.activeElement.getAttribute('href') === '/choose'"):
            break
    browser.press("Enter")
    browser.wait("location.pathname === '/choose' && document.getElementById('k')")
    browser.js("document.getElementById('k').focus()")
    put(browser, "k", "7")
    browser.press("Enter")
    browser.wait(f"{QUIET} && document.querySelector('aside pre').innerText.includes('k: 7')")
    # What had the focus has it again.
    assert browser.js("document.activeElement.id") == "k"


def test_rows_are_sorted_and_filtered_by_keyboard(browser, ward):
    browser.goto(f"{ward.server.origin}/look")
    browser.js("document.querySelectorAll('.rows thead tr + tr a')[2].focus()")
    browser.press("Enter")
    browser.wait("document.querySelector('.rows [aria-sort=ascending]')?.innerText.includes('before')")
    assert browser.js("location.search") == "?sort=before-1"
    browser.js("document.getElementById('class').focus()")
    put(browser, "class", "1")
    browser.press("Enter")
    browser.wait(f"{QUIET} && location.search.includes('class=1')")
    shown = browser.js("[...document.querySelectorAll('.rows tbody th a')].map(each => each.innerText)")
    assert set(shown) == {"1"}
    assert complaints(browser) == []


def test_what_is_typed_on_sign_stays_while_rows_are_sorted_filtered_and_turned_back(browser, ward):
    browser.goto(f"{ward.server.origin}/sign")
    for field, value in (("person", "Dr. Ada Muster"), ("comment", "Under contract.")):
        put(browser, field, value)
    browser.js("document.querySelectorAll('.rows thead tr + tr a')[2].click()")
    browser.wait("document.querySelector('.rows [aria-sort=ascending]')?.innerText.includes('before')")
    assert browser.js("document.activeElement.id") == "rows"
    put(browser, "class", "1")
    click(browser, "Show rows")
    browser.wait("location.search.includes('class=1')")
    browser.js("history.back()")
    browser.wait("location.search === '?sort=before-1' && document.querySelector('.rows [aria-sort=ascending]')")
    assert browser.js("document.getElementById('person').value") == "Dr. Ada Muster"
    assert browser.js("document.getElementById('comment').value") == "Under contract."
    # To another screen, back is a whole page.
    click(browser, "1 Columns")
    browser.js("history.back()")
    browser.wait("location.pathname === '/sign' && document.querySelector('.rows')")
    assert complaints(browser) == []


def test_columns_are_set_at_once_by_keyboard(browser, ward):
    desk = ward.server.desk
    browser.goto(f"{ward.server.origin}/columns")
    for field, value in (("importance-4", "4"), ("importance-5", "2")):
        put(browser, field, value)
        browser.js(f"document.getElementById({field!r}).dispatchEvent(new Event('input', {{bubbles: true}}))")
    browser.js("document.getElementById('apply').focus()")
    last = desk.versions.last
    browser.press("Enter")
    browser.wait(f"{QUIET} && document.querySelector('aside pre').innerText.includes('importance')")
    assert desk.rules().importance == {"PLZ": 4, "Wohnort": 2}
    assert desk.versions.last == last + 1
    assert browser.js("document.activeElement.id") == "apply"
    ward.do("undo")
    ward.settle()


def test_other_sites_get_nothing(browser, ward):
    """Rebinding, forged forms, fetches, frames and links from a site that the same browser shows."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>evil</title><body>")

        def log_message(self, *_):
            pass

    # A browser opens connections ahead of need: one thread would wait for the first of them.
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as evil:
        threading.Thread(target=evil.serve_forever, args=(0.02,), daemon=True).start()
        desk, server = ward.server.desk, ward.server
        port, origin, text = server.server_address[1], server.origin, desk.policy_text
        browser.goto(server.url)
        browser.wait(QUIET)
        # Rebound: the name of another site leads here.
        browser.goto(f"http://evil.example:{port}/columns")
        assert "421" in browser.js("document.body.innerText")
        browser.goto(f"http://evil.example:{port}/enter?{server.url.partition('?')[2]}")
        assert "421" in browser.js("document.body.innerText")
        for host in ("evil.example", "127.0.0.1"):
            browser.goto(f"http://{host}:{evil.server_address[1]}/")
            assert browser.js("document.title") == "evil"
            for path, options in (("/columns", "{}"), ("/state", "{credentials: 'include'}")):
                read = f"fetch('{origin}{path}', {options}).then(() => 'read', () => 'refused')"
                assert browser.js(read) == "refused"
            blind = "{method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({k: 1})}"
            browser.js(f"fetch('{origin}/do/move', {blind}).then(() => 0, () => 0)")
            browser.js(
                f"document.body.innerHTML = \"<form method=post action='{origin}/do/undo'></form>\";"
                "new Promise(done => { const frame = document.createElement('iframe'); frame.onload = () => done();"
                f"frame.src = '{origin}/columns'; document.body.append(frame); setTimeout(done, 5000); }})"
            )
            frame = "document.querySelector('iframe').contentDocument"
            assert browser.js(f"(() => {{ try {{ return {frame} }} catch {{ return null }} }})()") is None
            # A link, a form, and the known token.
            browser.js("document.querySelector('form').submit()")
            browser.wait("document.title !== 'evil' || document.readyState === 'complete'")
            browser.wait("document.body.innerText.includes('403')")
            browser.goto(f"http://{host}:{evil.server_address[1]}/")
            browser.js(f"location.href = '{server.url}'")
            browser.wait("document.body.innerText.includes('403')")
        evil.shutdown()
        assert desk.jobs.wait(SEARCHING)
        assert desk.policy_text == text
    browser.events.clear()


@pytest.mark.parametrize("width", [360, 1600])
def test_the_page_is_no_wider_than_its_window(browser, ward, width):
    browser.goto(ward.server.url)
    browser.size(width, 800)
    for screen in SHOWN:
        browser.goto(f"{ward.server.origin}/{screen}")
        assert browser.js("document.documentElement.scrollWidth") <= width, screen
    browser.size(1280, 960)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_fault_of_accessibility(browser, ward, tmp_path, scheme):
    if not AXE.is_file():
        pytest.skip("no axe-core here: make axe")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.goto(ward.server.url)
    for screen in SHOWN:
        browser.goto(f"{ward.server.origin}/{screen}")
        assert violations(browser) == [], screen
    hospital(tmp_path / "aufnahmen.csv", 60)
    # Before a table is open, and with a question.
    with served(tmp_path) as visitor:
        browser.goto(visitor.server.url)
        assert violations(browser) == []
        visitor.do("open", path="aufnahmen.csv")
        visitor.settle()
        browser.goto(f"{visitor.server.origin}/columns")
        assert violations(browser) == []
    browser.call("Emulation.setEmulatedMedia", features=[])
    browser.events.clear()


def violations(browser):
    browser.js(AXE.read_text(encoding="utf-8") + "; 0")
    return browser.js(
        "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
        ".then(found => found.violations.map(each => [each.id, each.nodes.map(node => node.html)]))"
    )

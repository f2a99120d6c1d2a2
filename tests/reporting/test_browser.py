"""The page in a browser: nothing leaves the file, nothing is complained of, and it is accessible.

Needs Debian's Chromium; for the last, axe-core from npm (`make axe`, or `HUSHTABLE_AXE`: the path of axe.min.js).
"""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

import hushtable as ht

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(os.environ.get("HUSHTABLE_AXE", Path(__file__).parents[2] / ".node/node_modules/axe-core/axe.min.js"))
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module", params=["internal", "external", "risk"])
def page(request, tmp_path_factory) -> Path:
    """A page of every kind."""
    people = ht.datasets.people(400, seed=0)
    columns = ["sex", "birth_date", "nationality"]
    result = (
        ht.assess(people, quasi_identifiers=columns, population_size=10_000)
        if request.param == "risk"
        else ht.anonymize(
            people,
            quasi_identifiers=columns,
            sensitive=["diagnosis"],
            identifiers=["name", "email"],
            models=[ht.KAnonymity(5)],
            method=ht.Mondrian(recoding="readable"),
            roles="trust",
        )
    )
    audience = "external" if request.param == "external" else "internal"
    path = tmp_path_factory.mktemp("page") / "report.html"
    ht.report(result, audience=audience).write(path)
    return path


def browse(page: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page in Chromium, with a profile of its own."""
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def test_nothing_is_complained_of(page, tmp_path):
    done = browse(page, tmp_path, "--enable-logging=stderr", "--v=0", "--dump-dom")
    assert "CONSOLE" not in done.stderr
    assert "<main>" in done.stdout


def test_nothing_is_fetched(page, tmp_path):
    ask = "document.title = JSON.stringify(performance.getEntriesByType('resource').map(each => each.name))"
    asking = tmp_path / "asking.html"
    asking.write_text(scripted(page, f"addEventListener('load', () => {{ {ask} }})"), encoding="utf-8")
    done = browse(asking, tmp_path, "--dump-dom", "--virtual-time-budget=3000")
    assert "<title>[]</title>" in done.stdout


@pytest.mark.parametrize("width", [400, 1100])
def test_the_page_is_no_wider_than_its_window(page, width, tmp_path):
    # A window is at least 500 wide; a frame is as narrow as it is told to be.
    (tmp_path / "narrow.html").write_text(scripted(page, ""), encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe src="narrow.html" style="width:{width}px;height:900px;border:0"></iframe><script>'
        "addEventListener('load', () => { const page = document.querySelector('iframe').contentDocument;"
        "document.title = page.documentElement.scrollWidth })</script>",
        encoding="utf-8",
    )
    done = browse(frame, tmp_path, "--allow-file-access-from-files", "--dump-dom", "--virtual-time-budget=3000")
    (found,) = re.findall(r"<title>(\d+)</title>", done.stdout)
    assert int(found) <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(page, scheme, tmp_path):
    if not AXE.is_file():
        pytest.skip("no axe-core here: make axe")
    ask = f"""{AXE.read_text(encoding="utf-8")}
        axe.run().then(found => {{
            const told = found.violations.map(each => [each.impact, each.id, each.nodes.map(node => node.html)]);
            document.body.innerHTML = '';
            document.body.setAttribute('data-found', JSON.stringify(told));
        }});"""
    asking = tmp_path / "asking.html"
    asking.write_text(scripted(page, ask), encoding="utf-8")
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    done = browse(asking, tmp_path, *dark, "--dump-dom", "--virtual-time-budget=20000")
    (found,) = re.findall(r'data-found="([^"]*)"', done.stdout)
    faults = [each for each in json.loads(unescape(found)) if each[0] in ("serious", "critical")]
    assert faults == []


def scripted(page: Path, script: str) -> str:
    """Return a copy of a page that may run a script, which the page itself forbids."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return text.replace("</body>", f"<script>{script}</script></body>")

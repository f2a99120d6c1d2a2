"""Requests that no page sends: every form and path with odd fields, headers and methods."""

from __future__ import annotations

import random as randoms
from pathlib import Path
from urllib.parse import quote, urlencode

from hushtable.page.actions import ACTIONS, RULES
from hushtable.page.parts import SCREENS
from served_page import Visitor

SECRET = "Zq7Xoutside"
ODD = (
    "", "0", "1", "2", "3", "4", "5", "-1", "99", "1e9", "999999999999", "NaN", "½", "٣", "yes", "a" * 3000,
    "\0", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "'\"><script>alert(1)</script>", "{n}", "%s",
    "../secret.csv", "../../etc/passwd", "/etc/passwd", "people.csv", "policy.yaml", "link.csv", "sub/../../secret.csv",
    ".", "..", "out.csv", "out.parquet", "out", "policy.yaml.history/0001.yaml", "file:///etc/passwd", "http://x.org/y",
    "identifier", "identifier:fresh", "identifier:pseudonym", "identifier:x", "quasi-identifier", "sensitive", "other",
    "ask", "mondrian", "full_domain", "local_recoding", "histories", "mingen", "readable", "tight", "set",
    "2,3", "0,1", "100", "101", "5%", "0.5", "2, 2", ",", "4, 3", "month, year", "countries", "[", "]: {", "!!python/x",
    "&a *a", "*", "de", "en", "xx", "columns", "sign", "%d.%m.%Y", "k",
)  # fmt: skip
FIELDS = (
    "column", "role", "format", "rule", "options", "level", "group", "name", "k", "suppression", "method", "recoding",
    "highest_risk", "values-0", "values-3", "values-99", "values-x", "ks", "suppressions", "run", "change",
    "importance-1", "reason", "overwrite",
    "path", "screen", "language", "token", "",
)  # fmt: skip
NEEDED = {
    "open": ("path",),
    "role": ("column", "role"),
    "format": ("column", "format"),
    "person": ("column",),
    "hierarchy": ("column", "rule", "options"),
    "label": ("column", "level", "group", "name"),
    "group": ("column", "level", "group", "name"),
    "regroup": ("column", "level", "group", "name", "into"),
    "join": ("column", "level", "group", "name"),
    "drop_level": ("column", "level"),
    "move": ("k", "suppression", "method", "recoding"),
    "compare": ("ks", "suppressions"),
    "choose": ("run",),
    "follow": ("change",),
    "columns": ("role-0", "kind-1", "importance-1", "ladder-2", "round-5", "odd-3", "code-1-0", "find", "of", "page"),
    "accept": ("column", "reason"),
    "target": ("column",),
    "write": ("name", "overwrite"),
    "language": ("language",),
}
HEADERS = (
    ("Host", "evil.example"), ("Host", None), ("Host", "localhost"), ("Host", "127.0.0.1"), ("Origin", "null"),
    ("Origin", "http://evil.example"), ("Origin", None), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", None),
    ("Sec-Fetch-Site", "same-site"), ("Cookie", None), ("Cookie", "a=b"), ("Cookie", "\xff=;;;"), ("Cookie", '="'),
    ("Content-Type", "text/plain"), ("Content-Type", "application/json"), ("Content-Type", None),
    ("Content-Length", None), ("Content-Length", "-5"), ("Content-Length", "99999999999"), ("Content-Length", "x"),
    ("Transfer-Encoding", "chunked"), ("Accept-Language", "de;q=1,,en-\xff"), ("X", "y" * 500),
)  # fmt: skip
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH", "get", "CONNECT")


def sent(random: randoms.Random) -> tuple[str, str, dict[str, str | None], str]:
    """Draw one request: method, path, headers and body."""
    headers: dict[str, str | None] = dict(random.sample(HEADERS, 1)) if random.random() < 0.15 else {}
    if random.random() < 0.25:
        path = random.choice(
            (
                *(f"/{screen}" for screen in SCREENS),
                *("/", "/state", "/enter", "/enter?token=x", "//evil.example", "/../etc/passwd", "/%2e%2e/secret.csv"),
                *("/columns?" + "a=b&" * 30, "*", "http://evil.example/", "/do/role", "/people.csv", "/\xff"),
                f"/groups?column={quote(random.choice(ODD))}",
                f"/look?sort={quote(random.choice(ODD))}&class={quote(random.choice(ODD))}&page={random.choice('012x')}",
                f"/columns?find={quote(random.choice(ODD))}&page={quote(random.choice(ODD))}",
            )
        )
        method = "GET" if random.random() < 0.7 else random.choice(METHODS)
        return method, quote(path, safe="/?&=%*:"), headers, ""
    action = random.choice(list(ACTIONS))
    names = NEEDED.get(action, ()) if random.random() < 0.85 else random.sample(FIELDS, random.randint(0, 4))
    oddness = random.choice((0.0, 0.0, 0.2, 0.6))
    fields = [(name, _value(random, name, oddness)) for name in names]
    fields += [("group", random.choice("0123"))] * (action in ("group", "join"))
    body = urlencode(fields, encoding="latin-1", errors="replace") if random.random() < 0.95 else "%zz&=&&%ff"
    return "POST", f"/do/{action if random.random() < 0.98 else 'nothing'}", headers, body


def _value(random: randoms.Random, name: str, oddness: float) -> str:
    if random.random() < oddness:
        return random.choice(ODD)
    fitting = {
        "column": "0123456",
        "rule": list(RULES),
        "options": ("4, 3, 2", "5, 10", "month, year", "countries", "2", "groups.csv"),
        "level": "0123",
        "group": "0123",
        "into": ("new", "0", "1"),
        "role": ("identifier", "quasi-identifier", "sensitive", "other"),
        "k": ("2", "3", "5"),
        "ks": ("2", "2,3"),
        "suppressions": ("0", "1"),
        "suppression": ("0", "2"),
        "method": ("mondrian",),
        "recoding": ("readable", "cut"),
        "run": "01",
        "path": ("people.csv",),
        "name": ("out.csv", "group"),
        "overwrite": ("yes",),
        "reason": ("nobody knows it",),
        "language": ("de", "en"),
        "format": ("%d.%m.%Y",),
        "highest_risk": ("0", "50"),
        "role-0": ("identifier", "other"),
        "kind-1": ("", "integer", "category"),
        "importance-1": "123",
        "ladder-2": ("cuts", "units", "auto"),
        "round-5": ("", "2"),
        "page": "12",
    }
    return random.choice(fitting.get(name, ODD))


def folder_of(folder: Path, rows: int = 60) -> Path:
    """Lay out a folder with a table, and what is outside it: a secret, and a link to that."""
    home = folder / "home"
    (home / "sub").mkdir(parents=True)
    (folder / "secret.csv").write_text(f"age,town\n1,{SECRET}\n", encoding="utf-8")
    (home / "link.csv").symlink_to(folder / "secret.csv")
    lines = ["name,age,zip,job,born,diagnosis,note"]
    jobs, ills = ("clerk", "cook", "nurse"), ("flu", "gout", "mumps")
    lines += [
        f"n{i},{20 + i % 30},{10115 + i % 4},{jobs[i % 3]},19{50 + i % 40}-0{1 + i % 9}-11,{ills[i * i % 3]},x{i % 2}"
        for i in range(rows)
    ]
    (home / "people.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (home / "groups.csv").write_text("clerk;a\ncook;a\nnurse;b\n", encoding="utf-8")
    return home


def complaints(visitor: Visitor, random: randoms.Random, n: int) -> list[str]:
    """Send requests, and return what must not be: a fault of the server, or a word from outside the folder."""
    found = []
    for _ in range(n):
        if random.random() < 0.03:
            # Else hardly a search comes to its end.
            visitor.settle()
        method, path, headers, body = sent(random)
        status, text, said = visitor.ask(method, path, headers, body if method == "POST" else None)
        request = f"{method} {path} {headers} {body[:300]}"
        if status >= 500 and status != 501:
            found.append(f"{status}: {request}")
        if SECRET in text or "Traceback" in text or "root:" in text:
            found.append(f"told what nobody may see: {request}")
        if "<script>alert" in text:
            found.append(f"not escaped: {request}")
        if said.get("Cache-Control") != "no-store" or "default-src 'none'" not in said.get(
            "Content-Security-Policy", ""
        ):
            found.append(f"without its headers: {request}")
    job = visitor.server.desk.jobs.job
    if job is not None and "a fault of hushtable" in job.error:
        found.append(f"a job failed: {job.error}")
    return found

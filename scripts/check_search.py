#!/usr/bin/env python3
"""Ask the search of the built site what readers ask, and count where the page that answers stands.

The site's own search worker runs in Node, which public hosts have; without it nothing is checked, and a line says so.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

HTML = Path(__file__).resolve().parent.parent / ".site" / "html"
FIRST = 3
# What readers type, and the pages that answer.
QUESTIONS = {
    "install": ("install",),
    "cite": ("cite",),
    "test synthetic data": ("attacks", "faq", "tutorials/synthetic"),
    "guarantee": ("understand", "faq"),
    "risk": ("risk",),
    "suppression": ("anonymize", "suppress"),
    "l-diversity": ("anonymize",),
    "differential privacy": ("faq",),
    "GDPR": ("faq",),
    "choose k": ("understand", "decide", "faq"),
    "ARX": ("coming_from", "arx_and_sdcmicro"),
    "several records per person": ("linked_records",),
    "what does average risk mean": ("risk", "understand", "faq"),
    "anonymize csv": ("quickstart", "anonymize"),
    "FAQ": ("faq",),
    "HIPAA": ("faq", "risk"),
    "threat model": ("threat_model",),
    "attack synthetic": ("attacks",),
    "missing values": ("reading",),
    "larger than memory": ("engines",),
    "sdcMicro": ("coming_from", "arx_and_sdcmicro"),
    "docker": ("how-to/containers",),
    "exit codes": ("reference/commands/index", "nightly"),
    "hierarchy": ("anonymize", "reference/api/hierarchy"),
    "dates": ("reading", "how-to/dates_and_households"),
    "mpuccs": ("reference/api/mpuccs", "reference/commands/mpuccs", "singling_out"),
    "verify": ("reference/commands/verify", "reference/api/verify", "quickstart"),
    "is it anonymous": ("faq",),
    "why were records suppressed": ("faq",),
    "roadmap": ("roadmap",),
}
# The worker speaks to a page by messages: 0 builds the index, 2 asks, 1 and 3 answer.
ASK = """
const fs = require("fs"), [worker, index, questions] = process.argv.slice(1);
const asked = JSON.parse(questions), items = JSON.parse(fs.readFileSync(index)), found = {};
let n = -1;
const next = () => {
  if (++n === asked.length) return console.log(JSON.stringify(found));
  const nothing = {input: {type: "operator", data: {operator: "and", operands: []}}, aggregation: {input: []}};
  self.onmessage({data: {type: 2, data: {input: asked[n], filter: nothing}}});
};
globalThis.self = {postMessage: (message) => {
  if (message.type === 4) throw new Error("the search fails at " + asked[n]);
  if (message.type === 3) found[asked[n]] = message.data.items.map((item) => items.items[item.id].location);
  next();
}};
(0, eval)(fs.readFileSync(worker, "utf-8"));
self.onmessage({data: {type: 0, data: items}});
"""


def results(questions: list[str]) -> dict[str, list[str]]:
    """Return what the search shows for each question, best first."""
    (worker,) = (HTML / "assets" / "javascripts" / "workers").glob("search.*.js")
    command = ["node", "-e", ASK, str(worker), str(HTML / "search.json"), json.dumps(questions)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main() -> int:
    """Print the questions whose page is not among the first; 1 if there is one."""
    if shutil.which("node") is None:
        print("search not checked: it needs node")
        return 0
    lost = 0
    for question, shown in results(list(QUESTIONS)).items():
        pages = [place.partition("#")[0].removesuffix(".html") for place in shown]
        rank = next((rank for rank, page in enumerate(pages, 1) if page in QUESTIONS[question]), None)
        if rank is None or rank > FIRST:
            lost += 1
            print(f"search: {question!r} shows {QUESTIONS[question][0]} as number {rank}; first: {shown[:FIRST]}")
    print(f"{len(QUESTIONS) - lost} of {len(QUESTIONS)} questions find their page among the first {FIRST}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())

"""A notebook is executed: each plot with its picture, a search with its bar, and all cells of the survey's tutorial."""

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbclient")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
pytest.importorskip("ipykernel", reason="needs ipykernel")
PAGE = Path(__file__).parents[1] / "docs" / "tutorials" / "survey.md"
SURVEY = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S) if PAGE.is_file() else []
SMALL = """import hushtable as ht
survey = ht.datasets.people(60).select("sex", "education", "income", weight=1)
known = ["sex", "education"]
"""
SHOWN = "ht.assess(survey, quasi_identifiers=known).plot()"
BAR = """from hushtable.plots import ProgressBar
ht.anonymize(survey.drop("weight"), quasi_identifiers=known, models=[ht.KAnonymity(5)], method="genetic", roles="trust",
             budget=ht.Budget(nodes=20_000), progress=ProgressBar("evolving"), sensitive=["income"])"""

# The lines of the page themselves are run by tests/test_examples.py, too.
SOURCES = {"small": [SMALL, SHOWN, BAR], "survey": [*SURVEY, BAR]}


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs here")
@pytest.mark.parametrize("name", ["small", pytest.param("survey", marks=pytest.mark.slow)])
def test_a_notebook_shows_its_pictures_and_bars(name, tmp_path):
    cells = [nbformat.v4.new_code_cell(source) for source in SOURCES[name]]
    book = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell in book.cells:
        pictures = [each for each in cell.outputs if "image/png" in each.get("data", {})]
        assert len(pictures) == cell.source.count(".plot()"), cell.source
        assert all(each.output_type != "error" for each in cell.outputs)
    bars = [each["data"]["text/html"] for each in book.cells[-1].outputs if "progress" in str(each.get("data", {}))]
    assert any('<progress value="' in bar and "evolving" in bar for bar in bars)
    told = "".join(str(each.get("text", "")) for cell in book.cells for each in cell.outputs)
    assert "Traceback" not in told

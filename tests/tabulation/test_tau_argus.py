"""Tables of tau-Argus and statuses of sdcTable: they are read as their metadata say, and checked as CSV files are."""

import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.tabulation import read_argus_table

# As rtauargus writes them: cells padded with spaces, and paths of another machine.
RDA = r"""   <SEPARATOR> ","
   <SAFE> "s"
   <UNSAFE> "u"
   <PROTECT> "p"
ACTIVITY
  <RECODEABLE>
  <TOTCODE> "Total"
  <HIERARCHICAL>
  <HIERCODELIST> "Z:\SDC\hrc\activity.hrc"
  <HIERLEADSTRING> "@"
SIZE
  <RECODEABLE>
  <TOTCODE> "Total"
TOT
  <NUMERIC>
  <DECIMALS> 1
N_OBS
  <FREQUENCY>
MAX
  <MAXSCORE>
"""
HRC = "AZ\n@01\n@02\nBE\n@10\n@11\n"
CELLS = {("01", "tr1"): (10.5, 1), ("01", "tr2"): (20, 5), ("02", "tr1"): (30, 1), ("02", "tr2"): (40, 5),
         ("10", "tr1"): (50, 5), ("10", "tr2"): (60, 5), ("11", "tr1"): (70, 5), ("11", "tr2"): (80, 5)}  # fmt: skip
PARTS = {"Total": ["01", "02", "10", "11"], "AZ": ["01", "02"], "BE": ["10", "11"]}


@pytest.fixture
def table(tmp_path):
    lines = []
    for activity in ["01", "02", "10", "11", "AZ", "BE", "Total"]:
        for size in ["tr1", "tr2", "Total"]:
            inside = [CELLS[a, s] for a in PARTS.get(activity, [activity])
                      for s in (["tr1", "tr2"] if size == "Total" else [size])]  # fmt: skip
            total, n = sum(each[0] for each in inside), sum(each[1] for each in inside)
            lines.append(f"{activity:>5},{size:>5},{total:12.4f},{n:6d},{total:9.1f}")
    (tmp_path / "t.tab").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "t.rda").write_text(RDA, encoding="utf-8")
    (tmp_path / "activity.hrc").write_text(HRC, encoding="utf-8")
    (tmp_path / "t.hst").write_text('"01","tr1",u\n"02","tr1",u\n"01","tr2",u\n"02","tr2",u\n', encoding="utf-8")
    return tmp_path / "t.tab"


def test_a_table_is_read_with_the_files_beside_it(table, tmp_path):
    reading = read_argus_table(table).reading
    assert (reading.by, reading.value, reading.frequency) == (("ACTIVITY", "SIZE"), "TOT", "N_OBS")
    assert reading.hierarchies == {"ACTIVITY": {"AZ": ("01", "02"), "BE": ("10", "11")}}
    found = ht.check_tables(table)
    assert found.outcomes == {"protected": 4}
    # Both firms that are alone know all four amounts: they are the corners of one rectangle.
    assert [len(leak.cells) for leak in found.leaks] == [3, 3]
    assert not found.passed
    verdict = ht.check_certificate(read_argus_table(table).frame, found.certificate)
    assert verdict.passed
    told = run("check", table, "--json")
    assert told.code == 1
    assert '"leaks"' in told.out
    done = run("convert", table, "-o", tmp_path / "out")
    assert "no counterpart: column MAX" in done.err
    command = done.err.split(f"Next, in {tmp_path / 'out'}: hushtable ")[1].strip().split(" ")
    assert command == ["check", "t.csv", "--by", "ACTIVITY,SIZE", "--value", "TOT", "--hierarchy",
                       "ACTIVITY=t_ACTIVITY.csv", "--total", "ACTIVITY=Total,SIZE=Total", "--status", "status",
                       "--frequency", "N_OBS"]  # fmt: skip
    out = tmp_path / "out"
    again = ht.check_tables(
        out / "t.csv", by=["ACTIVITY", "SIZE"], value="TOT", total="Total", status="status", frequency="N_OBS",
        hierarchies={"ACTIVITY": out / "t_ACTIVITY.csv"},
    )  # fmt: skip
    assert again.to_dict()["cells"] == found.to_dict()["cells"]
    assert again.to_dict()["leaks"] == found.to_dict()["leaks"]


def test_statuses_decimal_commas_and_levels_by_digits(tmp_path):
    told = ['<SEPARATOR> ";"', 'Region "99"', "<RECODEABLE>", '<TOTCODE> "T"', "<HIERLEVELS> 1 1", "Var2", "<NUMERIC>"]
    (tmp_path / "p.rda").write_text("\n".join([*told, "Stat", "<STATUS>"]), encoding="utf-8")
    rows = [("T", "30,5", "S"), ("1", "10,5", "S"), ("2", "20,0", "S"), ("11", "4,5", "U"), ("12", "6,0", "S"),
            ("21", "20,0", "P")]  # fmt: skip
    (tmp_path / "p.tab").write_text("\n".join(f'"{a}";{b};{c}' for a, b, c in rows), encoding="utf-8")
    found = ht.check_tables(tmp_path / "p.tab")
    assert [(found.system.describe(cell.cell), cell.low) for cell in found.exposed] == [("Region=11", 45)]
    assert found.system.decimals == 1


def test_statuses_of_sdctable_hide_what_stands_there():
    rows = [("a", "3", "u"), ("b", "5", "x"), ("c", "30", "s"), ("Total", "38", "z")]
    table = pl.DataFrame(rows, schema=["g", "n", "sdcStatus"], orient="row")
    found = ht.check_tables(table, status="sdcStatus")
    assert found.outcomes == {"protected": 2}
    assert ht.check_certificate(table, found.certificate).passed
    with pytest.raises(ht.InputError, match="status of row 2 is none"):
        ht.check_tables(table.with_columns(sdcStatus=pl.Series(["u", "?", "s", "s"])), status="sdcStatus")


@pytest.mark.parametrize(
    ("change", "told"),
    [({"t.rda": None}, "no t.rda lies beside it"), ({"activity.hrc": None}, "which is not beside the table"),
     ({"t.tab": "1,2\n"}, "line 1 of .* has 2 columns, and its .rda declares 5"),
     ({"t.rda": "A\n<NUMERIC>\n"}, "declares no labels"), ({"t.rda": 'A "x\n'}, "open quote")],
)  # fmt: skip
def test_what_lacks_is_told(table, change, told):
    for name, text in change.items():
        path = table.with_name(name)
        path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    with pytest.raises(ht.InputError, match=told):
        ht.check_tables(table)

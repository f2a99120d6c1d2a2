"""A car pool publishes every night: folders of Parquet and tables of DuckDB, each night by the cells of the first."""

import pytest
from made_up_people import nights
from shell import Shell

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

N = 3_000


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """The first night, of a table of DuckDB, released by hand, with its cells saved for the job of other nights."""
    shell = Shell(tmp_path_factory.mktemp("pool"))
    with duckdb.connect(str(shell.folder / "pool.duckdb")) as connection:
        for number in (0, 2):
            night = nights(number, N)
            connection.execute(f"CREATE TABLE night{number} AS SELECT * FROM night")
    night = nights(1, N)
    (shell.folder / "night1").mkdir()
    for part in range(3):
        rows = night[part * N // 3 : (part + 1) * N // 3]
        rows.write_parquet(shell.folder / "night1" / f"part-{part}.parquet")
    shell.type("hushtable scan 'duckdb:///pool.duckdb?table=night0' -p policy.yaml")
    assert "\nperson: member" in shell.read("policy.yaml")
    shell.edit("policy.yaml", tariff="quasi-identifier", reason="sensitive")
    told = shell.type(
        "hushtable anonymize 'duckdb:///pool.duckdb?table=night0' -p policy.yaml -o released0 --engine stream "
        "--save-recoding cells.json --set method.mondrian.margin=20"
    )
    assert "by persons" in told.out
    return shell


def read_published(shell, name):
    with duckdb.connect() as connection:
        path = shell.folder / name
        files = str(path / "*.parquet") if path.is_dir() else str(path)
        return connection.execute(
            f"SELECT birth_year, sex, area, tariff, count(*) FROM '{files}' GROUP BY ALL"
        ).fetchall()


def test_a_night_in_a_folder(pool):
    pool.type("hushtable apply cells.json night1 -o released1")
    classes = read_published(pool, "released1")
    n_kept = sum(row[-1] for row in classes if set(row[:-1]) != {"*"})
    assert n_kept >= 0.85 * N
    pool.type("hushtable verify released1 --original night1")
    pool.type("hushtable verify released1")


def test_nobody_is_published_twice(pool):
    first = "'duckdb:///pool.duckdb?table=night0'"
    told = pool.type(f"hushtable apply cells.json night1 -o counted1 --previous {first}")
    both = set(nights(0, N)["member"]) & set(nights(1, N)["member"])
    assert f"{len(both):,} persons are in previous batches" in told.out
    pool.type(f"hushtable apply cells.json night1 -o new1 --previous {first} --distinct-persons")
    is_new = ~nights(1, N)["member"].is_in(list(both))
    assert sum(row[-1] for row in read_published(pool, "new1")) <= is_new.sum()
    pool.type("hushtable verify new1")


def test_a_night_in_duckdb(pool):
    source = "'duckdb:///pool.duckdb?table=night2'"
    pool.type(f"hushtable apply cells.json {source} -o released2.parquet")
    pool.type(f"hushtable verify released2.parquet --original {source}")
    pool.type("hushtable verify released2.parquet")
    assert 0.85 * N <= sum(row[-1] for row in read_published(pool, "released2.parquet")) <= N


def test_two_nights_are_judged_together(pool):
    pool.type("hushtable apply cells.json night1 -o again1")
    seen = pool.type("hushtable attack-release again1 --earlier released0 --original night1")
    assert "intersection" in seen.out
    assert "Not tried: intersection" not in seen.out


def test_a_changed_export_stops_the_job(pool):
    (pool.folder / "changed").mkdir()
    nights(1, N).rename({"area": "district"}).write_parquet(pool.folder / "changed" / "part.parquet")
    stopped = pool.type("hushtable apply cells.json changed -o never", code=2)
    assert "area" in stopped.err
    assert not (pool.folder / "never").exists()

"""Anonymize on Spark while a task kills the executor that runs it, once; run by test_spark.py."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.engines import choosing, lazy
from hushtable.engines.published_cells import PublishedCells


def kill_once(batches, home):
    """Hand batches on; once it is asked for, the first task that comes here kills its Java process."""
    for batch in batches:
        try:
            os.rename(f"{home}/armed", f"{home}/killed")
        except FileNotFoundError:
            yield batch
            continue
        process = os.getppid()
        while "java" not in os.readlink(f"/proc/{process}/exe"):
            with open(f"/proc/{process}/stat") as stat:
                process = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(process, signal.SIGKILL)
        signal.pause()


def prepared(rows):
    """Return a DataFrame of Spark, and what is published of its distinct rows."""
    opened = lazy.opened(rows)
    names = ["age", "sex"]
    keys = opened.collapse(names)
    release = ht.anonymize(ht.Table.encode(keys), quasi_identifiers=names, models=[ht.KAnonymity(500)])
    table = release.frame.decode()
    cells = PublishedCells(
        keys.native,
        pl.DataFrame([table["age"], table["sex"]]),
        np.ones(keys.n_rows, dtype=bool),
        (*names, "note"),
        None,
    )
    return opened, cells


def walking(rows):
    """Return a release whose records are cut one by one, and published where they are."""
    choosing.MOST_COUNTED = 1
    return ht.anonymize(
        rows,
        quasi_identifiers=["age", "sex"],
        models=[ht.KAnonymity(500)],
        method=ht.Mondrian(recoding="readable"),
        roles="trust",
    )


def main(home, folder, walked):
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executor.memory", "1g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    rows = session.read.parquet(str(home / "in.parquet")).repartition(4, "note")
    opened, cells = prepared(rows.mapInArrow(partial(kill_once, home=str(home)), rows.schema))
    # Whatever is lost is lost while it is being written.
    (home / "armed").touch()
    opened.write(cells, folder, 2)
    (home / "killed").unlink()
    release = walking(rows.mapInArrow(partial(kill_once, home=str(home)), rows.schema))
    (home / "armed").touch()
    release.origin.write(release.cells, walked, 2)
    session.stop()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

"""Anonymize on Spark while a task kills the executor that runs it, once; run by test_spark.py."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.anonymizers import beyond_memory, in_parts
from hushtable.engines import lazy, spark
from hushtable.release.origin import PublishedCells


def die_once(armed, killed):
    """Kill the Java process of this task, if it is the first one that comes here since it was asked for."""
    try:
        os.rename(armed, killed)
    except FileNotFoundError:
        return
    process = os.getppid()
    while "java" not in os.readlink(f"/proc/{process}/exe"):
        with open(f"/proc/{process}/stat") as stat:
            process = int(stat.read().rpartition(")")[2].split()[1])
    os.kill(process, signal.SIGKILL)
    signal.pause()


def kill_once(batches, home):
    """Hand batches on; once it is asked for, the first task that comes here kills its Java process."""
    for batch in batches:
        die_once(f"{home}/armed", f"{home}/killed")
        yield batch


def settle_or_die(settle, home, item):
    """Cut a class and write what it publishes; the first task dies between the two and another one."""
    made = settle(item)
    die_once(f"{home}/armed to cut", f"{home}/killed while cutting")
    return made


class Dying(spark.Executors):
    """Executors of which one dies while classes are cut."""

    home = ""

    def map(self, work, items):
        """Do the work, with a death among what is cut."""
        dies = getattr(work, "__name__", "") == "settle"
        return super().map(partial(settle_or_die, work, self.home) if dies else work, items)


def prepared(rows):
    """Return a DataFrame of Spark, and what is published of its distinct rows."""
    opened = lazy.open_lazy(rows)
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
    beyond_memory.MOST_COUNTED, in_parts._MAX_RECORDS_PER_WORKER = 1, 3000
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
    Dying.home, spark.Executors = str(home), Dying
    (home / "armed to cut").touch()
    release = walking(rows.mapInArrow(partial(kill_once, home=str(home)), rows.schema))
    (home / "armed").touch()
    release.origin.write(release.cells, walked, 2)
    session.stop()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

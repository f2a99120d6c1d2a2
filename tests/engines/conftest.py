"""One Spark session for the whole suite, where Spark is."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest

ASKED = "HUSHTABLE_SPARK"
"""Set by `make test-spark`: tests on Spark run, and what they lack is a failure."""


@pytest.fixture(scope="session")
def java() -> Path:
    """Return the home of a Java that Spark runs on; skip the test where there is none, or no PySpark."""
    home = _java() if os.environ.get(ASKED) and importlib.util.find_spec("pyspark") else None
    if home is None:
        reason = "needs pyspark and Java 17"
        if os.environ.get(ASKED):
            pytest.fail(f"{ASKED} is set: {reason}")
        pytest.skip(f"{reason}: make test-spark")
    return home


@pytest.fixture(scope="session")
def spark(java, tmp_path_factory):
    """Return a session of two threads; all tests of a process share it, because it takes seconds to start."""
    from pyspark.sql import SparkSession

    os.environ["JAVA_HOME"] = str(java)
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "Europe/Berlin",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def _java() -> Path | None:
    """Return the home of a Java 17 or later: the one that is named, the one on the path, or one that is installed."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    installed = Path("/usr/lib/jvm")
    homes += [*sorted(installed.glob("*17*")), *sorted(installed.glob("*21*")), Path("/usr")]
    return next((home for home in homes if _version(home / "bin" / "java") >= 17), None)


def _version(java: Path) -> int:
    if not java.is_file():
        return 0
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else 0

"""Raw Adult as a sample of the United States, as ARX's documentation has it."""

import polars as pl
import pytest

from hushtable.risk.population import SampleClasses
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


@pytest.fixture
def adult_classes(shared_file):
    """Return the classes by ARX's eight columns."""
    frame = pl.read_csv(shared_file("data/arx_adult/adult.csv"), separator=";", infer_schema=False)
    partition = Partition.from_table(Table.encode(frame, COLUMNS), COLUMNS)
    return SampleClasses.from_sizes(partition.sizes, 317_238_626)

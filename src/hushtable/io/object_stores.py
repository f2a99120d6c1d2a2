"""Parquet files of an object store (``s3://``, ``gs://``, ``az://``), read by polars, which finds its credentials."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import polars as pl

from hushtable.errors import HushError, InputError
from hushtable.io.sources import Source
from hushtable.search import check_memory

_CREDENTIAL_NAMES: Final = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION",
    "gs": "GOOGLE_SERVICE_ACCOUNT, GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY",
}


def lazy_objects(source: Source) -> tuple[pl.LazyFrame, float]:
    """Return a file, or all files of a folder or pattern, as a lazy frame, and the least bytes of its cells."""
    with _translate_errors(source):
        frame = pl.scan_parquet(_to_polars_url(source.url))
        types = frame.collect_schema().values()
        n_rows = frame.select(pl.len()).collect().item()
    widths = [16.0 if dtype.is_nested() or isinstance(dtype, (pl.String, pl.Binary)) else 8.0 for dtype in types]
    return frame, n_rows * sum(widths)


def read_objects(source: Source, room: str) -> pl.DataFrame:
    """Read a file into memory; ``room`` says what to do where it does not fit."""
    frame, n_bytes = lazy_objects(source)
    check_memory(n_bytes, f"reading {source}", room)
    with _translate_errors(source):
        return frame.collect()


def _to_polars_url(url: str) -> str:
    """Return a URL in polars' form: one of Google's two schemes, in lower case."""
    scheme, _, rest = url.partition(":")
    return f"{scheme.lower().replace('gcs', 'gs')}:{rest}"


@contextlib.contextmanager
def _translate_errors(source: Source) -> Iterator[None]:
    """Turn polars' errors into InputError: a store's answer may quote a request with credentials."""
    try:
        yield
    except HushError:
        raise
    # Polars panics over some damage.
    except (Exception, pl.exceptions.PanicException) as error:
        raise InputError(
            f"{source} cannot be read: {type(error).__name__}.",
            hint="check that the file is there and is Parquet, and that polars finds credentials: "
            "environment variables "
            f"such as {_CREDENTIAL_NAMES.get(_to_polars_url(source.url)[:2], _CREDENTIAL_NAMES['az'])}, or the "
            "store's own files.",
        ) from None

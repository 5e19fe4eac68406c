"""Parquet: tables of published data sets, read with pyarrow where it is installed."""

from collections.abc import Iterator
from typing import Any

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, MAX_LINES, UNPACKED_LIMIT, Confidence, Source, Table, reads
from playground.reading.formats.items import VALUE_LIMIT, make_table

_BATCH = 65_536  # rows


@reads(Confidence.SIGNATURE, is_whole=True)
def read_parquet(source: Source) -> Table | None:
    """Reads columns of text, or of a `translation` into several languages."""
    if not source.data.startswith(b"PAR1"):
        return None
    name = source.name
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise Refusal("data.parquet_missing", name=name) from None
    try:
        file = ParquetFile(pyarrow.BufferReader(source.data))
        texts = _check_size(file.metadata, name)
        file = ParquetFile(pyarrow.BufferReader(source.data), read_dictionary=texts)
        return make_table("parquet", name, enumerate(_iterate_items(file, name), 1), unit="row")
    except (Refusal, MemoryError):
        raise
    except Exception:  # Arrow's own exceptions, and those of the code under it
        raise Refusal("data.parquet_broken", name=name) from None


def _check_size(metadata: Any, name: str) -> list[str]:
    """Checks the declared size; returns the text columns.

    Uses metadata of row groups only: damaged metadata of columns crashes the process (pyarrow 26).
    """
    if metadata.num_rows > MAX_LINES:
        raise Refusal("data.too_many_items", name=name, limit=MAX_LINES)
    if metadata.num_columns > COLUMN_LIMIT:
        raise Refusal("data.too_many_columns", name=name, limit=COLUMN_LIMIT)
    if sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)) > UNPACKED_LIMIT:
        raise Refusal("data.unpacked_too_large", name=name, limit=UNPACKED_LIMIT // 1024**2)
    columns = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def _iterate_items(file: Any, name: str) -> Iterator[dict[str, Any]]:
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group]):
            columns = {field: _list_values(batch.column(place), name) for place, field in enumerate(batch.schema.names)}
            for row in zip(*columns.values(), strict=True):
                yield dict(zip(columns, row, strict=True))


def _list_values(array: Any, name: str) -> list[Any]:
    """Returns the values of an array. Texts are stored once, as in the file's dictionary, however often they occur."""
    from pyarrow import types

    if types.is_dictionary(array.type):
        texts = array.dictionary.to_pylist()
        return [None if place is None else texts[place] for place in array.indices.to_pylist()]
    if types.is_struct(array.type):
        names = [field.name for field in array.type]
        inner = [_list_values(child, name) for child in array.flatten()]
        return [dict(zip(names, row, strict=True)) for row in zip(*inner, strict=True)] if inner else [None] * len(array)
    if types.is_list(array.type) or types.is_large_list(array.type):
        if types.is_primitive(array.type.value_type):
            return [None] * len(array)  # lists of numbers are not sentences
        flat = array.flatten()
        if len(flat) > VALUE_LIMIT:
            raise Refusal("data.too_many_values", name=name, limit=VALUE_LIMIT)
        inner = iter(_list_values(flat, name))
        return [None if length is None else [next(inner) for _ in range(length)] for length in array.value_lengths().to_pylist()]
    return array.to_pylist()

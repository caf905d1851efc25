"""Writes Tests/Fixtures/tables: Parquet files as pyarrow writes them, and the same rows as JSON lines.

    "$(Scripts/lib/environment light)" Scripts/tables/parquet-fixtures.py [FOLDER]

Rows are a function of their number, so that the files are the same each time; those that are encrypted
have keys drawn at random.
Fields that are null are left out of the JSON, but for `content`, which Skein keeps as null.
"""

import datetime
import decimal
import itertools
import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

VERSION = "26.0.1"
WORDS = ["Straße", "🦙 lama", "日本語", 'a "quote"', "back\\slash", "line\nbreak", "tab\t", "plain words", "\u0001"]


def text(number, length):
    return " ".join(WORDS[(number * 7 + step * step) % len(WORDS)] for step in range(length))


def flat(number):
    return {
        "instruction": f"{number}: " + text(number, 2),
        "input": None if number % 3 == 0 else "" if number % 3 == 1 else text(number + 1, 1),
        "output": text(number + 2, 3),
        "category": None if number % 11 == 5 else ["brainstorm", "closed_qa", "summary"][number // 5 % 3],
        "raw": None if number % 7 == 3 else text(number, 1).encode(),
        "count": None if number % 5 == 1 else (-1) ** number * 2 ** (number % 63), "small": number - 20,
        "byte": number * 5 % 256, "wide": 2**32 - 1 - number, "huge": 2**64 - 1 - number,
        "score": None if number % 9 == 4 else [0.1, 1e300, -2.5, 5e-324, 1 / 3, -0.0, 1e16][number % 7],
        "weight": number / 8, "flag": None if number % 4 == 2 else number % 3 == 0, "always": number % 2 == 0,
        "never": None}


FLAT = pa.schema(
    [
        pa.field("instruction", pa.string(), nullable=False), ("input", pa.string()), ("output", pa.large_string()),
        ("category", pa.dictionary(pa.int32(), pa.string())), ("raw", pa.binary()), ("count", pa.int64()),
        ("small", pa.int16()), ("byte", pa.uint8()), ("wide", pa.uint32()), ("huge", pa.uint64()),
        ("score", pa.float64()), ("weight", pa.float32()), ("flag", pa.bool_()),
        pa.field("always", pa.bool_(), nullable=False), ("never", pa.null())]
)


def call(number):
    arguments = None if number % 4 == 3 else json.dumps({"place": WORDS[number % len(WORDS)]})
    return {"id": f"call_{number}", "function": {"name": f"f{number % 3}", "arguments": arguments}}


def message(number, turn):
    calls = turn % 2 == 1 and (number + turn) % 3 == 0
    return {
        "role": ["user", "assistant"][turn % 2],
        "content": None if calls else "" if (number + turn) % 8 == 0 else text(number + turn, 1 + turn % 3),
        "tool_calls": [call(number + index) for index in range(1 + number % 2)] if calls else None,
        "train": None if turn % 2 == 0 else number % 2 == 0}


def conversation(number):
    tool = {"name": f"f{number % 3}", "parameters": {"required": [["place"], [], None][number % 3]}}
    return {
        "id": number,
        "messages": None if number % 13 == 7 else [message(number, turn) for turn in range(number * 3 % 6)],
        "tools": [None, [], [{"type": "function", "function": tool}], [None, {"type": None, "function": None}]][
            number % 4
        ],
        "tags": [None, [], ["a", None, "Straße"], [None], [""]][number % 5],
        "grid": [None, [], [[]], [[1, 2], None, [], [None, 3]], [[number]]][number % 5],
        "meta": None if number % 6 == 2 else {"source": None if number % 6 == 3 else "web", "scores": [number / 4]},
    }


CALL = pa.struct([("id", pa.string()), ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())]))])
MESSAGE = pa.struct(
    [("role", pa.string()), ("content", pa.string()), ("tool_calls", pa.list_(CALL)), ("train", pa.bool_())]
)
TOOL = pa.struct(
    [
        ("type", pa.string()),
        (
            "function",
            pa.struct([("name", pa.string()), ("parameters", pa.struct([("required", pa.list_(pa.string()))]))]))]
)
CONVERSATIONS = pa.schema(
    [
        ("id", pa.int64()), ("messages", pa.list_(MESSAGE)), ("tools", pa.large_list(TOOL)),
        ("tags", pa.list_(pa.string())), ("grid", pa.list_(pa.list_(pa.int32()))),
        ("meta", pa.struct([("source", pa.string()), ("scores", pa.list_(pa.float64(), 1))]))]
)


def as_json(value):
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items() if item is not None or key == "content"}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def write_json(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(as_json(row), ensure_ascii=False, separators=(",", ":")) + "\n")


def write(path, rows, schema, **options):
    table = pa.Table.from_pylist(rows, schema=schema)
    usual = dict(row_group_size=22, data_page_size=128, write_batch_size=4, dictionary_pagesize_limit=1 << 20)
    pq.write_table(table, path, **{**usual, **options})


class Keys(pe.KmsClient):
    def __init__(self, _):
        super().__init__()

    def wrap_key(self, key, _):
        return key.hex()

    def unwrap_key(self, key, _):
        return bytes.fromhex(key)


def write_encrypted(path, table, **options):
    factory = pe.CryptoFactory(lambda configuration: Keys(configuration))
    properties = factory.file_encryption_properties(
        pe.KmsConnectionConfig(),
        pe.EncryptionConfiguration(footer_key="k", column_keys={"k": ["prompt"]}, **options))
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)


def main(folder):
    assert pa.__version__ == VERSION, f"this wants pyarrow=={VERSION}, not {pa.__version__}"
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    rows = {"flat": [flat(n) for n in range(50)], "messages": [conversation(n) for n in range(50)]}
    schemas = {"flat": FLAT, "messages": CONVERSATIONS}
    for kind in rows:
        write_json(f"{kind}.jsonl", rows[kind])
    for kind, codec, version, dictionary in itertools.product(
        rows, ["none", "snappy", "zstd"], ["1.0", "2.0"], [True, False]
    ):
        name = f"{kind}-{codec}-v{version[0]}-{'dictionary' if dictionary else 'plain'}.parquet"
        options = dict(compression=codec, data_page_version=version, use_dictionary=dictionary)
        write(name, rows[kind], schemas[kind], write_statistics=codec == "none", **options)
    # What pyarrow does without options, and what it can do besides.
    table = pa.Table.from_pylist(rows["messages"], schema=CONVERSATIONS)
    pq.write_table(table, "messages-default.parquet")
    write("messages-fallback.parquet", rows["messages"], CONVERSATIONS, dictionary_pagesize_limit=64)
    write("messages-checksum.parquet", rows["messages"], CONVERSATIONS, write_page_checksum=True)
    write("flat-checksum.parquet", rows["flat"], FLAT, write_page_checksum=True, data_page_version="2.0")
    write("flat-empty.parquet", [], FLAT)

    pairs = pa.schema([("prompt", pa.string()), ("completion", pa.string()), ("n", pa.int64()), ("x", pa.float64())])
    few = [{"prompt": f"p{n}", "completion": f"c{n}", "n": n, "x": n / 2} for n in range(4)]
    for codec in ["gzip", "brotli", "lz4"]:
        write(f"refused-{codec}.parquet", few, pairs, compression=codec)
    for column, encoding in [
        ("prompt", "DELTA_BYTE_ARRAY"),
        ("completion", "DELTA_LENGTH_BYTE_ARRAY"),
        ("n", "DELTA_BINARY_PACKED"),
        ("x", "BYTE_STREAM_SPLIT"),
    ]:
        write(f"refused-{encoding}.parquet", few, pairs, use_dictionary=False, column_encoding={column: encoding})
    table = pa.Table.from_pylist(few, schema=pairs)
    write_encrypted("refused-encrypted.parquet", table)
    write_encrypted("refused-encrypted-columns.parquet", table, plaintext_footer=True)

    # Types that are refused when they are wanted, beside a column that can be read.
    day = datetime.datetime(2026, 1, 2, 3, 4, 5)
    others = pa.schema(
        [
            ("prompt", pa.string()), ("time", pa.timestamp("us")), ("day", pa.date32()), ("hour", pa.time64("us")),
            ("price", pa.decimal128(9, 2)), ("fixed", pa.binary(4)), ("half", pa.float16()),
            ("pairs", pa.map_(pa.string(), pa.int64())), ("nested", pa.list_(pa.struct([("day", pa.date32())])))]
    )
    row = {
        "prompt": "p", "time": day, "day": day.date(), "hour": day.time(), "price": decimal.Decimal("1.25"),
        "fixed": b"abcd", "half": 0.5, "pairs": [("a", 1)], "nested": [{"day": day.date()}]}  # fmt: skip
    write("types.parquet", [row], others)
    write("types-int96.parquet", [row], others, use_deprecated_int96_timestamps=True)

    # Rows that are refused, between rows that are not.
    bad = pa.schema([("prompt", pa.binary()), ("x", pa.float64()), ("y", pa.float32())])
    write(
        "bad-rows.parquet",
        [
            {"prompt": b"good", "x": 1.0, "y": 1.0}, {"prompt": b"\xff\xfe", "x": 1.0, "y": 1.0},
            {"prompt": b"nan", "x": float("nan"), "y": 1.0}, {"prompt": b"inf", "x": 1.0, "y": float("-inf")},
            {"prompt": b"good", "x": 2.0, "y": 0.1}],
        bad)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "Tests/Fixtures/tables")

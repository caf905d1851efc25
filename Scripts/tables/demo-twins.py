"""Writes pairs of prompt and completion as JSONL and as Parquet in each way that Skein reads, and as conversations likewise."""

import itertools
import json
import os
import sys

import pyarrow
import pyarrow.parquet


def main():
    source, directory = sys.argv[1:]
    with open(source) as file:
        pairs = [json.loads(line) for line in file]
    pairs = [{"prompt": pair["prompt"], "completion": pair["completion"]} for pair in pairs]
    conversations = [
        {
            "messages": [
                {"role": "user", "content": pair["prompt"]}, {"role": "assistant", "content": pair["completion"]}]
        }
        for pair in pairs
    ]
    for name, rows in [("pairs", pairs), ("messages", conversations)]:
        with open(os.path.join(directory, name + ".jsonl"), "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        table = pyarrow.Table.from_pylist(rows)
        ways = itertools.product(["none", "snappy", "zstd"], ["1.0", "2.0"], [True, False])
        for codec, version, dictionary in ways:
            path = f"{name}-{codec}-v{version[0]}-{'dictionary' if dictionary else 'plain'}.parquet"
            pyarrow.parquet.write_table(
                table, os.path.join(directory, path), compression=codec, data_page_version=version,
                use_dictionary=dictionary, row_group_size=700, data_page_size=16384)
        pyarrow.parquet.write_table(table, os.path.join(directory, name + "-default.parquet"))


main()

"""Writes Tests/Fixtures/tables/fastparquet*: Parquet files as fastparquet writes them, and the same rows as JSON lines.

    python3 -m venv /tmp/fp && /tmp/fp/bin/pip install fastparquet==2026.9.0
    /tmp/fp/bin/python Scripts/tables/fastparquet-fixtures.py [FOLDER]

Its metadata has empty lists whose elements have type 0. Rows are a function of their number. Fields that are null are
left out of the JSON.
"""

import json
import os
import sys

import fastparquet
import pandas

VERSION = "2026.9.0"


def row(number):
    return {
        "prompt": f"{number}: Straße 🦙 \"quoted\"\n" * (1 + number % 3),
        "completion": None if number % 4 == 1 else f"answer {number}",
        "category": ["brainstorm", "closed_qa", "summary"][number // 5 % 3], "count": (-1) ** number * 3**number,
        "score": number / 8, "flag": number % 3 == 0}


def main(folder):
    assert fastparquet.__version__ == VERSION, f"this wants fastparquet=={VERSION}, not {fastparquet.__version__}"
    rows = [row(number) for number in range(30)]
    with open(os.path.join(folder, "fastparquet.jsonl"), "w") as file:
        for fields in rows:
            kept = {key: value for key, value in fields.items() if value is not None}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    frame = pandas.DataFrame(rows)
    frame["category"] = frame["category"].astype("category")
    for name, options in [
        ("none", dict(compression=None)),
        ("snappy", dict(compression="SNAPPY")),
        ("zstd", dict(compression="ZSTD", row_group_offsets=[0, 10, 11])),
    ]:
        fastparquet.write(os.path.join(folder, f"fastparquet-{name}.parquet"), frame, **options)
    # Lists and objects become JSON text.
    turns = [
        [{"role": "user", "content": f"question {n}\n"}, {"role": "assistant", "content": f"[answer] {n}"}]
        for n in range(3)
    ]
    frame = pandas.DataFrame({"messages": turns, "note": [["a", n] for n in range(3)]})
    fastparquet.write(os.path.join(folder, "json-messages.parquet"), frame)


main(sys.argv[1] if len(sys.argv) > 1 else "Tests/Fixtures/tables")

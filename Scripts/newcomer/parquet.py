"""A Parquet file of texts, in the plainest form that there is: one page for each column, neither packed nor compressed."""

import json

# The types that Thrift's compact protocol knows.
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def value(kind, given):
    if kind in (I32, I64):
        return varint(given << 1)
    if kind == BINARY:
        return varint(len(given.encode())) + given.encode()
    if kind == STRUCT:
        return struct(*given)
    kind, items = given
    return bytes([len(items) << 4 | kind]) + b"".join(value(kind, item) for item in items)


def struct(*fields):
    """Fields are (number, kind, value), in rising order."""
    out, last = b"", 0
    for number, kind, given in fields:
        out += bytes([(number - last) << 4 | kind]) + value(kind, given)
        last = number
    return out + b"\0"


def write(path, rows, names):
    """Rows of a JSONL file, of whose keys `names` says the columns' names."""
    with open(rows, encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    data, chunks = b"PAR1", []
    for key, name in names.items():
        texts = [row[key].encode() for row in found]
        page = b"".join(len(text).to_bytes(4, "little") + text for text in texts)
        head = struct((1, I32, 0), (2, I32, len(page)), (3, I32, len(page)),
                      (5, STRUCT, [(1, I32, len(texts)), (2, I32, 0), (3, I32, 3), (4, I32, 3)]))
        size = len(head) + len(page)
        about = [(1, I32, 6), (2, LIST, (I32, [0])), (3, LIST, (BINARY, [name])), (4, I32, 0), (5, I64, len(texts)),
                 (6, I64, size), (7, I64, size), (9, I64, len(data))]
        chunks.append([(2, I64, len(data)), (3, STRUCT, about)])
        data += head + page
    columns = [[(1, I32, 6), (3, I32, 0), (4, BINARY, name), (6, I32, 0)] for name in names.values()]
    schema = [[(4, BINARY, "schema"), (5, I32, len(columns))], *columns]
    group = [(1, LIST, (STRUCT, chunks)), (2, I64, len(data)), (3, I64, len(found))]
    foot = struct((1, I32, 1), (2, LIST, (STRUCT, schema)), (3, I64, len(found)), (4, LIST, (STRUCT, [group])))
    with open(path, "wb") as file:
        file.write(data + foot + len(foot).to_bytes(4, "little") + b"PAR1")

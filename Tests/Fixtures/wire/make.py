"""Writes the example frames of docs/PROTOCOL.md, from the document and not from Skein's code.

    python3 Tests/Fixtures/wire/make.py docs/PROTOCOL.md

Python 3.8 or later, nothing else. `GoldenFrameTests` makes the same frames with Skein.
"""
import hashlib
import hmac
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def text(value):
    data = value.encode()
    return struct.pack("<H", len(data)) + data


def key(round_, index):
    return struct.pack("<QI", round_, index)


def digest(text_):
    return hashlib.sha256(text_.encode()).digest()


def run(start, count):
    return bytes((start + i) % 256 for i in range(count))


TOKEN = b"skein"
TERM = 7
MODEL, DATA, OPTIONS, VALUES = run(0x60, 32), run(0x80, 32), run(0xA0, 32), run(0xD0, 32)
ANSWER = run(0x01, 32)

hello = (struct.pack("<BBB", 4, 4, 1) + text("goose-1") + run(0x10, 16) + run(0x20, 32)
         + text("skein 0.1.0"))
challenge = struct.pack("<B", 4) + run(0x40, 32)
transcript = hashlib.sha256(hello + challenge).digest()
worker_proof = mac(TOKEN, b"skein worker proof 1", transcript)
coordinator_proof = mac(TOKEN, b"skein coordinator proof 1", transcript)
session = mac(TOKEN, b"skein session 1", transcript)
up = mac(session, b"worker to coordinator")
down = mac(session, b"coordinator to worker")

offer = (coordinator_proof + struct.pack("<I", TERM) + run(0xC0, 16) + MODEL + DATA + OPTIONS
         + VALUES + ANSWER
         + text("skein 0.1.0 openblas 0.3.30 Haswell f32")
         + struct.pack("<I", 10) + b'{"rank":8}' + struct.pack("<II", 512, 1)
         + text("model.safetensors") + struct.pack("<Q", 5) + hashlib.sha256(b"goose").digest())
ready = (MODEL + DATA + OPTIONS + VALUES + ANSWER + text("skein 0.1.0 openblas 0.3.30 Haswell f32")
         + struct.pack("<HQ", 2, 3) + digest("old parameters") + struct.pack("<I", 1) + key(4, 1))
lease = (key(5, 2) + struct.pack("<IBIQ", 1, 1, 9, 3) + digest("old parameters") + struct.pack("<I", 1)
         + struct.pack("<II4i", 17, 4, 1, 450, 28, 2) + struct.pack("<III", 1, 2, 4))
result = (key(5, 2) + struct.pack("<IBIIId", 1, 1, 4, 2, 0, 5.25)
          + digest("gradient") + digest("inputs") + b"packed")

rows = (struct.pack("<I", 2) + struct.pack("<II4i", 17, 4, 1, 450, 28, 2)
        + struct.pack("<III", 1, 2, 4) + struct.pack("<II2i", 18, 2, 1, 2)
        + struct.pack("<III", 1, 1, 2))
local_lease = (key(6, 1) + struct.pack("<IBIQ", 1, 3, 10, 4) + digest("parameters")
               + digest("state") + struct.pack("<BQ", 1, 40) + rows + struct.pack("<IIIII", 2, 1, 1, 1, 1))


pair_lease = (key(7, 0) + struct.pack("<IBIQ", 1, 0x81, 11, 5) + digest("new parameters")
              + rows
              + struct.pack("<dI2d", 0.5, 2, -3.25, -7.5))


def counted(value):
    return struct.pack("<I", len(value)) + value


replay = (key(6, 1) + struct.pack("<IQQ", 8, 16, 40) + counted(b"saved") + counted(b"outer")
          + struct.pack("<I", 1) + rows + struct.pack("<III", 1, 1, 2) + counted(b"average"))

# Who speaks (w worker, c coordinator), name, type, term, has a tag, message.
FRAMES = [
    ("w", "HELLO", 1, 0, False, hello),
    ("c", "CHALLENGE", 2, 0, False, challenge),
    ("w", "AUTHENTICATION", 3, 0, False, worker_proof),
    ("c", "OFFER", 5, TERM, True, offer),
    ("w", "MODEL_REQUEST", 6, TERM, True, struct.pack("<IQ", 0, 0)),
    ("c", "MODEL_CHUNK", 7, TERM, True,
     struct.pack("<IQ", 0, 0) + b"goose"),
    ("w", "READY", 8, TERM, True, ready),
    ("c", "WELCOME", 9, TERM, True, struct.pack("<II", 500, 2500)),
    ("c", "PARAMETERS", 11, TERM, True,
     struct.pack("<QQ", 4, 3) + hashlib.sha256(b"parameters").digest() + b"delta"),
    ("w", "PARAMETER_REQUEST", 12, TERM, True, struct.pack("<Q", 4)),
    ("c", "LEASE", 13, TERM, True, lease),
    ("w", "HEARTBEAT", 10, TERM, True,
     struct.pack("<QQI", 123456789, 0, 1) + key(5, 2) + struct.pack("<H", 250)),
    ("c", "CANCELLATION", 14, TERM, True, key(5, 3)),
    ("w", "RESULT", 15, TERM, True, result),
    ("c", "ANSWER", 16, TERM, True, key(5, 2) + struct.pack("<B", 4) + text("a NaN at 12")),
    ("c", "LEASE of local steps", 13, TERM, True, local_lease),
    ("w", "STATE_REQUEST", 20, TERM, True, key(6, 1)),
    ("c", "STATE_REPLAY", 21, TERM, True, replay),
    ("c", "LEASE of pairs", 13, TERM, True, pair_lease),
    ("w", "LEAVE", 17, TERM, True, struct.pack("<B", 1) + text("SIGTERM")),
    ("w", "STATUS_REQUEST", 18, TERM, True, b""),
    ("c", "STATUS", 19, TERM, True, b"{}"),
    ("c", "REJECTION", 4, TERM, True,
     struct.pack("<H", 10) + text("3 failures") + struct.pack("<I", 30000)),
]


OLD = (struct.pack("<H", 1)
       + text("the peer speaks version 1 of the protocol, this is version 2") + struct.pack("<I", 0))


def header(major, number, term, sequence, message, checksum):
    head = struct.pack("<4sBBHHHIQIII", b"SKNF", major, 4, number, 0, 40, term, sequence,
                       len(message), len(message), checksum)
    return head + struct.pack("<I", crc32c(head))


def example(title, frame):
    words = [frame[i:i + 4].hex() for i in range(0, len(frame), 4)]
    return (["", title, "", "```hex"] + [" ".join(words[i:i + 8]) for i in range(0, len(words), 8)]
            + ["```"])


def main(path):
    out = ["<!-- made by Tests/Fixtures/wire/make.py -->", "", "| secret | bytes |", "|---|---|"]
    for name, value in [("transcript", transcript), ("worker proof", worker_proof),
                        ("coordinator proof", coordinator_proof), ("session key", session),
                        ("worker to coordinator", up), ("coordinator to worker", down)]:
        out.append(f"| {name} | `{value.hex()}` |")
    sequence = {"w": 0, "c": 0}
    for who, name, number, term, tagged, message in FRAMES:
        digest = hashlib.sha256(message).digest()
        head = header(2, number, term, sequence[who], message, struct.unpack("<I", digest[:4])[0])
        frame = head + message
        if tagged:
            frame += mac(up if who == "w" else down, head, digest)[:16]
        speaker = {"w": "worker", "c": "coordinator"}[who]
        out += example(f"{name}, {speaker}, sequence {sequence[who]}:", frame)
        sequence[who] += 1
    out += example("REJECTION for a worker of major version 1, in its own version:",
                   header(1, 4, 0, 0, OLD, crc32c(OLD)) + OLD)
    with open(path) as file:
        document = file.read()
    start = document.index("<!-- made by")
    end = document.index("<!-- end of examples -->")
    with open(path, "w") as file:
        file.write(document[:start] + "\n".join(out) + "\n\n" + document[end:])


main(sys.argv[1])

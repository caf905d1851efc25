"""Clients that hold what a server has for others: places, memory, its time. Each returns, or raises, when the server ends it."""
import asyncio, json

COMPLETION = "/v1/completions"
MIB = 1 << 20


async def connect(port):
    return await asyncio.open_connection("127.0.0.1", port, limit=1 << 16)


def head(path, length, key=""):
    key = f"Authorization: Bearer {key}\r\n" if key else ""
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{key}"
            f"Content-Length: {length}\r\n\r\n").encode()


async def trickle(reader, writer, piece, pause, count=10_000):
    """Sends pieces and never looks at an answer until the server has hung up."""
    try:
        for _ in range(count):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
    finally:
        writer.transport.abort()


async def hold(port, data, piece=b"", pause=1.0):
    reader, writer = await connect(port)
    try:
        writer.write(data)
        await writer.drain()
    except OSError:
        writer.transport.abort()
        raise
    await trickle(reader, writer, piece, pause)


async def keyless_bodies(port, key):
    """A refused head, and a body of 1 MiB of which all but the end comes at once."""
    await hold(port, head(COMPLETION, MIB) + b" " * (MIB - 100), b" ", 1)


async def trickled_keyless_bodies(port, key):
    """The same, as slowly as a body may come."""
    await hold(port, head(COMPLETION, MIB), b" " * 2048, 0.1)


async def trickled_heads(port, key):
    """A head that never ends."""
    await hold(port, b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"a", 0.5)


async def slow_readers(port, key):
    """Asks for the page again and again, and reads nothing."""
    reader, writer = await connect(port)
    writer.transport.pause_reading()
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 400)
    try:
        await asyncio.sleep(20)
    finally:
        writer.transport.abort()


async def keyed_bodies(port, key):
    """A body of 1 MiB of one who has a key, of which all but the end comes at once."""
    await hold(port, head(COMPLETION, MIB, key) + b" " * (MIB - 100), b" ", 1)


async def trickled_keyed_bodies(port, key):
    """A body of one who has a key, as slowly as it may come."""
    await hold(port, head(COMPLETION, MIB, key), b" " * 2048, 0.1)


async def flood(port, key, fields):
    """A request that is answered as long as the server likes, or refused: then it comes again a little later."""
    reader, writer = await connect(port)
    try:
        body = json.dumps({"model": "base", "ignore_eos": True, **fields}).encode()
        writer.write(head(COMPLETION, len(body), key) + body)
        await writer.drain()
        while await reader.read(1 << 16):
            pass
        await asyncio.sleep(0.2)
    finally:
        writer.transport.abort()


async def floods_of_answers(port, key):
    """64 long answers to each request of one who has another key."""
    await flood(port, key, {"prompt": "Once", "n": 64, "max_tokens": 2000, "stream": True})


async def floods_of_prompts(port, key):
    """Long prompts of one who has another key, 60 in a request."""
    prompts = [[1 + (7 * place + number) % 1000 for place in range(900)] for number in range(60)]
    await flood(port, key, {"prompt": prompts, "max_tokens": 1})


FLOODS = [floods_of_answers, floods_of_prompts]
SIEGES = [keyless_bodies, trickled_keyless_bodies, trickled_heads, slow_readers, keyed_bodies, trickled_keyed_bodies, *FLOODS]

"""One HTTP connection of Scripts/soak-serve."""
import asyncio, json

from soak_checks import Wrong


class Wire:
    """One connection, with the little of HTTP that is needed to see every byte."""

    def __init__(self, port, key=None):
        self.port, self.key = port, key

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        return self

    async def __aexit__(self, *_):
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except OSError:
            pass

    def head(self, path, length, method="POST", close=False):
        extra = "Connection: close\r\n" if close else ""
        if self.key:
            extra += f"Authorization: Bearer {self.key}\r\n"
        return (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {length}\r\n{extra}\r\n").encode()

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def ask(self, path, body, method="POST"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self.send(self.head(path, len(data), method) + data)

    async def answer_head(self):
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        if not lines[0].startswith("HTTP/1.1 "):
            raise Wrong(f"the status line {lines[0]!r}")
        headers = {}
        for line in lines[1:-2]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return int(lines[0].split()[1]), headers

    async def pieces(self, headers):
        """The body as it comes; ends with its last byte, and raises when it is cut."""
        if headers.get("transfer-encoding") == "chunked":
            while True:
                length = int((await self.reader.readuntil(b"\r\n"))[:-2], 16)
                piece = await self.reader.readexactly(length + 2)
                if length == 0:
                    return
                yield piece[:-2]
        elif "content-length" in headers:
            yield await self.reader.readexactly(int(headers["content-length"]))
        else:
            raise Wrong(f"a body without an end: {headers}")

    async def whole(self):
        status, headers = await self.answer_head()
        body = b"".join([piece async for piece in self.pieces(headers)])
        return status, headers, body

"""The hostile clients of Scripts/soak-serve, and what each must get."""
import asyncio, json, random

from soak_checks import Wrong, plain, require
from soak_siege import SIEGES

CHAT, COMPLETION = "/v1/chat/completions", "/v1/completions"
SOON = 60  # seconds within which a server must have ended a connection that it gives up


def story(tokens, **more):
    return {"model": "base", "prompt": "Once upon a time", "max_tokens": tokens, "ignore_eos": True, **more}


async def refusal(soak, path, body, statuses, method="POST", code=None):
    """A request that must be refused with one of the statuses, or 429 or 503 when the server is full."""
    async with soak.wire() as wire:
        try:
            await wire.ask(path, body, method)
        except ConnectionError:
            pass  # refused before it was sent whole; the answer is there
        status, headers, data = await asyncio.wait_for(wire.whole(), SOON)
    if status in (429, 503) and headers.get("retry-after", "").isdigit():
        return
    require(status in statuses, f"{status}, not {statuses}: {data[:300]}")
    error = plain(status, data)
    require(code is None or error["code"] == code, f"the code {error['code']}, not {code}")


async def wrong_json(soak, rng):
    await refusal(soak, rng.choice([CHAT, COMPLETION]), rng.choice([b"", b"{", b"[]", b"nul", b'{"a":}', b'{"prompt":"a"} x']), [400])


async def wrong_values(soak, rng):
    wrong = rng.choice([{"temperature": -1}, {"temperature": "hot"}, {"n": 0}, {"n": 1e9}, {"max_tokens": -2}, {"stop": [""]}, {"stop": 5},
                        {"logit_bias": {"x": 1}}, {"seed": "a"}, {"stream": "yes"}, {"prompt": {}}, {"prompt": []}, {"prompt": [[]]},
                        {"guided_regex": "(?=a)"}, {"top_p": 2}, {"model": 5}, {"logprobs": 99}])
    await refusal(soak, COMPLETION, {**story(4), **wrong}, [400])


async def wrong_messages(soak, rng):
    wrong = rng.choice([[], {}, "a", [5], [{"role": "x", "content": "a"}], [{"role": "user"}], [{"role": "user", "content": {}}]])
    await refusal(soak, CHAT, {"messages": wrong}, [400])


async def invalid_text(soak, rng):
    await refusal(soak, COMPLETION, b'{"prompt":"' + bytes(rng.choices(range(128, 256), k=20)) + b'"}', [400])


async def deep_json(soak, rng):
    await refusal(soak, COMPLETION, b'{"prompt":' + b"[" * 10000 + b"]" * 10000 + b"}", [400])


async def unknown_model(soak, rng):
    name = rng.choice(["gpt-4", "", "../../etc/passwd", "base@5", "tuned@latest", "x" * 5000])
    await refusal(soak, COMPLETION, {**story(4), "model": name}, [404])


async def unknown_token(soak, rng):
    await refusal(soak, COMPLETION, {**story(4), "prompt": [5, 2**31 - 1 - rng.randrange(1000)]}, [400])


async def unknown_path(soak, rng):
    await refusal(soak, "/v1/" + rng.choice(["embeddings", "x" * 2000, "%00", "models/nope"]), b'{"input":"a"}', [404, 405])


async def over_context(soak, rng):
    await refusal(soak, COMPLETION, {**story(4), "prompt": "word " * rng.randrange(1100, 100000)}, [400], code="context_length_exceeded")


async def huge_body(soak, rng):
    await refusal(soak, COMPLETION, b'{"prompt":"' + b"a" * (9 << 20) + b'"}', [413])


async def large_body(soak, rng):
    await refusal(soak, COMPLETION, {**story(4), "prompt": rng.choice(["a" * 900_000, "ab " * 300_000, "\u00e9" * 150_000])}, [400])


async def huge_schema(soak, rng):
    """A schema that nothing can be held to, or not all of which, where all of it is asked for."""
    if rng.random() < 0.5:
        schema = rng.choice([{"enum": [f"w{n}" for n in range(20000)]}, {"$ref": "#"}])
        form = {"guided_json": schema}
    else:
        schema = rng.choice([{"type": "string", "pattern": "((a{1,100}){1,100}){1,100}"}, {"not": {}}])
        form = {"response_format": {"type": "json_schema", "json_schema": {"name": "huge", "strict": True, "schema": schema}}}
    await refusal(soak, COMPLETION, {**story(16), **form}, [400])


async def leaves_early(soak, rng):
    """Is gone before its answer."""
    async with soak.wire() as wire:
        await wire.ask(COMPLETION, story(400, n=rng.choice([1, 4])))
        await asyncio.sleep(rng.choice([0, 0.01, 0.2, 2]))


async def leaves_stream(soak, rng):
    """Is gone in the middle of a stream."""
    async with soak.wire() as wire:
        await wire.ask(COMPLETION, story(400, stream=True))
        await asyncio.wait_for(wire.reader.read(100), SOON * 2)
        if rng.random() < 0.5:
            wire.writer.transport.abort()


async def half_closes(soak, rng):
    """Ends its side: the server may answer or hang up, but not keep it."""
    async with soak.wire() as wire:
        await wire.ask(COMPLETION, story(4))
        wire.writer.write_eof()
        await asyncio.wait_for(wire.reader.read(), SOON * 3)


async def reads_slowly(soak, rng):
    """Takes its stream byte by byte: gets all of it."""
    async with soak.wire() as wire:
        await wire.ask(COMPLETION, story(24, stream=True))
        status, headers = await asyncio.wait_for(wire.answer_head(), SOON * 3)
        if status in (429, 503):
            return
        last = b""
        async for piece in wire.pieces(headers):
            last = piece
            await asyncio.sleep(0.3)
        require(last.endswith(b"data: [DONE]\n\n"), f"a slow reader's stream ends with {last[-80:]}")


async def reads_nothing(soak, rng):
    """Asks for much and takes nothing of it: may be dropped."""
    async with soak.wire() as wire:
        wire.writer.transport.pause_reading()
        await wire.ask(COMPLETION, story(100, n=4, stream=True, logprobs=20))
        await asyncio.sleep(20)


async def slow(soak, data):
    """Sends a byte now and then: the server gives it up, with 408 or without a word."""
    async with soak.wire() as wire:
        got = asyncio.ensure_future(wire.reader.read())
        for byte in data:
            try:
                await wire.send(bytes([byte]))
            except ConnectionError:
                break
            done, _ = await asyncio.wait([got], timeout=1)
            if done:
                break
        got = await asyncio.wait_for(got, SOON)
        require(got == b"" or got.startswith(b"HTTP/1.1 408 "), f"a slow request got {got[:100]}")


async def slow_head(soak, rng):
    await slow(soak, b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n" + b"X-Slow: " + b"a" * 200)


async def slow_body(soak, rng):
    async with soak.wire() as wire:
        await wire.send(wire.head(COMPLETION, 1000) + b'{"prompt":"')
        got = asyncio.ensure_future(wire.reader.read())
        for _ in range(90):
            done, _ = await asyncio.wait([got], timeout=1)
            if done:
                break
            try:
                await wire.send(b"a")
            except ConnectionError:
                break
        got = await asyncio.wait_for(got, SOON)
        require(got == b"" or got.startswith(b"HTTP/1.1 408 "), f"a slow body got {got[:100]}")


async def idle_burst(soak, rng):
    """Many connections that never ask; a good client gets in meanwhile."""
    connections = []
    try:
        for _ in range(soak.idle):
            wire = soak.wire()
            await wire.__aenter__()
            connections.append(wire)
        async with soak.wire() as wire:
            await wire.ask("/health", b"", "GET")
            status, _, _ = await asyncio.wait_for(wire.whole(), SOON)
            require(status == 200, f"/health among idle connections: {status}")
        await asyncio.sleep(rng.uniform(0, 5))
    finally:
        for wire in connections:
            wire.writer.transport.abort()


async def wrong_key(soak, rng):
    """Has no key, or another's: is told so before it has sent its body."""
    async with soak.wire(rng.choice([None, "wrong"])) as wire:
        await wire.send(wire.head(COMPLETION, 1 << 20))
        status, headers, data = await asyncio.wait_for(wire.whole(), SOON)
        require(status == 401 and "www-authenticate" in headers, f"without a key: {status} {data[:200]}")


async def besieges(soak, rng):
    """70 clients that hold connections and bodies and come back for more, with and without a key."""
    siege, end = rng.choice(SIEGES), asyncio.get_running_loop().time() + rng.uniform(5, 20)

    async def besieger():
        while True:
            try:
                await siege(soak.port, soak.besieger)
            except (OSError, EOFError):
                await asyncio.sleep(0.05)

    soak.counts[f"besieged by 70 {siege.__name__.replace('_', ' ')}"] += 1
    tasks = [asyncio.create_task(besieger()) for _ in range(70)]
    try:
        while asyncio.get_running_loop().time() < end and not soak.is_over():
            await asyncio.sleep(0.2)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def pipelines(soak, rng):
    """Several requests in one write: as many answers, in their order."""
    bodies = [story(n) for n in rng.sample(range(1, 9), 4)]
    async with soak.wire() as wire:
        data = [json.dumps(body).encode() for body in bodies]
        await wire.send(b"".join(wire.head(COMPLETION, len(item)) + item for item in data))
        for body in bodies:
            status, headers, answer = await asyncio.wait_for(wire.whole(), SOON * 3)
            if status == 200:
                count = json.loads(answer)["usage"]["completion_tokens"]
                require(count == body["max_tokens"], f"{count} tokens in the place of {body['max_tokens']}")
            else:
                require(status in (429, 503) and "retry-after" in headers, f"a pipelined request got {status}")


async def random_bytes(soak, rng):
    async with soak.wire() as wire:
        await wire.send(rng.randbytes(rng.randrange(1, 2000)) + b"\r\n\r\n")
        got = await asyncio.wait_for(wire.reader.read(), SOON)
        require(got == b"" or got.startswith(b"HTTP/1.1 4") or got.startswith(b"HTTP/1.1 5"), f"random bytes got {got[:100]}")


async def smuggles(soak, rng):
    extra = rng.choice(["Content-Length: 5\r\nContent-Length: 6\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                        "Transfer-Encoding: gzip\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n"])
    async with soak.wire() as wire:
        key = f"Authorization: Bearer {soak.key}\r\n"
        await wire.send(f"POST {COMPLETION} HTTP/1.1\r\nHost: localhost\r\n{key}{extra}\r\n12345".encode())
        got = await asyncio.wait_for(wire.reader.read(), SOON)
        require(got.startswith(b"HTTP/1.1 4") or got.startswith(b"HTTP/1.1 501"), f"{extra!r} got {got[:100]}")


HOSTILE = [wrong_json, wrong_values, wrong_messages, invalid_text, deep_json, unknown_model, unknown_token, unknown_path, over_context,
           huge_body, large_body, huge_schema, leaves_early, leaves_stream, half_closes, reads_slowly, reads_nothing, slow_head,
           slow_body, idle_burst, wrong_key, besieges, pipelines, random_bytes, smuggles]


class Target:
    """What hostile clients know of the soak."""

    def __init__(self, soak):
        self.idle, self.counts, self.port, self.key = soak.options.idle, soak.counts, soak.port, soak.key
        self.besieger = soak.besieger
        self.wire, self.is_over = soak.wire, lambda: soak.is_over


async def client(soak, target, attacks, number):
    rng = random.Random(f"{soak.options.seed} hostile {number}")
    while not soak.is_over:
        attack = rng.choice(attacks)
        soak.counts["hostile: " + attack.__name__.replace("_", " ")] += 1
        try:
            await attack(target, rng)
        except (Wrong, ValueError, OSError, EOFError, asyncio.TimeoutError) as error:
            if soak.server.poll() is None:
                soak.note(f"{attack.__name__}: {error!r}")
        await soak.sleep(rng.expovariate(2))


def hostile_clients(soak):
    left_out = set(filter(None, soak.options.without.split(",")))
    unknown = left_out - {attack.__name__ for attack in HOSTILE}
    assert not unknown, f"--without: there is no {', '.join(sorted(unknown))}"
    attacks = [attack for attack in HOSTILE if attack.__name__ not in left_out]
    return [client(soak, Target(soak), attacks, number) for number in range(soak.options.hostile)]

"""How long keyed requests wait while 70 other clients hold connections and bodies: bench-serve's part siege."""
import asyncio, http.client, json, os, threading, time, urllib.parse

from soak_siege import FLOODS, SIEGES

KEY = "asker"
BESIEGER = "siege"
CLIENTS = 70
BOUND = 1.0  # seconds: no keyed request may take longer
FLOOD_BOUND = 10.0  # the same while another key's answers are decoded beside it


class Besiegers:
    """The clients of one siege, on a thread of their own, until the `with` ends."""

    def __init__(self, siege, port):
        self.siege, self.port, self.is_over = siege, port, False
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()))

    async def run(self):
        tasks = [asyncio.create_task(self.client()) for _ in range(CLIENTS)]
        while not self.is_over:
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def client(self):
        while True:
            try:
                await self.siege(self.port, BESIEGER)
            except (OSError, EOFError):
                await asyncio.sleep(0.01)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


def answer(server, text, refusals):
    """A keyed completion of one token, asked again until it is answered: seconds."""
    began = time.perf_counter()
    while (status := ask(server, text)) != 200 and time.perf_counter() - began < 120:
        refusals[str(status)] = refusals.get(str(status), 0) + 1
        time.sleep(0.05)
    return time.perf_counter() - began


def ask(server, text):
    """The same once, its body after its head, as http.client sends it: the status."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=120)
    try:
        body = {"model": "base", "prompt": "Once upon a time", "max_tokens": 1, "user": text}
        connection.request("POST", "/v1/completions", json.dumps(body),
                           {"Content-Type": "application/json", "Authorization": "Bearer " + KEY})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def run(bench):
    keys = os.path.join(bench.options.directory, "keys")
    with open(os.open(keys, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(KEY + "\n" + BESIEGER + "\n")
    found = {}
    with bench.server("--api-key-file", keys, "--prefix-memory", "0") as server:
        port = urllib.parse.urlsplit(server.url).port
        ask(server, "")
        for siege in SIEGES:
            name, times, others = siege.__name__.replace("_", " "), [], {}
            with Besiegers(siege, port):
                end = time.monotonic() + bench.options.siege
                while time.monotonic() < end:
                    # A prompt's usual length, and one that takes several reads.
                    times.append(answer(server, "x" * (200_000 if len(times) % 4 == 3 else 100), others))
                    time.sleep(0.1)
            worst = max(times)
            found[name] = {"requests": len(times), "worst_seconds": worst, "refusals": others}
            print(f"{name}: {len(times)} keyed requests, worst {worst:.3f} s, refusals: {others or 'none'}", flush=True)
            bound = FLOOD_BOUND if siege in FLOODS else BOUND
            with bench.checks(f"{CLIENTS} {name}: no keyed request above {bound:g} s"):
                assert worst <= bound, f"worst {worst:.3f} s, {others}"
    return found

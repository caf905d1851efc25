"""Random clients for `skein serve`, some of them hostile; see Scripts/soak-serve. Needs only the standard library.

Before the crowd comes, each request of a pool is asked alone and its answer is kept; in the crowd it must get the same ids and
text. Every other good request must get a well-formed answer too, or 429 or 503 with Retry-After. What a hostile client gets is in
the table HOSTILE. The server's memory, threads and descriptors are read from /proc every few seconds.
"""
import argparse, asyncio, collections, json, os, random, re, signal, subprocess, sys, time

sys.path.append(os.path.join(sys.path[0], "..", "lib"))
from peer_processes import end_on_signals
from soak_checks import Histogram, StreamedAnswer, Wrong, check_whole, essence, growth, plain, table
from soak_hostile import hostile_clients
from soak_requests import good_request, pool_requests
from soak_wire import Wire

GENEROUS = 180  # seconds in which every good request has its answer
CONTEXT = 1024
SENTRY = 30  # seconds in which a short request with a key has its answer


class Refused(Exception):
    """429 or 503: another try later."""

    def __init__(self, seconds):
        self.seconds = seconds


class Soak:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.counts = collections.Counter()
        self.wrong = []
        self.first, self.between, self.first_in_crowd = Histogram(), Histogram(), Histogram()
        # Seconds of short requests with a key, all the while.
        self.keyed = Histogram()
        self.key = "soak"
        self.besieger = "besieger"
        self.is_crowded = False
        # The longest wait for a token: seconds, when, and what had come before it.
        self.longest = (0, 0, "")
        self.samples = []
        self.is_over = False
        self.pool = []
        self.started = time.monotonic()
        self.server = None

    # The server

    def start(self):
        options = self.options
        self.log = open(os.path.join(options.directory, "serve.log"), "wb")
        command = [options.skein, "serve", "--model", options.model, "--name", "base", "--listen", "127.0.0.1:0",
                   "--parallel", "4", "--queue", "32", "--context", str(CONTEXT), "--prefix-memory", "64",
                   "--threads", str(options.threads), "--drain", "120s", "--no-request-log",
                   "--api-key-file", os.path.join(options.directory, "keys")]
        with open(os.open(command[-1], os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(self.key + "\n" + self.besieger + "\n")
        self.models = ["base"]
        if options.adapter:
            command += ["--adapter", "tuned=" + options.adapter]
            self.models.append("tuned")
        self.server = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        for _ in range(600):
            with open(self.log.name) as log:
                found = re.search(r"listening on http://[^:]+:(\d+)", log.read())
            if found:
                self.port = int(found.group(1))
                return
            if self.server.poll() is not None:
                break
            time.sleep(0.1)
        with open(self.log.name) as log:
            sys.exit("skein serve does not begin:\n" + log.read())

    def wire(self, key="soak"):
        return Wire(self.port, key)

    async def sentry(self):
        """A short request with a key, again and again: it is answered soon, whoever else is there."""
        while not self.is_over:
            began, answer = time.monotonic(), None
            try:
                async with self.wire() as wire:
                    await wire.ask("/tokenize", {"prompt": "Once upon a time"})
                    answer = (await asyncio.wait_for(wire.whole(), SENTRY))[0]
            except (OSError, EOFError, asyncio.TimeoutError) as error:
                answer = repr(error)
            self.keyed.add(time.monotonic() - began)
            # 429: there is no more room for requests of any client.
            if answer not in (200, 429) and self.server.poll() is None:
                self.note(f"a short request with a key got {answer} after {time.monotonic() - began:.1f} s")
            await asyncio.sleep(0.25)

    def sample(self):
        root = f"/proc/{self.server.pid}"
        try:
            with open(root + "/status") as file:
                status = dict(line.split(":", 1) for line in file)
            sample = (time.monotonic() - self.started, int(status["VmRSS"].split()[0]) / 1024,
                      int(status["Threads"]), len(os.listdir(root + "/fd")))
        except (OSError, KeyError):
            return None
        self.samples.append(sample)
        return sample

    async def watch(self):
        while not self.is_over:
            if self.server.poll() is not None:
                self.note(f"the server ended with {self.server.returncode} while it was needed")
                self.is_over = True
            self.sample()
            await asyncio.sleep(2)

    def note(self, problem):
        self.wrong.append(f"{time.monotonic() - self.started:.0f} s: {problem}")
        if len(self.wrong) <= 40:
            print("WRONG", self.wrong[-1][:1500], flush=True)

    # Good clients

    async def good(self, path, body, measures=False):
        """Asks; the whole answer, put together when it is a stream."""
        try:
            async with self.wire() as wire:
                began, crowded = time.monotonic(), self.is_crowded
                await wire.ask(path, body)
                status, headers = await wire.answer_head()
                if status in (429, 503):
                    after = headers.get("retry-after", "")
                    plain(status, b"".join([p async for p in wire.pieces(headers)]))
                    if not after.isdigit():
                        raise Wrong(f"{status} without Retry-After")
                    raise Refused(int(after))
                if body.get("stream") and status == 200:
                    answer = await self.stream(wire, headers, began, crowded, measures)
                else:
                    data = b"".join([piece async for piece in wire.pieces(headers)])
                    if status != 200:
                        raise Wrong(f"status {status}: {data[:400]}")
                    answer = json.loads(data)
            check_whole(path, body, answer)
            return answer
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Wrong(f"the connection broke: {error!r}") from error

    async def stream(self, wire, headers, began, crowded, measures):
        if not headers.get("content-type", "").startswith("text/event-stream"):
            raise Wrong(f"a stream of type {headers.get('content-type')}")
        whole, left, last, is_done = StreamedAnswer(), b"", None, False
        async for piece in wire.pieces(headers):
            left += piece
            while b"\n\n" in left:
                event, left = left.split(b"\n\n", 1)
                if event.startswith(b":"):
                    continue
                if not event.startswith(b"data: ") or is_done:
                    raise Wrong(f"an event out of place: {event[:200]}")
                if event == b"data: [DONE]":
                    is_done = True
                    continue
                brings = whole.take(json.loads(event[6:]))
                now = time.monotonic()
                if measures and brings:
                    if last is None:
                        (self.first_in_crowd if crowded or self.is_crowded else self.first).add(now - began)
                    else:
                        self.between.add(now - last)
                        self.longest = max(self.longest, (now - last, now - self.started, whole.words))
                    last = now
        if not is_done or left:
            raise Wrong("a stream without [DONE]")
        return whole.answer()

    async def one_good(self, rng):
        """One good request, asked until it is taken."""
        entry = rng.choice(self.pool) if rng.random() < 0.6 else None
        if entry:
            path, body, expected = entry
            body = dict(body)
        else:
            path, body = good_request(rng, self.models)
            expected = None
        if rng.random() < 0.5:
            body["stream"] = True
            if rng.random() < 0.5:
                body["stream_options"] = {"include_usage": True}
        deadline = time.monotonic() + GENEROUS
        while True:
            try:
                # With several answers, a piece that comes late may be another's first.
                is_one = "n" not in body and not isinstance(body.get("prompt"), list)
                answer = await asyncio.wait_for(self.good(path, body, measures=is_one), GENEROUS)
                break
            except Refused as refused:
                self.counts["refused with Retry-After"] += 1
                if time.monotonic() > deadline:
                    self.counts["given up after refusals"] += 1
                    return
                await asyncio.sleep(min(refused.seconds, 5) * rng.uniform(0.5, 1.5))
            except asyncio.TimeoutError:
                self.counts["lost"] += 1
                return self.note(f"no answer in {GENEROUS} s: {path} {json.dumps(body)[:300]}")
            except (Wrong, ValueError, KeyError, TypeError, IndexError) as error:
                self.counts["malformed"] += 1
                return self.note(f"{path} {json.dumps(body)[:600]}: {error!r}")
        self.counts["answered"] += 1
        if expected is not None:
            self.counts["compared with the answer alone"] += 1
            if essence(answer) != expected:
                self.counts["differ"] += 1
                self.note(f"differs in company: {path} {json.dumps(body)[:600]}\n  alone:   {expected}"
                          f"\n  company: {essence(answer)}")

    async def client(self, number):
        rng = random.Random(f"{self.options.seed} good {number}")
        while not self.is_over:
            await self.one_good(rng)
            if rng.random() < 0.2:
                await asyncio.sleep(rng.expovariate(1))

    async def crowds(self):
        """More good requests at once than may wait, now and then: some must be refused, none may be lost."""
        rng = random.Random(f"{self.options.seed} crowd")
        while not self.is_over:
            await self.sleep(rng.uniform(30, 90))
            if not self.is_over:
                self.counts["crowds"] += 1
                self.is_crowded = True
                await asyncio.gather(*[self.one_good(rng) for _ in range(60)])
                self.is_crowded = False

    async def sleep(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.is_over:
            await asyncio.sleep(min(1, max(0, end - time.monotonic())))

    async def record(self):
        """Asks each request of the pool alone, twice: the second time, its prompt may be cached."""
        for path, body in pool_requests(random.Random(f"{self.options.seed} pool"), self.models, self.options.pool):
            answers = [essence(await self.good(path, body)) for _ in range(2)]
            if answers[0] != answers[1]:
                self.note(f"differs when asked again: {path} {body}\n  {answers[0]}\n  {answers[1]}")
            self.pool.append((path, body, answers[0]))
            if self.server.poll() is not None:
                sys.exit(f"the server ended with {self.server.returncode}")

    # The end

    async def drain(self):
        """SIGTERM while streams are under way: they end whole, and the exit status is 0."""
        body = {"model": "base", "prompt": "Once upon a time", "max_tokens": 48, "ignore_eos": True, "stream": True, "seed": 5}
        tasks = [asyncio.create_task(self.good("/v1/completions", body)) for _ in range(4)]
        await asyncio.sleep(1)
        self.server.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.5)
        try:
            async with self.wire() as wire:
                await wire.ask("/health", b"", method="GET")
                status, _, _ = await wire.whole()
                if status != 503:
                    self.note(f"a request after SIGTERM got {status}")
        except (OSError, asyncio.IncompleteReadError):
            pass
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, BaseException):
                self.note(f"a stream did not end after SIGTERM: {result!r}")
            else:
                self.counts["streams that SIGTERM let end"] += 1
        for _ in range(300):
            if self.server.poll() is not None:
                break
            await asyncio.sleep(0.1)
        if self.server.poll() != 0:
            self.note(f"exit status {self.server.poll()} after SIGTERM")
            self.server.kill()

    async def run(self):
        try:
            self.start()
            return await self.soak()
        finally:
            # Whatever went wrong, nothing is left behind.
            if self.server and self.server.poll() is None:
                self.server.kill()
                self.server.wait()

    async def soak(self):
        await self.record()
        alone = time.monotonic() - self.started
        print(f"{len(self.pool)} answers recorded alone in {alone:.0f} s", flush=True)
        quiet = self.sample()
        self.samples, self.started = [], time.monotonic()
        tasks = [self.watch(), self.sentry(), self.crowds()] + [self.client(n) for n in range(self.options.clients)]
        tasks += hostile_clients(self)
        tasks = [asyncio.create_task(task) for task in tasks]
        await self.sleep(self.options.minutes * 60)
        self.is_over = True
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, BaseException):
                self.note(f"an error of the soak's own: {result!r}")
        settled = None
        if self.server.poll() is None:
            for _ in range(75):  # until idle connections are given up
                settled = self.sample()
                if settled[3] <= quiet[3] + 2:
                    break
                await asyncio.sleep(1)
            if settled[2] > quiet[2]:
                self.note(f"{quiet[2]} threads before, {settled[2]} after")
            if settled[3] > quiet[3] + 2:
                self.note(f"{quiet[3]} descriptors before, {settled[3]} after")
            await self.drain()
        grown, words = growth(self.samples)
        if grown:
            self.note("memory grows: " + words)
        return self.report(quiet, settled, words)

    def report(self, quiet, settled, words):
        series = [round(sample[1]) for sample in self.samples]
        step = max(1, len(series) // 40)
        print("\nRSS in MiB: " + " ".join(map(str, series[::step])))
        if settled:
            print(f"threads {quiet[2]} -> {settled[2]}, descriptors {quiet[3]} -> {settled[3]}; {words}")
        rows = sorted(self.counts.items())
        rows += [("time to first token", self.first.words), ("time to first token in crowds", self.first_in_crowd.words),
                 ("time between tokens", self.between.words), ("short requests with a key", self.keyed.words),
                 ("problems", len(self.wrong))]
        print(table(rows))
        print(f"the longest wait for a token: {self.longest[0]:.1f} s, at {self.longest[1]:.0f} s, after {self.longest[2]!r}")
        if self.options.json:
            with open(self.options.json, "w") as file:
                json.dump({"seed": self.options.seed, "minutes": self.options.minutes, "counts": self.counts,
                           "first_token": self.first.json,
                           "first_token_in_crowds": self.first_in_crowd.json, "between_tokens": self.between.json, "keyed": self.keyed.json, "rss_mib": series,
                           "memory": words, "problems": self.wrong}, file, indent=1)
        return 1 if self.wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="random clients for skein serve")
    for name in ("--skein", "--model", "--directory"):
        parser.add_argument(name, required=True)
    parser.add_argument("--adapter", help="an adapter of the model, served as tuned")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clients", type=int, default=3, help="good clients at a time")
    parser.add_argument("--hostile", type=int, default=3, help="hostile clients at a time")
    parser.add_argument("--idle", type=int, default=1000, help="idle connections of a burst")
    parser.add_argument("--pool", type=int, default=40, help="requests whose answers are compared")
    parser.add_argument("--without", default="", help="names of hostile clients to leave out, separated by commas")
    parser.add_argument("--json", help="file for the figures")
    soak = Soak(parser.parse_args())
    end_on_signals()
    sys.exit(asyncio.run(soak.run()))

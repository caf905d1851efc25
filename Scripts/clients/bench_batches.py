"""Tokens/s of 1 to 16 answers at once: skein serve, llama.cpp's server with the same client, and llama.cpp's decoding without one."""
import json, os, queue, statistics, subprocess, threading, time, urllib.request

from peer_report import table
from served import same

SIZES = (1, 2, 4, 8, 16)
HERE = os.path.dirname(os.path.abspath(__file__))
THINGS = ["lanterns", "rivers", "engines", "orchards", "bridges", "candles", "islands", "letters", "mirrors", "needles", "ovens",
          "pianos", "quarries", "ribbons", "saddles", "towers"]
PROMPTS = [f"A short and simple essay about {thing}, what they are made of, and why people need them:\n\n" for thing in THINGS]
SETTINGS = [(attention, waiting) for attention in ("plain", "flash") for waiting in ("active", "passive")]
WAYS = {"skein": "skein serve", "server": "llama.cpp's server", "raw": "llama.cpp, decoding alone"}


class Peer:
    """Scripts/clients/bench_llama.py: `serve` or `raw`, with an attention and a way in which OpenMP's threads wait."""

    def __init__(self, bench, what, setting):
        options = bench.options
        attention, waiting = setting
        # Without OMP_NUM_THREADS, OpenMP's threads wait in a loop for cores that others have: 1 token/s was measured.
        environment = os.environ | {"OMP_NUM_THREADS": str(options.threads), "OMP_WAIT_POLICY": waiting}
        self.log = open(os.path.join(options.directory, "peer.log"), "ab")
        self.process = subprocess.Popen(
            [options.peer_python, os.path.join(HERE, "bench_llama.py"), what, options.model, str(options.threads), attention],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment)
        self.head = json.loads(self.line())
        self.url = self.head.get("url")

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            with open(self.log.name, errors="replace") as log:
                raise RuntimeError("bench_llama.py ended: " + log.read()[-600:])
        return line

    def raw(self, prompts, tokens):
        self.process.stdin.write(json.dumps({"prompts": prompts, "tokens": tokens}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


def at_once(url, prompts, tokens, extra):
    """Seconds until all prompts have their answers, and the texts."""
    gate, answers = threading.Barrier(len(prompts) + 1), queue.Queue()

    def ask(place, prompt):
        body = {"model": "base", "prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, **extra}
        request = urllib.request.Request(url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        gate.wait()
        try:
            with urllib.request.urlopen(request, timeout=600) as response:
                answers.put((place, json.load(response)))
        except (OSError, ValueError) as error:
            answers.put((place, error))

    # Not a pool: a signal would wait for its threads.
    for place, prompt in enumerate(prompts):
        threading.Thread(target=ask, args=(place, prompt), daemon=True).start()
    gate.wait()
    began = time.perf_counter()
    done = dict(answers.get() for _ in prompts)
    seconds = time.perf_counter() - began
    for answer in done.values():
        if isinstance(answer, Exception):
            raise answer
        same(answer["usage"]["completion_tokens"], tokens)
    return seconds, [done[place]["choices"][0]["text"] for place in range(len(prompts))]


def measure(bench, way, setting, sizes=SIZES, tokens=None):
    """Tokens/s for each size, by one process that is started for it and warmed up; and skein's texts."""
    tokens, rates, texts = tokens or bench.options.tokens, {}, {}
    if way == "skein":
        server = bench.server("--parallel", "16", "--context", "1024", "--speculation", "off", "--prefix-memory", "0")
        extra = {}
    else:
        server = Peer(bench, "raw" if way == "raw" else "serve", setting)
        extra = {"top_k": 1, "samplers": ["top_k"], "cache_prompt": False}
    with server:
        def once(size, tokens=tokens):
            if way != "raw":
                return at_once(server.url, PROMPTS[:size], tokens, extra)
            answer = server.raw(PROMPTS[:size], tokens)
            return answer["seconds"], answer["texts"]

        for size in sizes:
            once(size, 8)  # warms up; `raw` has a context for each size
            # One or two answers are soon done, so they are asked for twice.
            times = 2 if size <= 2 else 1
            done = [once(size) for _ in range(times)]
            rates[size], texts[size] = times * size * tokens / sum(seconds for seconds, _ in done), done[0][1]
    return rates, texts


def run(bench):
    if bench.options.peer_python in ("", "none"):
        raise SystemExit("error: no interpreter has xllamacpp\n  fix: start this with Scripts/bench-serve")
    if bench.options.peer_setting:
        setting, tried = tuple(bench.options.peer_setting.split(",")), {}
    else:
        # What suits llama.cpp better, by its decoding of 8; each is tried twice. On a busy machine, threads that wait in a loop
        # were now the fastest and now the slowest: the median decides.
        tried = {setting: [] for setting in SETTINGS}
        for setting in SETTINGS * 2:
            tried[setting].append(measure(bench, "raw", setting, (8,), 32)[0][8])
        setting = max(tried, key=lambda setting: statistics.median(tried[setting]))
        tried = {", ".join(name): rates for name, rates in tried.items()}
        bench.say(f"batches: llama.cpp's settings, tokens/s: {tried}")
    print(f"llama.cpp with {setting[0]} attention, OMP_WAIT_POLICY={setting[1]}", flush=True)
    rounds, alone = [], {}
    for number in range(bench.options.rounds):
        one = {}
        for way in list(WAYS)[:: 1 if number % 2 == 0 else -1]:
            one[way], texts = measure(bench, way, setting)
            bench.say(f"batches: {number + 1}, {WAYS[way]}: " + ", ".join(f"{size}: {rate:.0f}" for size, rate in one[way].items()))
            if way == "skein":
                for size, found in texts.items():
                    for prompt, text in zip(PROMPTS, found):
                        alone.setdefault(prompt, {}).setdefault(text, []).append(size)
        rounds.append(one)
    report_on(bench, rounds)
    with bench.checks("batches: an answer of skein is the same in every company"):
        wrong = {prompt: texts for prompt, texts in alone.items() if len(texts) > 1}
        assert not wrong, wrong
    return {"rounds": rounds, "peer_settings": tried, "peer_setting": setting, "prompts": PROMPTS}


def report_on(bench, rounds):
    def of(way, size):
        return [one[way][size] for one in rounds]

    def ratios(values, others):
        each = [value / other for value, other in zip(values, others)]
        return f"{statistics.median(values) / statistics.median(others):.2f} ({min(each):.2f} to {max(each):.2f})"

    rows = [[WAYS[way] + ", tokens/s", *(f"{statistics.median(of(way, size)):.0f} ({min(of(way, size)):.0f} to "
                                         f"{max(of(way, size)):.0f})" for size in SIZES)] for way in WAYS]
    rows += [[f"skein / {WAYS[way]}", *(ratios(of("skein", size), of(way, size)) for size in SIZES)] for way in ("server", "raw")]
    rows += [[f"{WAYS[way]}, times one", *(ratios(of(way, size), of(way, 1)) for size in SIZES)] for way in WAYS]
    print(table([f"answers at once, {bench.options.tokens} tokens each", *map(str, SIZES)], rows), flush=True)

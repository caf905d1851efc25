"""What all checks of clients share: a server, a program to compare with, and lines that say what held."""
import contextlib, json, os, re, subprocess, threading, time, traceback, urllib.error, urllib.request


class Checks:
    """Prints `ok NAME` or `FAIL NAME: WHY` for each `with checks(NAME):`."""

    def __init__(self):
        self.passed, self.failed = 0, []

    @contextlib.contextmanager
    def __call__(self, name):
        began = time.monotonic()
        try:
            yield
        except Exception as problem:
            frames = [f for f in traceback.extract_tb(problem.__traceback__) if "/clients/" in f.filename]
            place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno}: {frames[-1].line})" if frames else ""
            self.failed.append(name)
            print(f"FAIL {name}: {type(problem).__name__}: {str(problem)[:600]}{place}", flush=True)
        else:
            self.passed += 1
            print(f"ok   {name} ({time.monotonic() - began:.1f} s)", flush=True)

    def hear(self, line):
        """Counts and prints what the checks of another process have printed."""
        if line.startswith("ok "):
            self.passed += 1
        elif line.startswith("FAIL "):
            self.failed.append(line[5:].split(":")[0])
        print(line, end="", flush=True)


def same(found, expected):
    assert found == expected, f"{found!r}, expected {expected!r}"


class Server:
    """`skein serve` on a port that the system chose, until the `with` ends."""

    def __init__(self, skein, model, *options):
        words = [skein, "serve", "--model", model, "--name", "base", "--listen", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        # A server that neither listens nor ends is killed, which ends the loop.
        patience = threading.Timer(600, self.process.kill)
        patience.daemon = True
        try:
            patience.start()
            self.lines = []
            for line in self.process.stderr:
                self.lines.append(line)
                if found := re.search(r"listening on (http://\S+)", line):
                    self.url = found[1].rstrip("/")
                    break
            else:
                raise RuntimeError("skein serve does not listen: " + "".join(self.lines))
        except BaseException:
            # A signal may come while it loads, and there is no `with` yet.
            self.process.kill()
            self.process.wait()
            raise
        finally:
            patience.cancel()
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(40)
        finally:
            if self.process.poll() is None:
                self.process.kill()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as response:
            return response.read().decode()

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as response:
            return json.load(response)

    def metric(self, name):
        return int(re.search(rf"^{name} (\d+)$", self.get("/metrics"), re.M)[1])

    def becomes_idle(self, seconds):
        """Waits until no answer is being decoded; returns after how many seconds."""
        began = time.monotonic()
        while self.metric("skein_serve_answers_running"):
            assert time.monotonic() - began < seconds, f"answers are still being decoded after {seconds} s"
            time.sleep(0.02)
        return time.monotonic() - began


class Program:
    """`skein generate`: what the server's texts must be equal to."""

    def __init__(self, skein, model, adapter):
        self.words = [skein, "generate", "--model", model]
        self.adapters = {"base": [], "jargon": ["--adapter", adapter]}
        self.known = {}

    def generate(self, name, prompt, tokens, *options):
        """The text, tokens and so on that `skein generate --json` prints; greedy unless the options have a temperature."""
        if "--temperature" not in options:
            options = ("--temperature", "0", *options)
        words = [*self.words, *self.adapters[name], "--prompt", prompt, "--max-tokens", str(tokens), "--json", *options]
        key = tuple(words)
        if key not in self.known:
            self.known[key] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        return self.known[key]

    def logits(self, name, prompt, path):
        """[T, V]: the logits at each position of a raw prompt."""
        import numpy

        words = [*self.words, *self.adapters[name], "--prompt", prompt, "--raw", "--logits", path]
        subprocess.run(words, check=True, capture_output=True)
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            tensor = header["logits"]
            same(tensor["dtype"], "F32")
            begin, end = tensor["data_offsets"]
            return numpy.frombuffer(file.read()[begin:end], "<f4").reshape(tensor["shape"])

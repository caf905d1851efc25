"""What else Scripts/check-syscalls kills: a server while it loads adapters, a download from a Hub on loopback, and the stores that
`fuse` and `export` write.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from runs import DEADLINE, PROGRAMS, Place, free_port, train


class Hub:
    """The tests' Hub, which ends with this process."""

    def __init__(self, script, directory):
        os.mkdir(directory)
        # Some pieces of 16 KiB; the bytes do not matter.
        weights = os.path.join(directory, "weights")
        with open(weights, "wb") as file:
            file.write(bytes(range(250)) * 800)
        self.process = subprocess.Popen(
            [sys.executable, script, directory, weights], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = self.process.stdout.readline().split()[0]


def prepare(bench, hub_script, programs):
    """Sets what only some programs need: an adapter, a Hub."""
    if "pull" in programs:
        bench.hub = Hub(hub_script, os.path.join(bench.directory, "hub"))
    if set(programs) - {"pull", "train", "coordinator", "worker"}:
        place = Place(bench, "adapter")
        if train(place, None, lambda _: None)[0].status:
            sys.exit("error: there is no adapter")
        bench.adapter = place.path("run", "adapter")


def pull(place, hit, seen):
    """What is here already is not sent again: a second start goes on."""
    more = {"HF_HUB_CACHE": place.path("hub"), "HF_ENDPOINT": f"http://127.0.0.1:{place.bench.hub.port}"}
    first = place.start("pull", ["pull", "o/ok"], hit=hit, more=more).ending()
    seen(first)
    return first, None if first.status == 0 else place.start("pull", ["pull", "o/ok"], more=more).ending()


def written(words, name):
    """A command that writes a store, and refuses to write over one that is there."""
    def run(place, hit, seen):
        def start(hit):
            given = ["--model", place.bench.model, "--adapter", place.bench.adapter, "--output", place.path(name), "--threads", "2"]
            return place.start(words[0], [*words, *given], hit=hit).ending()

        first = start(hit)
        seen(first)
        # Once it has its name it is whole: the caller has compared it.
        return first, None if first.status == 0 or os.path.exists(place.path(name)) else start(None)

    return run


class Client:
    """Asks a server, as long as it lives."""

    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"

    def ask(self, path, body=None):
        """The status and the answer; None if the server is gone."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None

    def is_ready(self, process):
        while process.runs and time.monotonic() < process.began + DEADLINE:
            if (self.ask("/health") or (0,))[0] == 200:
                return True
            time.sleep(0.005)
        return False

    def texts(self):
        """Loads an adapter, asks it and the base, unloads it, and loads it again."""
        found = []
        for path, body in [
            ("/v1/load_lora_adapter", {"lora_name": "a", "lora_path": "adapter"}),
            ("/v1/completions", {"model": "a", "prompt": "What", "max_tokens": 8, "temperature": 0}),
            ("/v1/completions", {"model": "tiny", "prompt": "What", "max_tokens": 8, "temperature": 0}),
            ("/v1/unload_lora_adapter", {"lora_name": "a"}),
            ("/v1/load_lora_adapter", {"lora_name": "a", "lora_path": "adapter"}),
            ("/v1/completions", {"model": "a", "prompt": "The", "max_tokens": 8, "temperature": 0}),
            ("/v1/unload_lora_adapter", {"lora_name": "a"}),
        ]:
            answer = self.ask(path, body)
            if answer is None:
                return None
            if answer[0] != 200:
                found.append(answer)
            elif "completions" in path:
                found.append(json.loads(answer[1])["choices"][0]["text"])
        return found


def serve(place, hit, seen):
    """A request may fail with an error that says why; the server lives on, and what is asked again is answered."""
    place.port = free_port()
    words = ["serve", "--model", place.bench.model, "--listen", f"127.0.0.1:{place.port}", "--threads", "2",
             "--adapter-root", os.path.dirname(place.bench.adapter), "--name", "tiny"]
    client, faults = Client(place.port), []

    def life(hit):
        process, texts = place.start("serve", words, hit=hit), None
        if client.is_ready(process):
            texts = client.texts()
            if texts is not None and any(isinstance(text, tuple) for text in texts):
                # Refused once: which request it was, does not matter; all are asked again.
                if not all(isinstance(text, str) or 400 <= text[0] < 600 and "error" in text[1] for text in texts):
                    faults.append(f"answers {texts}")
                client.ask("/v1/unload_lora_adapter", {"lora_name": "a"})
                texts = client.texts()
        if process.runs:
            # inject passes no signal on: it is told to the server itself.
            stop(process, hit)
        return process.ending(), texts

    first, texts = life(hit)
    seen(first)
    second = None
    if first.status or texts is None:
        second, texts = life(None)
    with open(place.path("texts"), "w", encoding="utf-8") as file:
        json.dump([texts, faults], file)
    return first, second


def stop(process, hit):
    target = process.process.pid
    if hit:
        with open(f"/proc/{target}/task/{target}/children", encoding="ascii") as file:
            children = file.read().split()
        if not children:
            return
        target = int(children[0])
    try:
        os.kill(target, signal.SIGTERM)
    except ProcessLookupError:
        pass


PROGRAMS.update({
    "serve": serve, "pull": pull, "fuse": written(["fuse"], "fused"), "fuse-gguf": written(["fuse", "--type", "Q8_0"], "fused.gguf"),
    "export": written(["export", "--format", "mlx"], "exported"), "export-gguf": written(["export", "--format", "gguf"], "exported.gguf"),
})

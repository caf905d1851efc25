"""One hash for each family: threads 1, 2 and 5, streamed weights, checkpointing, clusters of 1 and 3 workers, and a
worker that is killed and comes back.

usage: hashes.py SKEIN [FAMILY ...]
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

import draw

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "lib"))
from peer_processes import end_on_signals  # noqa: E402

SEED, TOKENS, STEPS = 17, 300, 6
NAMED = os.path.join(HERE, "..", "lib", "named.json")
COMMON = ["--config", NAMED, "--iterations", str(STEPS), "--batch-size", "4", "--micro-batch-tokens", "96",
          "--max-length", "96", "--validation-split", "0", "--dropout", "0.1", "--learning-rate", "1e-3", "--rank", "3",
          "--target-modules", "all-linear"]
# What the log of a run with a kill must have, in this order.
KILLED = [r"worker w0 \(\S+\) joins", "step 1/", r"worker w0 \(\S+\) is gone", r"worker w0 \(\S+\) joins", r"step \d+/"]


def tokenizer(path):
    """Every byte is a token; 0 to 2 are what draw.py's models expect."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: number for number, piece in enumerate(["<pad>", "<s>", "</s>"] + alphabet)}
    made = Tokenizer(models.BPE(vocabulary, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<pad>", "<s>", "</s>"])
    made.save(os.path.join(path, "tokenizer.json"))
    with open(os.path.join(path, "tokenizer_config.json"), "w") as file:
        json.dump({"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True}, file)


def make(family, folder):
    """A random model with its tokenizer, and rows shorter and longer than windows and first rotations."""
    source = draw.source_of(SEED, family, 0)
    config = draw.FAMILIES[family](source)
    config.get_text_config().vocab_size = TOKENS
    kind = AutoModelForImageTextToText if family == "gemma3" else AutoModelForCausalLM
    model = kind.from_config(config, dtype=torch.float32).eval()
    draw.fill(model, source, 1 if family.startswith("gemma") else 0)
    path = os.path.join(folder, "model")
    model.save_pretrained(path)
    tokenizer(path)
    data = os.path.join(folder, "rows.jsonl")
    with open(data, "w") as file:
        for _ in range(24):
            words = ["".join(source.choice("abcdefgh ") for _ in range(source.randint(3, 40))) for _ in range(2)]
            file.write(json.dumps({"prompt": words[0], "completion": words[1]}) + "\n")
    return path, data


def in_order(events, log):
    """Whether the log has a match of each expression after that of the one before."""
    return re.search(".*?".join(events), log, re.DOTALL)


def wait_for(events, path, process, seconds=120):
    """The log in `path` once it has the events."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        code = process.poll()
        with open(path) as file:
            log = file.read()
        if in_order(events, log):
            return log
        if code is not None:
            raise SystemExit(f"ended with {code} before {events}:\n{log}")
        time.sleep(0.005)
    raise SystemExit(f"{events} did not appear in {path}:\n{log}")


def cluster(skein, model, data, folder, workers, kills):
    """A run of a coordinator and workers on loopback; `kills`: w0 is killed after the first step, comes back, and the
    run goes on with it."""
    out = os.path.join(folder, f"cluster{workers}")
    os.mkdir(out)
    token, log = os.path.join(out, "token"), os.path.join(out, "log")
    with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("0123456789abcdef0123456789abcdef\n")
    run = os.path.join(out, "run")
    running = []

    def begin(arguments, name):
        with open(name, "w") as file:
            running.append(subprocess.Popen([skein] + arguments, stdout=file, stderr=file, stdin=subprocess.DEVNULL))
        return running[-1]

    try:
        coordinator = begin(
            ["coordinator", "--listen", "127.0.0.1:0", "--token-file", token, "--model", model, "--data", data, "--output", run,
             "--min-workers", str(workers)] + COMMON, log)
        address = wait_for(["listening on "], log, coordinator).split("listening on ")[1].split()[0].rstrip(",;")
        join = ["worker", "--coordinator", address, "--token-file", token, "--model", model, "--threads", "1"]
        others = [begin(join + ["--name", f"w{n}"], os.path.join(out, f"w{n}")) for n in range(workers)]
        if kills:
            wait_for(KILLED[:2], log, coordinator)
            # The others are stopped: the run cannot end before w0 is back.
            for other in others[1:]:
                other.send_signal(signal.SIGSTOP)
            others[0].kill()
            others[0].wait()
            wait_for(KILLED[:3], log, coordinator)
            begin(join + ["--name", "w0"], os.path.join(out, "again"))
            wait_for(KILLED[:4], log, coordinator)
            for other in others[1:]:
                other.send_signal(signal.SIGCONT)
        if coordinator.wait(timeout=300) != 0:
            with open(log) as file:
                raise SystemExit(file.read())
        if kills:
            wait_for(KILLED, log, coordinator)
    finally:
        for process in running:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
            process.wait(timeout=60)
    return run


def digest(skein, run):
    return subprocess.run(
        ["sha256sum", os.path.join(run, "adapter", "adapter_model.safetensors")], capture_output=True, text=True, check=True
    ).stdout.split()[0]


def main():
    skein, families = sys.argv[1], sys.argv[2:] or list(draw.FAMILIES)
    end_on_signals()
    failed = False
    for family in families:
        with tempfile.TemporaryDirectory() as folder:
            model, data = make(family, folder)
            hashes = {}
            for name, more in {
                "1 thread": ["--threads", "1"], "2 threads": ["--threads", "2"], "5 threads": ["--threads", "5"],
                "streamed": ["--weights", "streamed"], "checkpointing": ["--gradient-checkpointing"],
            }.items():
                run = os.path.join(folder, name.replace(" ", ""))
                subprocess.run(
                    [skein, "train", "--model", model, "--data", data, "--output", run] + COMMON + more, check=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                hashes[name] = digest(skein, run)
            hashes["1 worker"] = digest(skein, cluster(skein, model, data, folder, 1, kills=False))
            hashes["3 workers, a kill"] = digest(skein, cluster(skein, model, data, folder, 3, kills=True))
            different = {name: value[:12] for name, value in hashes.items() if value != hashes["1 thread"]}
            failed |= bool(different)
            print(f"{family:12} {hashes['1 thread'][:16]} in {len(hashes)} ways" + (f", but {different}" if different else ""), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""Local steps over slow links: check-slow-links.py SKEIN MODEL PAIRS. A table, and the claims of docs/SLOW-LINKS.md."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKEIN, MODEL, PAIRS = sys.argv[1:4]
# H local steps of one row each, on 3 logical workers; states are saved once.
STEPS, WORKERS, ROUNDS, SAVING = 32, 3, 20, 10
RATE = "10mbit"
NAMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "named.json")
COMMON = [
    "--config", NAMED, "--model", MODEL, "--max-length", "32", "--prompt-format", "eos", "--validation-split", "0.05", "--layers", "8",
    "--learning-rate", "5e-4", "--schedule", "cosine",
]  # fmt: skip
LOCAL = [
    "--local-steps", str(STEPS), "--logical-workers", str(WORKERS), "--batch-size", "1", "--iterations", str(ROUNDS),
    "--delta-codec", "topk", "--topk-density", "0.25", "--save-state-every", str(SAVING),
    # So few rounds leave a momentum no time; the square root of WORKERS makes up for the noise of one row a step.
    "--outer-learning-rate", "1.7", "--outer-momentum", "0",
]  # fmt: skip
# The same rows in as many tokens: a step has a row for each of three workers.
PLAIN = ["--batch-size", str(WORKERS), "--slots", str(WORKERS)]
HELD_OUT = re.compile(r"^validation loss: ([0-9.]+)$", re.M)
HASH = re.compile(r"^sha256: ([0-9a-f]{64})$", re.M)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Network:
    """A middle, namespace 0, and a cable to each host; both ends of a cable send at most RATE."""

    def __init__(self, hosts):
        self.prefix, self.hosts = f"skein-slow-{os.getpid()}", hosts
        for number in range(hosts + 1):
            ip("netns", "add", self.name(number))
            ip("-n", self.name(number), "link", "set", "lo", "up")
        for number in range(1, hosts + 1):
            middle, host, cable = self.name(0), self.name(number), f"cable{number}"
            ip("-n", middle, "link", "add", cable, "type", "veth", "peer", "name", "cable", "netns", host)
            for place, device, end in [(middle, cable, 1), (host, "cable", 2)]:
                ip("-n", place, "address", "add", f"10.78.{number}.{end}/24", "dev", device)
                ip("-n", place, "link", "set", "dev", device, "up")
                limit = ["root", "tbf", "rate", RATE, "burst", "32kbit", "latency", "400ms"]
                subprocess.run(["ip", "netns", "exec", place, "tc", "qdisc", "add", "dev", device, *limit], check=True)

    def name(self, number):
        return f"{self.prefix}-{number}"

    def pull(self, number, is_up):
        ip("-n", self.name(number), "link", "set", "dev", "cable", "up" if is_up else "down")

    def carried(self):
        """Bytes on all cables, both directions, as the kernel counts them: with Ethernet, IP and TCP headers."""
        total = 0
        for number in range(1, self.hosts + 1):
            words = ["ip", "-n", self.name(0), "-s", "-j", "link", "show", "dev", f"cable{number}"]
            one = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)[0]["stats64"]
            total += one["rx"]["bytes"] + one["tx"]["bytes"]
        return total

    def remove(self):
        for number in range(self.hosts + 1):
            subprocess.run(["ip", "netns", "delete", self.name(number)], check=False)


class Cluster:
    """A coordinator in the middle and a worker on each of some hosts."""

    running = []

    def __init__(self, network, output, words, workers, token):
        self.network, self.output, self.token, self.before = network, output, token, network.carried()
        self.log = open(output + ".log", "w+")
        self.coordinator = self.start(
            0, self.log,
            ["coordinator", "--listen", "0.0.0.0:4011", "--token-file", token, "--log-format", "json",
             "--min-workers", str(workers), "--output", output, *words])  # fmt: skip
        self.workers = {number: self.work(number) for number in range(1, workers + 1)}

    def start(self, number, log, words):
        where = ["ip", "netns", "exec", self.network.name(number)]
        process = subprocess.Popen([*where, SKEIN, *words], stdout=log, stderr=log)
        Cluster.running.append(process)
        return process

    def work(self, number):
        return self.start(
            number, subprocess.DEVNULL,
            ["worker", "--coordinator", f"10.78.{number}.1:4011", "--token-file", self.token, "--model", MODEL,
             "--name", f"w{number}", "--threads", "1"])  # fmt: skip

    def metrics(self):
        if not os.path.exists(self.output + "/metrics.jsonl"):
            return []
        with open(self.output + "/metrics.jsonl") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        return [line for line in lines if "loss_tokens" in line]

    def wait_for(self, round_number):
        while len(self.metrics()) < round_number:
            if self.coordinator.poll() is not None:
                sys.exit(f"the coordinator has ended: {self.output}.log")
            time.sleep(0.2)

    def facts(self, event):
        with open(self.output + ".log") as file:
            return [line for line in file if f'"event":"{event}"' in line]

    def finish(self):
        """What the run printed, and the bytes that all cables have carried for it."""
        if self.coordinator.wait() != 0:
            sys.exit(f"the coordinator failed: {self.output}.log")
        carried = self.network.carried() - self.before
        for process in self.workers.values():
            process.terminate()
            process.wait()
        return outcome(self.output), carried


def outcome(output):
    """Hash and held-out loss of a run that is done; its ledger is proved."""
    words = [SKEIN, "inspect", output, "--verify-ledger"]
    proof = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    if "counted exactly once" not in proof:
        sys.exit(f"the ledger of {output} proves nothing")
    with open(output + "/metrics.jsonl") as file:
        losses = [json.loads(line).get("validation_loss") for line in file]
    digest = re.search(r"adapter sha256 +([0-9a-f]{64})", proof).group(1)
    return digest, [loss for loss in losses if loss is not None][-1]


def train(output, words):
    began = time.monotonic()
    with open(output + ".log", "w") as log:
        subprocess.run([SKEIN, "train", "--output", output, *words], check=True, stdout=log, stderr=log)
    return *outcome(output), time.monotonic() - began


def main(directory, network):
    data = directory + "/rows.jsonl"
    rows = STEPS * WORKERS * ROUNDS * 21 // 20 + 48
    with open(PAIRS) as source, open(data, "w") as out:
        out.writelines(line for number, line in enumerate(source) if number < rows)
    common = [*COMMON, "--data", data]
    token = directory + "/token"
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(os.urandom(16).hex())

    def say(name, **facts):
        print(f"{name:<44}", *(f"{key} {value}" for key, value in facts.items()), sep="  ", flush=True)

    total = STEPS * ROUNDS
    _, plain_loss, seconds = train(directory + "/plain", [*common, *PLAIN, "--iterations", str(total)])
    say(f"synchronous, {total} steps, one process", loss=round(plain_loss, 4), seconds=round(seconds))
    few = Cluster(
        network, directory + "/few",
        [*common, *PLAIN, "--iterations", "8", "--validation-split", "0.01"], WORKERS, token)  # fmt: skip
    few.finish()
    # The first step brings the parameters in full; the later ones are all alike.
    each = [line["sent_bytes"] + line["received_bytes"] for line in few.metrics()[1:]]
    plain_bytes = sum(each) / len(each) * total
    say(f"synchronous fp32, {WORKERS} workers, {len(each)} steps measured", bytes_a_step=round(sum(each) / len(each)),
        bytes_of_all=round(plain_bytes))  # fmt: skip

    local = [*common, *LOCAL]
    expected, loss, seconds = train(directory + "/local", local)
    say(f"local steps, {ROUNDS} rounds, one process", hash=expected[:16], loss=round(loss, 4), seconds=round(seconds))
    carried, broken = {}, []

    def claim(holds, what):
        if not holds:
            broken.append(what)

    def undisturbed(workers):
        began = time.monotonic()
        cluster = Cluster(network, f"{directory}/c{workers}", local, workers, token)
        (digest, _), carried[workers] = cluster.finish()
        wire = sum(line["sent_bytes"] + line["received_bytes"] for line in cluster.metrics())
        say(f"local steps, {workers} worker(s) on slow links", hash=digest[:16], bytes_on_cables=carried[workers],
            of_frames=wire, seconds=round(time.monotonic() - began))  # fmt: skip
        claim(digest == expected, f"{workers} workers give the same hash")

    undisturbed(3)
    ratio, difference = plain_bytes / carried[3], loss / plain_loss - 1
    print(f"{ratio:.0f} times fewer bytes than synchronous fp32, state saves and all headers included; "
          f"held-out loss {100 * difference:+.2f} %")  # fmt: skip
    claim(ratio >= 100, "100 times fewer bytes")
    claim(difference <= 0.01, "a held-out loss within 1 %")

    cluster = Cluster(network, directory + "/faults", local, 3, token)
    cluster.wait_for(4)
    cluster.workers[1].send_signal(signal.SIGKILL)
    cluster.workers[1].wait()
    cluster.workers[1] = cluster.work(1)
    cluster.wait_for(7)
    replayed = len(cluster.facts("replayed"))
    claim(replayed > 0, "a replay after the kill")
    time.sleep(1)
    network.pull(3, False)
    time.sleep(10)
    network.pull(3, True)
    (digest, _), faulty = cluster.finish()
    again = len(cluster.facts("replayed")) - replayed
    say("local steps, a kill and a partition of 10 s", hash=digest[:16], bytes_on_cables=faulty,
        replays_after_the_kill=replayed, after_the_partition=again)  # fmt: skip
    claim(digest == expected, "the same hash after a kill and a partition")
    claim(again == 0, "a partition of 10 s loses nothing")
    undisturbed(2)
    undisturbed(1)
    if broken:
        sys.exit("does not hold: " + "; ".join(broken))


# The script that started this passes signals on; namespaces must not stay.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
directory = tempfile.mkdtemp(prefix="skein-slow-")
network = None
try:
    network = Network(3)
    main(directory, network)
finally:
    for process in Cluster.running:
        if process.poll() is None:
            process.kill()
            process.wait()
    if network:
        network.remove()
    if not os.environ.get("KEEP"):
        shutil.rmtree(directory)
    else:
        print(f"kept: {directory}")

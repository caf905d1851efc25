"""Runs Skein against a real MLflow server; Scripts/check-mlflow starts it."""

import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

SKEIN, MODEL, DIRECTORY = sys.argv[1:4]
NAMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "named.json")
ROWS = f"{DIRECTORY}/rows.jsonl"
STORE = f"{DIRECTORY}/mlflow.db"
NAMES = {
    "loss": "train/loss", "learning_rate": "train/learning_rate", "gradient_norm": "train/gradient_norm",
    "tokens_per_second": "train/tokens_per_second", "seconds": "train/seconds", "tokens": "train/tokens",
    "loss_tokens": "train/loss_tokens", "epoch": "train/epoch", "workers": "train/workers",
    "validation_loss": "validation/loss", "validation_tokens": "validation/tokens",
    "validation_accuracy": "validation/accuracy",
    "coordinator_cpu_seconds": "coordinator/cpu_seconds", "sent_bytes": "coordinator/sent_bytes",
    "received_bytes": "coordinator/received_bytes", "payload_bytes": "coordinator/payload_bytes",
}


with socket.create_server(("127.0.0.1", 0)) as free:
    PORT = free.getsockname()[1]
URL = f"http://127.0.0.1:{PORT}"


def fail(text):
    print(f"FAILED: {text}")
    sys.exit(1)


def check(condition, text):
    if not condition:
        fail(text)
    print(f"ok: {text}", flush=True)


class Server:
    def __enter__(self):
        log = open(f"{DIRECTORY}/server.log", "a")
        command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(PORT), "--workers", "1",
                   "--backend-store-uri", f"sqlite:///{STORE}", "--default-artifact-root", f"{DIRECTORY}/artifacts"]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        while True:
            try:
                urllib.request.urlopen(f"{URL}/health", timeout=5).read()
                return self
            except OSError:
                if self.process.poll() is not None:
                    fail("mlflow server ended: " + open(f"{DIRECTORY}/server.log").read()[-2000:])
                time.sleep(0.2)

    def __exit__(self, *_):
        # It has children; they are its process group, which is its own.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Run:
    def __init__(self, name, *more):
        self.output = f"{DIRECTORY}/{name}"
        self.log = f"{DIRECTORY}/{name}.log"
        environment = dict(os.environ, MLFLOW_EXPERIMENT_NAME="skein check")
        command = [SKEIN, "train", "--config", NAMED, "--model", MODEL, "--data", ROWS, "--output", self.output,
                   "--max-length", "128", "--validation-split", "0.1", "--checkpoint-every", "4", "--mlflow", URL, *more]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(self.log, "a"), env=environment)

    def text(self):
        return open(self.log).read()

    def wait_for(self, pattern):
        while not re.search(pattern, self.text()):
            if self.process.poll() is not None:
                fail(f"the run ended before {pattern}: {self.text()[-1500:]}")
            time.sleep(0.1)

    def end(self):
        status = self.process.wait()
        if status != 0:
            fail(f"the run ended with {status}: {self.text()[-1500:]}")


def expected(output):
    """{(key, step): value} of metrics.jsonl."""
    found = {}
    for line in open(f"{output}/metrics.jsonl"):
        record = json.loads(line)
        if "sample_prompt" in record or record.get("validation_loss", 0) is None:
            continue
        is_validation = "validation_tokens" in record
        for key, value in record.items():
            if key != "step" and key in NAMES and not (is_validation and key == "epoch"):
                found[(NAMES[key], record["step"])] = float(value)
    return found


TIMES = {"train/seconds", "train/tokens_per_second"}


def compare(output, ending, twice=()):
    """`twice`: steps that were computed again after a kill, where MLflow keeps the time that the first computation took."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(URL)
    state = json.load(open(f"{output}/mlflow.json"))
    experiment = client.get_experiment_by_name("skein check")
    runs = client.search_runs([experiment.experiment_id], f"tags.`skein.key` = '{state['key']}'")
    check(len(runs) == 1 and runs[0].info.run_id == state["run"], "one run at MLflow, the one of mlflow.json")
    run = runs[0]
    wanted = expected(output)
    found = {}
    for key in run.data.metrics:
        history = client.get_metric_history(run.info.run_id, key)
        for metric in history:
            if (key, metric.step) in found:
                fail(f"{key} is there twice at step {metric.step}")
            found[(key, metric.step)] = metric.value
        times = [metric.timestamp for metric in sorted(history, key=lambda metric: metric.step)]
        if times != sorted(times):
            fail(f"the times of {key} do not grow: {times}")
    for key in set(wanted) & set(found):
        if key[0] in TIMES and key[1] in twice:
            found[key] = wanted[key]
    if found != wanted:
        differences = [(k, wanted.get(k), found.get(k)) for k in {**wanted, **found} if wanted.get(k) != found.get(k)]
        fail(f"{len(differences)} numbers differ: {differences[:5]}")
    check(len(found) > 100, f"all {len(found)} numbers of metrics.jsonl are there once, and equal")
    configuration = json.load(open(f"{output}/run.json"))["configuration"]
    parameters = run.data.params
    check(parameters["rank"] == str(configuration["rank"]) and "model_sha256" in parameters,
          f"{len(parameters)} parameters")
    check(run.info.status == ending, f"status {run.info.status}")
    return run


with Server():
    pass  # It makes its database, which takes longer than a run.
print("1: the server is not there at first, then gone for 20 s; the run is killed and resumed", flush=True)
first = Run("first", "--epochs", "5")
first.wait_for(r"MLflow: the MLflow server does not answer")
first.wait_for(r"step 3/")
with Server():
    first.wait_for(r"MLflow answers again")
    first.wait_for(r"step 10/")
    first.process.kill()
    first.process.wait()
    step = max(int(found) for found in re.findall(r"step (\d+)/", first.text()))
    print(f"killed after step {step}", flush=True)
first = Run("first", "--epochs", "5", "--resume")
time.sleep(20)
check(first.process.poll() is None, "the run goes on without its server for 20 s")
with Server():
    first.end()
    run = compare(first.output, "FINISHED", range(step - step % 4 - 3, step + 3))
    digest = subprocess.run(["sha256sum", f"{first.output}/adapter/adapter_model.safetensors"], capture_output=True,
                            text=True, check=True).stdout.split()[0]
    check(run.data.tags["skein.adapter_sha256"] == digest, "the adapter's SHA-256 is a tag")
check(first.text().count("does not answer") == 2, "each process of the run said once that the server is gone")

print("2: what sending costs", flush=True)


def cost(process):
    """Nanoseconds of the threads that export, and of the process that sends."""
    used = {}
    for task in glob.glob(f"/proc/{process.pid}/task/*"):
        try:
            name = open(f"{task}/comm").read().strip()
            if name in ("skein-mlflow", "skein-export"):
                used[task] = int(open(f"{task}/schedstat").read().split()[0])
        except OSError:
            pass
    for child in glob.glob("/proc/[0-9]*"):
        try:
            if int(open(f"{child}/stat").read().rsplit(")", 1)[1].split()[1]) == process.pid:
                for task in glob.glob(f"{child}/task/*"):
                    used[task] = int(open(f"{task}/schedstat").read().split()[0])
        except (OSError, ValueError):
            pass
    return used


with Server():
    measured = Run("measured", "--epochs", "5", "--tensorboard", f"{DIRECTORY}/tb")
    used, moments = {}, []
    while measured.process.poll() is None:
        used.update(cost(measured.process))
        moments.append((time.monotonic(), sum(used.values()) / 1e6, measured.text().count("  loss ")))
        time.sleep(0.05)
    measured.end()
    # The beginning and the end, with the experiment, the run and its parameters, are not those of a long run.
    begun = next(one for one in moments if one[2] >= 10)
    last = next(one for one in moments if one[2] >= 60)
    seconds, spent, steps = (after - before for after, before in zip(last, begun))
    print(f"TensorBoard and MLflow: {moments[-1][1]:.0f} ms of processor time in all; {spent:.0f} ms in {steps} steps of "
          f"{seconds:.0f} s, {spent / steps:.2f} ms in a step, {spent / seconds / 10:.2f} % of a core")

print("3: the server is gone to the end", flush=True)
second = Run("second", "--epochs", "2")
second.end()
check("skein sync" in second.text(), "the run names the command that sends it later")
sync = [SKEIN, "sync", second.output, "--mlflow", URL, "--json"]
environment = dict(os.environ, MLFLOW_EXPERIMENT_NAME="skein check")
ended = subprocess.run(sync, capture_output=True, text=True, env=environment)
check(ended.returncode == 69, f"without a server, sync ends with 69: {ended.stderr.strip().splitlines()[-1]}")
with Server():
    for expected_count in (None, 0):
        ended = subprocess.run(sync, capture_output=True, text=True, env=environment)
        if ended.returncode != 0:
            fail(ended.stderr)
        sent = json.loads(ended.stdout)["sent"]
        check((sent > 0) if expected_count is None else sent == 0, f"sync sent {sent} numbers")
    compare(second.output, "FINISHED")

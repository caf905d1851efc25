"""Runs the pods of both kustomizations on this machine, without Kubernetes: what a kubelet does for them, as far as one
machine can. Called by `Cluster/kubernetes/rehearse` in namespaces of its own.

A pod has a read-only root, the user, the group and no capabilities of its security context, the manifest's volumes
(a Secret is of root and the fsGroup, with symbolic links), environment and command line, and is asked its probes. Names
of Services are in /etc/hosts. Not here: several nodes, admission, NetworkPolicies, limits of memory and cores.
"""

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../Scripts/cluster"))
from work import NAMED, hash_in, steps_in  # noqa: E402

PATIENCE = 300
MODEL, DATA, SKEIN, WORK = sys.argv[1:5]
# The options of the run, in place of the manifest's.
OPTIONS = "--iterations=12 --batch-size=2 --max-length=64 --validation-split=0 --checkpoint-every=4".split()
OPTIONS += [f"{name}={value}" for name, value in zip(NAMED[::2], NAMED[1::2])]


def wait(what, is_done):
    deadline = time.monotonic() + PATIENCE
    while not is_done():
        if time.monotonic() > deadline:
            raise SystemExit(f"error: not within {PATIENCE} s: {what}")
        time.sleep(0.05)


def mount(*words):
    subprocess.run(["mount", *words], check=True)


class Volumes:
    """The volumes of a namespace; those of a claim outlive their pods."""

    def __init__(self, objects):
        self.secrets = {o["metadata"]["name"]: o["data"] for o in objects if o["kind"] == "Secret"}

    def make(self, volume, pod, group):
        kind = next(key for key in volume if key != "name")
        if kind == "persistentVolumeClaim" or kind == "template":
            path = f"{WORK}/claim-{volume['name']}"
        else:
            path = f"{pod.directory}/volume-{volume['name']}"
        os.makedirs(path, exist_ok=True)
        os.chown(path, 0, group)
        os.chmod(path, 0o2775)
        if kind == "secret":
            secret = volume["secret"]
            data = self.secrets[secret["secretName"]]
            wanted = secret.get("items") or [{"key": key, "path": key} for key in data]
            os.makedirs(path + "/..2026", exist_ok=True)
            os.symlink("..2026", path + "/..data")
            for item in wanted:
                file = f"{path}/..2026/{item['path']}"
                with open(file, "wb") as out:
                    out.write(base64.b64decode(data[item["key"]]))
                os.chown(file, 0, group)
                os.chmod(file, secret["defaultMode"])
                os.symlink("..data/" + item["path"], f"{path}/{item['path']}")
        return path


class Pod:
    def __init__(self, name, spec, volumes, hosts, extra=(), variables=None):
        self.name, self.spec, self.extra = name, spec, list(extra)
        self.directory = f"{WORK}/{name}-{time.monotonic_ns()}"
        self.root = self.directory + "/root"
        self.container = spec["containers"][0]
        context = spec["securityContext"]
        assert context["runAsNonRoot"] and self.container["securityContext"]["capabilities"]["drop"] == ["ALL"]
        for part in ["upper", "work", "root"]:
            os.makedirs(f"{self.directory}/{part}")
        mount("-t", "overlay", "-o", f"lowerdir=/,upperdir={self.directory}/upper,workdir={self.directory}/work",
              "overlay", self.root)
        shutil.copy(SKEIN, self.root + "/usr/local/bin/skein")
        with open(self.root + "/etc/hosts", "w") as file:
            file.write("127.0.0.1 localhost " + " ".join(hosts) + "\n")
        available = {volume["name"]: volume for volume in spec["volumes"]}
        for place in self.container["volumeMounts"]:
            target = self.root + place["mountPath"]
            os.makedirs(target, exist_ok=True)
            volume = available.get(place["name"], {"name": place["name"], "template": {}})
            mount("--bind", volumes.make(volume, self, context["fsGroup"]), target)
        mount("-o", "remount,ro", self.root)
        mount("-t", "proc", "proc", self.root + "/proc")
        mount("--bind", "/dev", self.root + "/dev")
        self.words = self.command(variables or {})
        self.start(context)

    def command(self, variables):
        self.variables = {"PATH": "/usr/local/bin:/usr/bin:/bin"} | variables
        for item in self.container["env"]:
            value = item.get("value")
            if value is None:
                # One core each: several pods share this machine.
                value = self.name if "fieldRef" in item["valueFrom"] else "1"
            self.variables[item["name"]] = value
        args = [arg for arg in self.container["args"] if not arg.startswith(("--epochs=", "--min-workers="))]
        return [re.sub(r"\$\((\w+)\)", lambda match: self.variables[match[1]], arg) for arg in args] + self.extra

    def start(self, context):
        self.log = open(self.directory + "/log", "ab")
        self.process = subprocess.Popen(
            [shutil.which("chroot"), self.root, "setpriv", f"--reuid={context['runAsUser']}",
             f"--regid={context['runAsGroup']}", f"--groups={context['fsGroup']}", "--bounding-set=-all",
             "--inh-caps=-all", "--no-new-privs", "skein", *self.words],
            env=self.variables, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def probe(self, kind):
        """What the probe is answered, under the address that a kubelet would use."""
        get = self.container[kind]["httpGet"]
        port = next(port["containerPort"] for port in self.container["ports"] if port["name"] == get["port"])
        url = f"http://127.0.0.1:{port}{get['path']}"
        request = urllib.request.Request(url, headers={"Host": f"10.244.1.7:{port}"})
        try:
            return urllib.request.urlopen(request, timeout=5).status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def end(self, sign=None):
        """Waits for its end, or stops it as a kubelet does."""
        if sign:
            self.process.send_signal(sign)
        grace = self.spec["terminationGracePeriodSeconds"] if sign else PATIENCE
        try:
            return self.process.wait(grace)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise SystemExit(f"error: {self.name} did not end within {grace} s") from None

    def text(self):
        with open(self.directory + "/log") as file:
            return file.read()


def load(path):
    with open(path) as file:
        objects = [o for o in yaml.safe_load_all(file) if o]
    return objects, {o["kind"] + "/" + o["metadata"]["name"]: o for o in objects}


def steps():
    return steps_in(f"{WORK}/claim-data/run")


def fill():
    """What a person copies to the volume."""
    shutil.rmtree(f"{WORK}/claim-data", ignore_errors=True)
    os.makedirs(f"{WORK}/claim-data")
    for source, name in [(MODEL, "model.gguf"), (DATA, "pairs.jsonl")]:
        shutil.copy(source, f"{WORK}/claim-data/{name}")


def deployment(pods):
    fill()
    objects, named = load(f"{WORK}/kubernetes.yaml")
    volumes = Volumes(objects)
    stateful = named["StatefulSet/skein-coordinator"]["spec"]["template"]["spec"]
    worker = named["Deployment/skein-worker"]["spec"]["template"]["spec"]

    def start(name, spec, extra=()):
        pods.append(Pod(name, spec, volumes, ["skein-coordinator"], extra))
        return pods[-1]

    workers = [start(f"skein-worker-{number}", worker) for number in range(2)]
    coordinator = start("skein-coordinator-0", stateful, OPTIONS)
    for kind in ["startupProbe", "livenessProbe", "readinessProbe"]:
        wait(f"the coordinator's {kind}", lambda: coordinator.probe(kind) == 200)
        print(f"{kind}: 200")
    wait("step 3", lambda: steps() >= 3)
    status = coordinator.end(signal.SIGTERM)
    print(f"coordinator stopped after step {steps()}: status {status}")
    assert status == 130 and steps() < 12
    coordinator = start("skein-coordinator-0", stateful, OPTIONS)
    wait("the next step", lambda: steps() >= 6)
    print(f"a worker stopped: status {workers[0].end(signal.SIGTERM)}")
    start("skein-worker-2", worker)
    assert coordinator.end() == 0, coordinator.text()
    assert workers[1].end() == 0, workers[1].text()
    return hash_in(f"{WORK}/claim-data/run")


def job(pods):
    fill()
    objects, named = load(f"{WORK}/job.yaml")
    volumes = Volumes(objects)
    spec = named["Job/skein-job"]["spec"]["template"]["spec"]

    def start(index):
        pods.append(Pod(f"skein-job-{index}", spec, volumes, ["skein-job-0.skein-job"], OPTIONS,
                        {"JOB_COMPLETION_INDEX": str(index)}))
        return pods[-1]

    tasks = [start(index) for index in [2, 1, 0]]
    wait("step 3", lambda: steps() >= 3)
    for index in [2, 0]:
        tasks[2 - index].end(signal.SIGKILL)
        print(f"index {index} killed after step {steps()}")
        tasks[2 - index] = start(index)
        before = steps()
        wait("the next step", lambda: steps() > before)
    # A pod that is only asked to leave must not end with 0: its index would be done, and never be made again.
    status = tasks[1].end(signal.SIGTERM)
    print(f"index 1 stopped after step {steps()}: status {status}")
    assert status == 130 or steps() == 12, tasks[1].text()
    tasks[1] = start(1)
    assert tasks[2].end() == 0, tasks[2].text()
    return hash_in(f"{WORK}/claim-data/run")


def main():
    expected = sys.argv[5]
    mount("--make-rprivate", "/")
    for part, scenario in [("coordinator and workers", deployment), ("the indexed Job", job)]:
        print(f"== {part}", flush=True)
        pods = []
        try:
            found = scenario(pods)
        except BaseException:
            for pod in pods:
                print(f"--- {pod.name}\n" + "\n".join(pod.text().splitlines()[-20:]), file=sys.stderr)
            raise
        finally:
            for pod in pods:
                pod.process.kill()
                pod.process.wait()
        print(f"sha256 {found}", flush=True)
        if found != expected:
            raise SystemExit(f"error: skein train has {expected}")
    print("the same as that of skein train, twice")


main()

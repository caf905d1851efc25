"""The least that systemd does for the two units: for machines on which no systemd can be started."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Unit:
    """A process that is started again when it fails or when its watchdog hears nothing."""

    def __init__(self, words, environment, watchdog, log):
        self.words, self.environment, self.watchdog, self.log = words, environment, watchdog, log
        self.restarts, self.status, self.result = 0, "", "success"
        self.process = self.thread = None

    def start(self):
        self.result, self.wanted, self.ready = "success", True, threading.Event()
        self.thread = threading.Thread(target=self.keep, daemon=True)
        self.thread.start()
        if not self.ready.wait(120):
            raise SystemExit(f"error: {self.words[:2]} was not ready within 120 s")

    def keep(self):
        while self.wanted:
            code, reason = self.watch()
            if code in (0, 130):
                self.result = "success"
                break
            self.result = reason
            if code in (64, 65):
                break
            self.restarts += 1
            time.sleep(1)
        self.process = None
        self.ready.set()

    def watch(self):
        """Runs the process once; returns its status and why it ended."""
        address = f"@skein-by-hand-{os.getpid()}-{id(self)}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear, open(self.log, "ab") as log:
            ear.bind("\0" + address[1:])
            ear.settimeout(0.1)
            environment = self.environment | {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": str(self.watchdog * 1_000_000)}
            self.process = subprocess.Popen(
                self.words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            heard, is_ready = time.monotonic(), False
            while self.process.poll() is None:
                try:
                    lines = ear.recv(4096).decode().split("\n")
                except TimeoutError:
                    lines = []
                for line in lines:
                    if line.startswith("STATUS="):
                        self.status = line[len("STATUS="):]
                    if line in ("READY=1", "WATCHDOG=1"):
                        heard = time.monotonic()
                    if line == "READY=1":
                        is_ready = True
                        self.ready.set()
                if is_ready and time.monotonic() - heard > self.watchdog:
                    self.process.kill()
                    self.process.wait()
                    return self.process.returncode, "watchdog"
            return self.process.returncode, "exit-code"

    def stop(self):
        self.wanted = False
        if self.process:
            self.process.terminate()
        self.thread.join(120)


class ByHand:
    """Starts and stops units as `RealSystemd` does."""

    name = "no systemd: the units' command lines, with a notification socket of this test"

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="skein-by-hand-")
        self.units = {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def install(self, skein, units, files, dropin):
        for name, text in files.items():
            with open(self.path("/etc/skein/" + name), "w") as file:
                file.write(text.replace("/var/lib/skein", self.path("/var/lib/skein")))
        os.chmod(self.path("/etc/skein/token"), 0o600)
        watchdog = int(dropin.split("WatchdogSec=")[1].split()[0])
        for unit in units:
            settings = dict(
                line.split("=", 1) for line in files[unit.removeprefix("skein-") + ".env"].splitlines() if "=" in line)
            self.units[unit] = Unit(
                self.command(unit, skein, settings), os.environ | {"SKEIN_CACHE": self.path("/var/cache/skein")},
                watchdog, self.path(f"/{unit}.log"))

    def command(self, unit, skein, settings):
        """The unit's ExecStart, with variables as systemd puts them in."""
        with open(os.path.join(HERE, unit + ".service")) as file:
            line = next(line for line in file if line.startswith("ExecStart="))
        words = []
        for word in shlex.split(line[len("ExecStart="):]):
            if word.startswith("${"):
                words.append(settings[word[2:-1]])
            elif word.startswith("$"):
                words += settings[word[1:]].split()
            else:
                words.append(word)
        moved = [self.path(word) if word.startswith(("/etc/skein", "/var/lib/skein")) else word for word in words]
        return [skein] + moved[1:]

    def path(self, name):
        path = self.directory + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def start(self, unit):
        self.units[unit].start()

    def stop(self, unit):
        self.units[unit].stop()

    def state(self, unit):
        unit = self.units[unit]
        return ("active " if unit.process else "inactive ") + unit.result

    def status(self, unit):
        return self.units[unit].status

    def restarts(self, unit):
        return self.units[unit].restarts

    def freeze(self, unit):
        self.units[unit].process.send_signal(signal.SIGSTOP)

    def log(self, unit):
        with open(self.units[unit].log) as file:
            return file.read()

    def close(self):
        for unit in self.units.values():
            unit.wanted = False
            if unit.process:
                unit.process.kill()
            if unit.thread:
                unit.thread.join()
        shutil.rmtree(self.directory)

"""A real systemd as process 1 of namespaces of its own, over a copy of this machine's root in memory."""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEMD = "/lib/systemd/systemd"
PR_SET_PDEATHSIG = 1


class RealSystemd:
    """Starts and stops units as `systemctl` does, because it is `systemctl` that does it."""

    name = "a real systemd, process 1 of its own namespaces"
    # In a network of its own.
    port = 7534

    @staticmethod
    def missing():
        """Why there can be none here; None if there can be one."""
        if os.geteuid() != 0:
            return "this is not root"
        for program in ["unshare", "nsenter", "ip", "systemctl", "journalctl"]:
            if not shutil.which(program):
                return f"there is no {program}"
        if not os.path.exists(SYSTEMD):
            return f"there is no {SYSTEMD}"
        if not cgroup_root():
            return "no cgroup2 is mounted"
        if refusal := refusal_of_cgroups(cgroup_root()):
            return refusal
        with open("/proc/filesystems") as file:
            return None if "overlay" in file.read().split() else "there is no overlay file system"

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="skein-systemd-")
        self.cgroup = os.path.join(cgroup_root(), f"skein-systemd-{os.getpid()}")
        self.outer = self.inner = None
        try:
            os.mkdir(self.cgroup)
            self.boot()
        except BaseException:
            self.close()
            raise

    def boot(self):
        def enter():
            # If this test is killed, so are unshare, its child, and with that everything inside.
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            # Before the cgroup's namespace is made, of which this becomes the root.
            with open(os.path.join(self.cgroup, "cgroup.procs"), "w") as file:
                file.write("0")

        words = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"]
        self.outer = subprocess.Popen(
            words + [os.path.join(HERE, "boot"), self.directory], preexec_fn=enter, stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while not self.answers():
            if self.outer.poll() is not None:
                raise SystemExit("error: systemd did not start in its namespaces\n" + self.outer.stderr.read())
            if time.monotonic() > deadline:
                raise SystemExit("error: systemd did not start in its namespaces within 120 s")
            time.sleep(0.1)
        self.root = f"/proc/{self.inner}/root"

    def answers(self):
        with open(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children") as file:
            children = file.read().split()
        if not children:
            return False
        self.inner = int(children[0])
        try:
            if os.readlink(f"/proc/{self.inner}/exe") != os.path.realpath(SYSTEMD):
                return False
        except OSError:
            return False
        return self.run("systemctl", "is-active", "--quiet", "basic.target", check=False).returncode == 0

    def run(self, *words, check=True):
        """Runs a program inside."""
        return subprocess.run(
            ["nsenter", f"--target={self.inner}", "--all", *words], check=check, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT if not check else None)

    def install(self, skein, units, files, dropin):
        """Does what README.md says; `files` are contents by their name in /etc/skein."""
        shutil.copy(skein, self.root + "/usr/local/bin/skein")
        self.run("useradd", "--system", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", "skein")
        os.makedirs(self.root + "/etc/skein")
        for name, text in files.items():
            with open(f"{self.root}/etc/skein/{name}", "w") as file:
                file.write(text)
        self.run("chown", "skein", "/etc/skein/token")
        self.run("chmod", "0600", "/etc/skein/token")
        for unit in units:
            shutil.copy(os.path.join(HERE, unit + ".service"), self.root + "/etc/systemd/system/")
            os.mkdir(f"{self.root}/etc/systemd/system/{unit}.service.d")
            with open(f"{self.root}/etc/systemd/system/{unit}.service.d/test.conf", "w") as file:
                file.write(dropin)
        self.run("systemctl", "daemon-reload")

    def path(self, name):
        """Where a file of inside is seen from here."""
        return self.root + name

    def start(self, unit):
        self.run("systemctl", "start", unit)

    def stop(self, unit):
        self.run("systemctl", "stop", unit)

    def show(self, unit, name):
        return self.run("systemctl", "show", "--value", f"--property={name}", unit).stdout.strip()

    def state(self, unit):
        return self.show(unit, "ActiveState") + " " + self.show(unit, "Result")

    def status(self, unit):
        return self.show(unit, "StatusText")

    def restarts(self, unit):
        return int(self.show(unit, "NRestarts"))

    def freeze(self, unit):
        """Stops the unit's process, which then neither works nor reports."""
        self.run("systemctl", "kill", "--kill-whom=main", "--signal=STOP", unit)

    def log(self, unit):
        return self.run("journalctl", "--no-pager", "--output=short-monotonic", f"--unit={unit}").stdout

    def close(self):
        """Ends all processes inside, and with them the namespaces and all mounts."""
        deadline = time.monotonic() + 60
        if self.outer:
            # It takes its child along, process 1 inside, also one that is not known yet.
            self.outer.kill()
            self.outer.wait(60)
            self.outer.stderr.close()
        while os.path.isdir(self.cgroup):
            if time.monotonic() > deadline:
                raise SystemExit(f"error: processes in {self.cgroup} do not end within 60 s")
            # What is inside a cgroup before itself.
            for directory, _, _ in os.walk(self.cgroup, topdown=False):
                self.remove(directory)
            time.sleep(0.1)
        os.rmdir(self.directory)

    @staticmethod
    def remove(directory):
        """Removes a cgroup, or else ends the processes that are still in it."""
        try:
            os.rmdir(directory)
        except OSError:
            for number in members(directory):
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    pass


def members(cgroup):
    try:
        with open(os.path.join(cgroup, "cgroup.procs")) as file:
            # 0 is a process of another namespace.
            return [number for number in map(int, file) if number]
    except OSError:
        return []


def refusal_of_cgroups(root):
    """Why no cgroup can be made; None if one can."""
    probe = os.path.join(root, f"skein-probe-{os.getpid()}")
    try:
        os.mkdir(probe)
        os.rmdir(probe)
    except OSError as error:
        return f"no cgroup can be made in {root}: {error.strerror}"
    return None


def cgroup_root():
    """Where cgroup2 is mounted, alone or beside version 1."""
    with open("/proc/mounts") as file:
        for line in file:
            fields = line.split()
            if fields[2] == "cgroup2":
                return fields[1]
    return None

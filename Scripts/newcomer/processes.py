"""Programs that a walk starts: what they print is kept, events in it are waited for, and none outlives the walk."""

import os
import pathlib
import re
import signal
import subprocess
import threading

# Limits for what never comes, not for what is slow: the first build is among the commands.
PATIENCE = 3600
TAIL = 25
alive = []


class Failure(Exception):
    """What is wrong, the command, and the end of what it printed."""

    def __init__(self, what, command=None, tail=(), fix=None):
        super().__init__(what)
        self.command, self.tail, self.fix = command, tail, fix


class Program:
    """A line for bash, in a process group of its own. Standard output and error come as a terminal would show them."""

    def __init__(self, line, cwd, env, shown=None):
        self.line, self.shown = line, shown or line
        self.lines, self.changed, self.ended = [], threading.Condition(), False
        self.process = subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", line], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        alive.append(self)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def event(self, pattern, after=0, patience=300):
        """The first match in what it has printed or prints, from a line on."""
        pattern, at = re.compile(pattern), after
        with self.changed:
            while True:
                for line in self.lines[at:]:
                    if found := pattern.search(line):
                        return found
                at = len(self.lines)
                if self.ended:
                    raise self.failure(f"it ended before it said {pattern.pattern!r}")
                if not self.changed.wait(patience):
                    raise self.failure(f"it has not said {pattern.pattern!r} in {patience} s")

    def end(self, patience=PATIENCE, status=0):
        """Waits for its end, which must have this status. Returns what it printed."""
        try:
            found = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise self.failure(f"it has not ended in {patience} s") from None
        self.stop()
        if found != status:
            raise self.failure(f"it ended with status {found}" + (f", not {status}" if status else ""))
        return self.lines

    def interrupt(self):
        """As a newcomer ends what serves: Ctrl-C, which reaches the whole group."""
        self.signal(signal.SIGINT)

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def stop(self):
        """Ends the group, also what the line has left in it, and reads the rest of what it says."""
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(30)
            self.reader.join(30)
        except subprocess.TimeoutExpired:
            pass
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        if self in alive:
            alive.remove(self)

    def failure(self, what):
        return Failure(what, self.shown, self.lines[-TAIL:])


def stop_all(work):
    """Ends what still runs, also what has left its group, as a compiler of a build that is ended: its TMPDIR is ours."""
    for program in list(alive):
        program.stop()
    mark = f"TMPDIR={work}".encode()
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and int(folder.name) not in (os.getpid(), os.getppid()) and \
                    mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            # It has ended, or is another user's.
            pass

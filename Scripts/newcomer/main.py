"""Walks what a newcomer reads: main.py CLONE WORK PART... Scripts/check-newcomer makes the clone and the work folder."""

import os
import pathlib
import signal
import sys
import time

import handbook
import helps
import readme
from processes import Failure, Program, stop_all

PARTS = {"readme": readme.walk, "help": helps.walk, "handbook": handbook.walk}
AGAIN = "Scripts/check-newcomer"


class Walk:
    """Where it walks, and what it has seen."""

    def __init__(self, clone, work):
        self.clone, self.work = pathlib.Path(clone), pathlib.Path(work)
        self.env, self.failures, self.left_out, self.part = dict(os.environ), [], [], None
        self.seen = 0

    def prepare(self):
        """Program and model of the parts that README's own lines do not set up."""
        if "skein" not in self.env:
            build = Program("Scripts/build | tail -n 1", self.clone, self.env).end()
            model = Program("Scripts/fetch-model | tail -n 1", self.clone, self.env).end()
            self.env["skein"], self.env["model"] = build[-1], model[-1]
            self.env["PATH"] = os.path.dirname(build[-1]) + ":" + self.env["PATH"]
        return self.env["skein"], self.env["model"]

    def say(self, word, what, remark=""):
        print(f"{word:<9} {self.part:<9} {what}" + (f"  ({remark})" if remark else ""), flush=True)

    def ok(self, what, remark=""):
        self.seen += 1
        self.say("ok", what, remark)

    def leave_out(self, what, reason):
        self.left_out.append(what)
        self.say("left out", what, reason)

    def fail(self, what, failure):
        self.failures.append((self.part, what, failure))
        self.say("FAILED", what, str(failure))


def report(walk):
    for part, what, failure in walk.failures:
        print(f"\nFAILED: {what}: {failure}")
        if failure.command:
            print(f"  the command: {failure.command}")
        if failure.tail:
            print("  the end of what it printed:")
            print("\n".join("    " + line for line in failure.tail))
        if failure.fix:
            print(f"  fix: {failure.fix}")
        print(f"  this part alone: {AGAIN} {part}")


def main(clone, work, *parts):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    walk, began = Walk(clone, work), time.monotonic()
    try:
        for part in dict.fromkeys(parts):
            walk.part = part
            try:
                PARTS[part](walk)
            except Failure as failure:
                walk.fail("the part itself", failure)
            finally:
                stop_all(walk.work)
    finally:
        report(walk)
    print(f"\n{walk.seen} as they are written, {len(walk.failures)} failed, {len(walk.left_out)} left out, in "
          f"{time.monotonic() - began:.0f} s")
    return int(bool(walk.failures))


sys.exit(main(*sys.argv[1:]))

"""Scripts/check-syscalls: draws the points, runs each in a directory of its own, notes them in a log, and prints the table."""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import tiny
import states
from judge import Quiet, Still, tree
from runs import PROGRAMS, Bench, Hit, Place, Process

KINDS = {"files": ["kill", "half", "ENOSPC", "EIO", "EINTR"], "sockets": ["kill", "EINTR", "ECONNRESET"]}
ERRORS = ["ENOSPC", "EIO", "EINTR", "ECONNRESET"]
WIRED = ["coordinator", "worker", "pull", "serve"]
RUNS = ["train", "coordinator", "worker"]
# Of the calls on sockets: the first of them, and so many of the rest.
FIRST, SPREAD = 100, 300


def name_of(point):
    return "{}:{}:{}:{}".format(*point)


def quiet_files(bench, program, name, keep):
    place = Place(bench, name, keep)
    first, second = PROGRAMS[program](place, None, lambda _: None)
    for ending in (first, second):
        if ending and ending.status:
            sys.exit(f"error: the quiet {program} ended with {ending.status}: {ending.errors[-500:]}")
    files = tree(place.directory)
    place.end()
    shutil.rmtree(place.directory)
    return files


def count_calls(bench, program, kind, do):
    """The most calls of three quiet runs, whose threads do not always need the same."""
    most = collections.Counter()
    for turn in range(3):
        place = Place(bench, f"count-{program}-{kind}-{do}-{turn}")
        first, _ = PROGRAMS[program](place, Hit(kind, do), lambda _: None)
        place.end()
        shutil.rmtree(place.directory)
        most |= collections.Counter(first.report["counts"] | {"all": first.report["count"]})
    return most


def numbers(kind, count, source):
    if kind == "files" or count <= FIRST + SPREAD:
        return list(range(1, count + 1))
    return list(range(1, FIRST + 1)) + sorted(source.sample(range(FIRST + 1, count + 1), SPREAD))


class Check:
    def __init__(self, options, bench):
        self.options, self.bench = options, bench
        self.lock, self.records, self.quiet, self.counts = threading.Lock(), {}, {}, {}
        self.log = None

    def prepare(self, programs):
        for program in programs:
            if program not in RUNS:
                self.quiet[program] = Still(quiet_files(self.bench, program, f"quiet-{program}", 2))
                continue
            self.quiet[program] = Quiet(
                program, quiet_files(self.bench, program, f"quiet-{program}", 2),
                quiet_files(self.bench, program, f"kept-{program}", 100))

    def points(self, programs):
        source = random.Random(self.options.seed)
        found = []
        for program in programs:
            for kind, actions in KINDS.items():
                if kind == "sockets" and program not in WIRED:
                    continue
                for do in actions:
                    count = self.count(program, kind, do)
                    found += [(program, kind, do, at) for at in numbers(kind, count, source)]
        part, parts = self.options.part
        source.shuffle(found)
        return found[len(found) * (part - 1) // parts:len(found) * part // parts]

    def count(self, program, kind, do):
        """A later start has the points of the first one, though its runs may need some calls more or less."""
        name = f"{program}:{kind}:{do}"
        if name not in self.counts:
            self.counts[name] = count_calls(self.bench, program, kind, do)
            self.append({"counted": name, "calls": self.counts[name]})
        return self.counts[name]["all"]

    def run(self, point):
        place = Place(self.bench, name_of(point).replace(":", "-"))
        try:
            self.note(self.record(point, place))
        finally:
            place.end()
        shutil.rmtree(place.directory)

    def record(self, point, place):
        """Runs a point in its place; what is noted of it."""
        program, kind, do, at = point
        quiet, faults, began = self.quiet[program], [], time.monotonic()

        def seen(first):
            faults.extend(first_faults(do, first))
            faults.extend(quiet.half_visible(place.directory))

        first, last = PROGRAMS[program](place, Hit(kind, do, at), seen)
        if last and last.status:
            faults.append(f"went on with status {last.status}: {last.errors.strip()[-400:]}")
        faults.extend(quiet.differences(place.directory, self.bench.skein, went_on=last is None or (program != "train" and first.status == 0)))
        report = first.report
        if do in ERRORS and report.get("call") in ("unlink", "unlinkat", "rmdir"):
            # What could not be removed is still there, and the error says so.
            kept = os.path.relpath(report["path"], place.directory)
            faults = [fault for fault in faults if not (fault.startswith(kept) and fault.endswith("is left over"))]
        record = {
            "point": name_of(point), "call": report.get("call"), "path": report.get("path", "").replace(place.directory, "D"),
            "status": first.status, "faults": faults, "seconds": round(time.monotonic() - began, 2)}
        if do not in ("kill", "half") and first.status:
            record["error"] = (first.complaint or [first.errors[-200:]])[0].replace(place.directory, "D")
        if faults:
            record["errors"] = first.errors[-2000:]
        return record

    def guarded(self, point):
        try:
            self.run(point)
        except Exception as error:  # A fault of the check itself must not pass for a point without one.
            self.note({"point": name_of(point), "faults": [f"the check itself: {error!r}"], "status": None, "call": None})

    def note(self, record):
        with self.lock:
            # What was stopped has proved nothing: the next start runs the point.
            if Process.is_over:
                return
            self.records[record["point"]] = record
            self.append(record)
            for fault in record["faults"]:
                print(f"{record['point']} {record['call']} {record.get('path')}: {fault}", file=sys.stderr)
            if len(self.records) % 100 == 0:
                print(f"{len(self.records)} points", file=sys.stderr)

    def append(self, record):
        if self.log:
            self.log.write(json.dumps(record) + "\n")
            self.log.flush()

    def all(self, points):
        names = {name_of(point) for point in points}
        self.records = {name: record for name, record in self.records.items() if name in names}
        rest = [point for point in points if name_of(point) not in self.records]
        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(self.guarded, rest))

    def open_log(self):
        """Reads what an earlier start has noted. A line that it did not finish is written again."""
        if not self.options.log:
            return
        if os.path.exists(self.options.log):
            with open(self.options.log, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
            self.counts = {line["counted"]: line["calls"] for line in lines if "counted" in line}
            self.records = {line["point"]: line for line in lines if "point" in line}
        self.log = open(self.options.log + ".new", "w", encoding="utf-8")
        for name, calls in self.counts.items():
            self.append({"counted": name, "calls": calls})
        for record in self.records.values():
            self.append(record)
        os.replace(self.options.log + ".new", self.options.log)

    def table(self):
        """A row for each program and call: points of each kind, how many errors were survived, how many points are bad."""
        rows, bad = collections.defaultdict(collections.Counter), 0
        for record in self.records.values():
            program, _, do, _ = record["point"].split(":")
            row = rows[program, record["call"] or "(not reached)"]
            row[do] += 1
            row["bad"] += bool(record["faults"])
            row["went on"] += do in ERRORS and record["status"] == 0 and record["call"] is not None
            bad += bool(record["faults"])
        columns = ["kill", "half", *ERRORS, "went on", "bad"]
        print("| program | call | " + " | ".join(columns) + " |")
        print("|---|---|" + "---:|" * len(columns))
        for (program, call), row in sorted(rows.items()):
            print(f"| {program} | {call} | " + " | ".join(str(row[column]) for column in columns) + " |")
        return bad


def first_faults(do, first):
    """What is wrong with how a program ended that was hit."""
    report = first.report
    if report["late"] or first.status == 124:
        yield "hangs"
    elif do in ("kill", "half"):
        if report.get("call") and first.status != 137:
            yield f"was to be killed, and ended with {first.status}"
        elif not report.get("call") and first.status:
            yield f"ended with {first.status} before it was killed: {first.errors[-300:]}"
    # 0 done, 65 bad data, 69 peer gone, 74 I/O: not 1, which is a fault of the program.
    elif first.status not in (0, 65, 69, 74):
        yield f"ended with {first.status}: {first.errors.strip()[-400:]}"
    elif first.status and not first.complaint:
        yield f"says no error: {first.errors.strip()[-300:]}"
    elif first.status and report.get("path", "").startswith("/") and "  at: " not in first.errors:
        yield f"does not say where: {first.complaint[0]}"


def part(text):
    first, _, second = text.partition("/")
    if not 1 <= int(first) <= int(second):
        raise ValueError(text)
    return int(first), int(second)


def require_tracing(bench):
    """Fails where this system lets no program trace another one, as some containers do."""
    report = os.path.join(bench.directory, "tracing")
    tried = subprocess.run([bench.inject, "--report", report, "--", "true"], capture_output=True, text=True)
    if tried.returncode:
        sys.exit(f"error: cannot trace a program: {tried.stderr.strip()}\n  fix: allow ptrace (docker run --cap-add SYS_PTRACE)")


def leave(number, _):
    """Ctrl-C, or the end of a night: nothing that was started lives on. A second signal changes nothing, and the work is
    another thread's: this one may hold a lock that waiting for a program needs."""
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    threading.Thread(target=end, args=(number,)).start()


def end(number):
    # From here on nothing is started or noted; a line that is being written is whole or read as none.
    with Process.starting:
        Process.is_over = True
    Process.stop_all()
    os._exit(128 + number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skein")
    parser.add_argument("inject")
    parser.add_argument("directory")
    parser.add_argument("hub")
    parser.add_argument("--part", type=part, default=(1, 1))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--log")
    parser.add_argument("--program", action="append", choices=list(PROGRAMS))
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    bench = Bench(options.skein, options.inject, options.directory)
    require_tracing(bench)
    tiny.write_model(bench.model)
    tiny.write_preferences(bench.data, 20)
    check = Check(options, bench)
    check.open_log()
    programs = options.program or list(PROGRAMS)
    if options.only:
        points = [(*name.split(":")[:3], int(name.split(":")[3])) for name in options.only]
        programs = sorted({point[0] for point in points})
    states.prepare(bench, options.hub, programs)
    check.prepare(programs)
    if not options.only:
        points = check.points(programs)
    print(f"{len(points)} points", file=sys.stderr)
    check.all(points)
    bad = check.table()
    print(f"{len(check.records)} points, {bad} bad")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()

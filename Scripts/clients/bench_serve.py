"""Measures one server: bench_serve.py PART... --skein PROGRAM --model FILE; started by Scripts/bench-serve."""
import argparse, datetime, json, os, shlex, signal, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]
sys.dont_write_bytecode = True
import bench_batches, bench_prefix, bench_siege, bench_speculation
from peer_report import machine
from served import Checks, Server

PARTS = {"prefix": bench_prefix.run, "batches": bench_batches.run, "speculation": bench_speculation.run, "siege": bench_siege.run}


class Bench:
    """What the parts share: options, servers, checks, and where numbers go."""

    def __init__(self, options):
        self.options, self.checks, self.commands = options, Checks(), []

    def server(self, *words):
        """`skein serve` with the threads and the compute of this run."""
        words = [*words, "--threads", str(self.options.threads), "--compute", self.options.compute, "--no-request-log"]
        line = shlex.join(["skein", "serve", "--model", os.path.basename(self.options.model), *words])
        if line not in self.commands:
            self.commands.append(line)
        return Server(self.options.skein, self.options.model, *words)

    @staticmethod
    def say(words):
        print(words, file=sys.stderr, flush=True)


def median(values):
    return statistics.median(values)


def load():
    return " ".join(f"{value:.1f}" for value in os.getloadavg())


def main():
    parser = argparse.ArgumentParser(prog="Scripts/bench-serve", description="measures skein serve")
    parser.add_argument("parts", nargs="*", default=list(PARTS), help="prefix, batches, speculation, siege")
    for name in ("skein", "model", "peer-python", "directory", "command"):
        parser.add_argument("--" + name, default="", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5, help="alternated repetitions (5)")
    parser.add_argument("--threads", type=int, default=2, help="compute threads, of the peer, too (2)")
    parser.add_argument("--compute", default="fp32", help="how skein multiplies prompts: fp32, bf16 or int8 (fp32)")
    parser.add_argument("--turns", type=int, default=20, help="prefix: turns of the conversation (20)")
    parser.add_argument("--tokens", type=int, default=128, help="batches, speculation: tokens of an answer (128)")
    parser.add_argument("--siege", type=float, default=20, help="siege: seconds of each (20)")
    parser.add_argument("--peer-setting", help="batches: llama.cpp's attention and waiting, as flash,passive (the faster is tried out)")
    parser.add_argument("--json", help="file for all numbers")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    bench, report = Bench(options), {}
    version = subprocess.run([options.skein, "--version"], capture_output=True, text=True).stdout.strip()
    head = f"`{options.command}`, {datetime.date.today()}, {machine()}, {options.threads} threads, {options.compute}, {version}"
    print(head, flush=True)
    for part in options.parts:
        before, bench.commands = load(), []
        print(f"\n{part}: load {before} before", flush=True)
        report[part] = {"load_before": before, **PARTS[part](bench)}
        report[part].update(load_after=load(), commands=bench.commands)
        print(f"{part}: load {report[part]['load_after']} after", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"command": options.command, "head": head, "parts": report, "failed": bench.checks.failed}, file, indent=1)
    print(f"\n{bench.checks.passed} ok, {len(bench.checks.failed)} failed")
    return 1 if bench.checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())

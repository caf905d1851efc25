"""Measures Skein next to its peers; started by Scripts/bench-peers, which makes the environment."""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import peer_generation
import peer_table
import peer_training
from peer_processes import Problem, Skein, end_on_signals, run
from peer_report import machine, replace_section


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="Scripts/bench-peers")
    parser.add_argument("what", choices=["train", "generate"])
    for name in ("python", "skein", "model", "pairs", "allocators", "output", "docs", "date", "versions", "command"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--computes", default="fp32 bf16")
    parser.add_argument("--workloads", default="dense jargon")
    parser.add_argument("--peers")
    # The one of the seeds 1 to 11 whose rows are most like the whole file: 164 tokens a row (all: 171), 74 % of them
    # with loss (76 %), 60 % of the padded batches (60 %).
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args(words)
    arguments.computes = arguments.computes.split()
    arguments.workloads = arguments.workloads.split()
    if arguments.peers is not None and arguments.what == "train":
        parser.error("--peers is for generate: train has one peer")
    arguments.peers = (arguments.peers or "llama.cpp transformers").split()
    unknown = set(arguments.peers) - {"llama.cpp", "transformers"}
    if unknown or not arguments.peers:
        parser.error(f"no peer {' '.join(sorted(unknown))}: give --peers \"llama.cpp\", \"transformers\" or both")
    arguments.lib = sys.path[0]
    arguments.weights = os.path.join(arguments.output, "weights")
    return arguments


def main():
    if sys.argv[1:2] == ["table"]:
        end_on_signals()
        peer_table.main(sys.argv[2:])
        return
    arguments = arguments_of(sys.argv[1:])
    end_on_signals()
    load = os.getloadavg()[0]
    skein = Skein(arguments.skein, arguments.model, arguments.output, arguments.keep)
    arguments.has_compute = skein.has_option("train", "--compute")
    if not arguments.has_compute and arguments.computes != ["fp32"]:
        raise Problem("this skein's train has no --compute", "give --computes fp32, or another --skein")
    if arguments.what == "train" or "transformers" in arguments.peers:
        print("writing the same weights for the peers", file=sys.stderr)
        run([arguments.python, f"{arguments.lib}/peer-model.py", arguments.model, arguments.weights],
            os.path.join(arguments.output, "weights.log"))
    bench = {"train": peer_training, "generate": peer_generation}[arguments.what].Bench
    text, figures = bench(arguments, skein, arguments.output).measure()
    head = f"`{arguments.command}`, {arguments.date}, {machine()}, {arguments.threads} threads, " \
           f"{arguments.reps} alternated repetitions, load {load:.1f} before; {arguments.versions}."
    print(f"{head}\n\n{text}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"command": arguments.command, "date": arguments.date, "versions": arguments.versions,
                       "repetitions": arguments.reps, "threads": arguments.threads, **figures}, file, indent=1)
    if arguments.docs != "none":
        replace_section(arguments.docs, arguments.what, f"{head}\n\n{text}")


try:
    main()
except Problem as problem:
    sys.exit(str(problem))

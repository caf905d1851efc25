"""What the scripts about cells are told, and the names of cells."""

import argparse
import datetime
import os
import pathlib
import sys

import plan

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lib"))
from peer_processes import end_on_signals  # noqa: E402


def measuring_parser():
    """The parser of a script that measures on this machine: it is told the machine's name, too, and how to compute."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", required=True)
    parser.add_argument("--compute", default="fp32")
    return parser


def measured_on(arguments):
    """The machine, the day and the compute, as results name them."""
    return f"{arguments.machine}, {datetime.date.today()}, {arguments.compute}"


def arguments_of(parser, cell=None):
    """Adds what every script about a cell is told, and reads it. Paths become absolute: the cell changes the directory.
    A script about one cell alone names it. From here on a signal ends the programs that the script has started, too."""
    paths = ("skein", "model", "pairs", "work", "results")
    if cell:
        parser.set_defaults(cell=cell)
    else:
        parser.add_argument("cell", choices=plan.ALL)
    for name in paths:
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    found = parser.parse_args()
    for name in paths:
        setattr(found, name, os.path.abspath(getattr(found, name)))
    end_on_signals()
    return found

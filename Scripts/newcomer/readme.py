"""README.md, from its first block to its last, in the clone: commands are run, what they print is compared, rows are looked up.

A line of commands is run as it stands, unless it is here. What a block shows must be said here, or be rows: a block that
is neither fails.
"""

import json
import re
import urllib.request

from processes import Failure, Program

# Beginning of a line: why it is not run, and what of it is run all the same, to show that it is understood.
LEFT_OUT = {
    "Scripts/test": ("CI runs it, .ci/run", lambda line: "Scripts/test --help"),
    "skein launch --hosts": ("it needs machines that ssh reaches", lambda line: uncommented(line) + " --print-config"),
    "srun": ("it needs Slurm", lambda line: line_from("skein", line) + " --print-config"),
}
# Beginning of a block: the beginnings of the commands that print it.
SHOWN = {
    "2 s    step 0": ["skein train", "skein generate", "skein evaluate"],
    "== a coordinator and two workers": ["Scripts/demo"],
}
ROWS = "docs/examples/first-adapter/train.jsonl"
COMMANDS = ("$ ", "Scripts/", "skein ", "srun ")
# What differs from run to run and from machine to machine.
VARIES = [
    (r"^\d+ s\s", ""),
    (r"[\d.,]+ tokens/s", "N tokens/s"),
    (r"ETA [\ddhms ]+", "ETA T"),
    (r"\b[\d.]+ s\b", "T s"),
    (r"127\.0\.0\.1:\d+", "ADDRESS"),
    (r"\S*/skein-demo\.\w+|/tmp/demo", "DEMO"),
    # How many it had, and how the system says that it is gone.
    (r"with (1 lease|\d+ leases): .*?(; others|$)", r"with N leases: WHY\2"),
]


def uncommented(line):
    return re.sub(r"\s+#\s.*", "", line)


def line_from(word, line):
    return uncommented(line)[line.index(word):]


def plain(line):
    for pattern, shown in VARIES:
        line = re.sub(pattern, shown, line)
    return " ".join(line.split())


def blocks(text):
    """[(number of the first line, lines)] of what stands between fences."""
    found, fenced = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if fenced is not None:
                found.append((fenced[0], fenced[1]))
            fenced = (number + 1, []) if fenced is None else None
        elif fenced is not None:
            fenced[1].append(line)
    return found


def compare(shown, printed):
    """Each line that is shown was printed, in this order; `[...]` stands for the rest of a line."""
    left = iter([plain(line) for line in printed])
    for line in shown:
        wanted, cut, _ = plain(line).partition("[...]")
        wanted = wanted.rstrip()
        if not any(line == wanted or cut and line.startswith(wanted) for line in left):
            near = [line for line in printed if plain(line).split()[:1] == wanted.split()[:1]]
            raise Failure(f"this line was not printed, or not here: {line}", tail=near[-5:],
                          fix="show in README.md what the commands print now, or mend what they print")


class Readme:
    def __init__(self, walk):
        self.walk, self.printed, self.used = walk, [], set()
        self.state = walk.work / "environment"
        # A newcomer's shell, as this one was begun.
        self.env = {key: value for key, value in walk.env.items() if key not in ("skein", "model")}

    def command(self, number, line):
        place = f"README.md:{number}: {line}"
        for beginning, (reason, understood) in LEFT_OUT.items():
            if line.startswith(beginning):
                self.used.add(beginning)
                words = understood(line)
                Program(words, self.walk.clone, self.env).end()
                return self.walk.leave_out(place, f"{reason}; run instead: {words.replace(line, '... ')}")
        if line.startswith("skein serve"):
            self.serve(line)
            return self.walk.ok(place, "given --listen 127.0.0.1:0 behind")
        # What a line sets, the next lines see, as in one shell.
        program = Program(f"set -a\n{line}\nended=$?\nenv -0 >'{self.state}'\nexit $ended", self.walk.clone, self.env, line)
        self.printed.append((line, program.end()))
        if "# " in line and "the same hash" in line.split("# ")[1]:
            hashes = [text for _, printed in self.printed for text in printed if text.startswith("sha256: ")]
            if len(set(hashes[-2:])) != 1 or len(hashes) < 2:
                raise program.failure(f"not the same hash: {', '.join(hashes[-2:])}")
        self.env = dict(field.split("=", 1) for field in self.state.read_text().split("\0") if "=" in field)
        self.env.pop("ended", None)
        self.walk.ok(place)
        return None

    def serve(self, line):
        words = uncommented(line)
        # Where it listens when nothing says so is what README says.
        found = Program(words + " --print-config", self.walk.clone, self.env).end()
        listen = json.loads("\n".join(found))["listen"]
        if (page := re.search(r"http://([\d.:]+)/", line)) and page[1] != listen:
            raise Failure(f"it listens at {listen}", line)
        name = re.search(r"--adapter (\w+)=", words)[1]
        ask(Program(f"exec {words} --listen 127.0.0.1:0", self.walk.clone, self.env), name)

    def block(self, number, lines):
        commands = [(at, line.removeprefix("$ ")) for at, line in enumerate(lines, number) if line.startswith(COMMANDS)
                    or re.match(r"\w+=\$\(", line)]
        prompted = any(line.startswith("$ ") for line in lines)
        remarks = sum(not line or line.startswith("#") for line in lines)
        if commands and (prompted or len(commands) + remarks == len(lines)):
            for at, line in commands:
                self.command(at, line)
                if prompted:
                    below = lines[at - number + 1:]
                    shown = below[:next((i for i, line in enumerate(below) if line.startswith("$ ")), len(below))]
                    compare(shown, self.printed[-1][1])
        elif lines[0].startswith("{"):
            rows = (self.walk.clone / ROWS).read_text().splitlines()
            for line in lines:
                if line not in rows:
                    raise Failure(f"{ROWS} has no such row: {line}", fix="show rows that are there")
            self.walk.ok(f"README.md:{number}: {len(lines)} rows of {ROWS}")
        else:
            self.shown(number, lines)

    def shown(self, number, lines):
        beginning = next((beginning for beginning in SHOWN if lines[0].startswith(beginning)), None)
        if beginning is None:
            raise Failure(f"nothing says what this block is: {lines[0]}",
                          fix="write one command on a line, with a word of COMMANDS first, or put the first line into SHOWN of "
                              "Scripts/newcomer/readme.py, with the commands that print it")
        self.used.add(beginning)
        printed = [text for line, text in self.printed for start in SHOWN[beginning] if line.startswith(start)]
        if len(printed) != len(SHOWN[beginning]):
            raise Failure(f"what prints this block failed above, or is not there: {', '.join(SHOWN[beginning])}")
        compare(lines, [line for text in printed for line in text])
        self.walk.ok(f"README.md:{number}: {len(lines)} lines that {', '.join(SHOWN[beginning])} printed",
                     "hash and losses included; times, speeds and addresses are not compared")


def ask(server, model):
    """Its chat page and an answer of OpenAI's protocol, and Ctrl-C."""
    address = server.event(r"listening on (http://127\.0\.0\.1:\d+)")[1]
    try:
        with urllib.request.urlopen(address + "/", timeout=60) as reply:
            if b"<html" not in reply.read():
                raise server.failure(f"{address}/ is no page")
        body = {"model": model, "messages": [{"role": "user", "content": "When does the ferry leave?"}], "max_tokens": 8}
        request = urllib.request.Request(
            address + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as reply:
            if not json.load(reply)["choices"][0]["message"]["content"]:
                raise server.failure("its answer is empty")
    except OSError as error:
        raise server.failure(f"{address} did not answer: {error}") from None
    server.interrupt()
    server.end(300)


def walk(walk):
    text = (walk.clone / "README.md").read_text()
    readme = Readme(walk)
    for number, lines in blocks(text):
        try:
            readme.block(number, lines)
        except Failure as failure:
            walk.fail(f"README.md:{number}, the block that begins with {lines[0]!r}", failure)
    for beginning in [*LEFT_OUT, *SHOWN]:
        if beginning not in readme.used:
            walk.fail("README.md", Failure(
                f"no line begins with {beginning!r} any more", fix="take it out of Scripts/newcomer/readme.py"))

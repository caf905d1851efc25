"""Types at real shells, on a terminal, and reads what they complete. Arguments: the binary of skein, an empty folder."""
import os, pty, re, select, shutil, signal, subprocess, sys, time

skein, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
home = os.path.join(folder, "home")
work = os.path.join(folder, "work")
os.makedirs(home)
os.makedirs(work)
for name in ["model of mine.gguf", "it's.gguf"]:
    open(os.path.join(work, name), "w").close()
os.mkdir(os.path.join(work, "runs"))
bin_folder = os.path.join(folder, "bin")
os.mkdir(bin_folder)
# Prints its words, so that what a shell made of a line is known exactly.
with open(os.path.join(bin_folder, "skein"), "w") as stub:
    stub.write('#!/bin/sh\necho "<<<"\nprintf "[%s]\\n" "$@"\necho ">>>"\n')
os.chmod(os.path.join(bin_folder, "skein"), 0o755)

scripts = {}
for shell in ["bash", "zsh", "fish"]:
    scripts[shell] = os.path.join(folder, "skein." + shell)
    with open(scripts[shell], "w") as file:
        subprocess.run([skein, "completions", shell], check=True, stdout=file)
environment = {"HOME": home, "PATH": bin_folder + ":/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8",
               "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}

# What is typed before TAB, and the words of the finished line. Each has one completion.
LINES = [
    ("trai", ["train"]),
    ("train --micro", ["train", "--micro-batch-tokens"]),
    ("train --shuffle of", ["train", "--shuffle", "off"]),
    ("train --model mod", ["train", "--model", "model of mine.gguf"]),
    ("train --model it", ["train", "--model", "it's.gguf"]),
    ("inspect mod", ["inspect", "model of mine.gguf"]),
    ("completions zs", ["completions", "zsh"]),
    ("help fus", ["help", "fuse"]),
    # Nothing is offered: the line stays as it was.
    ("train --rank mod", ["train", "--rank", "mod"]),
    ("train mod", ["train", "mod"]),
    ("generate --prompt mod", ["generate", "--prompt", "mod"]),
    ("status --no-token", ["status", "--no-token"]),
]
STARTS = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], "PS1='ready> '; eval \"$(cat %s)\"\n"),
    "zsh": (["zsh", "-f", "-i"], "PS1='ready> '; autoload -Uz compinit && compinit -u -D; eval \"$(cat %s)\"\n"),
    "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo 'ready> '; end; source %s\n"),
}


class Terminal:
    def __init__(self, words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(work)
            os.execvpe(words[0], words, environment)
        self.text = ""

    def read(self, seconds):
        """What comes until nothing has come for a while."""
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                return
            if not part:
                return
            # Shells that ask the terminal who it is get an answer.
            if b"\x1b[c" in part or b"\x1b[0c" in part:
                os.write(self.fd, b"\x1b[?62;c")
            if b"\x1b[6n" in part:
                os.write(self.fd, b"\x1b[1;1R")
            self.text += part.decode(errors="replace")

    def wait(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text, re.S):
            if time.monotonic() > end:
                raise SystemExit(f"no {pattern!r} within {seconds} s; the terminal shows:\n{self.text!r}")
            self.read(0.05)

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        os.kill(self.pid, signal.SIGHUP)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


failures = 0
checked = []
for shell, (words, start) in STARTS.items():
    if not shutil.which(shell):
        print(f"{shell}: not here, so not checked (Debian: apt-get install {shell})")
        continue
    terminal = Terminal(words)
    terminal.read(1)
    terminal.type(start % scripts[shell])
    terminal.wait("ready> ")
    for typed, wanted in LINES:
        terminal.read(0.1)
        terminal.text = ""
        terminal.type("skein " + typed + "\t")
        terminal.read(0.7)
        terminal.type("\r")
        terminal.wait(r"<<<.*>>>")
        got = re.findall(r"\[([^\x1b\r\n]*)\]\r?\n", re.search(r"<<<(.*)>>>", terminal.text, re.S).group(1))
        if got != wanted:
            failures += 1
            print(f"{shell}: {typed!r} became {got}, not {wanted}")
    terminal.close()
    checked.append(shell)
    print(f"{shell}: {len(LINES)} lines")

if shutil.which("fish"):
    # Fish tells what it would offer, with the explanations.
    offered = subprocess.run(["fish", "--no-config", "-c", f"source {scripts['fish']}; complete -C 'skein train --'"],
                             check=True, capture_output=True, text=True, env=environment, cwd=work).stdout
    help_text = subprocess.run([skein, "train", "--help", "all"], check=True, capture_output=True, text=True).stdout
    listed = set(re.findall(r"^  (--[a-z0-9-]+)", help_text, re.M))
    found = {line.split("\t")[0] for line in offered.splitlines()}
    if listed != found or any("\t" not in line for line in offered.splitlines()):
        failures += 1
        print(f"fish: options differ from --help: {sorted(listed ^ found)}")
    print(f"fish: {len(found)} options with explanations")
sys.exit(1 if failures or not checked else 0)

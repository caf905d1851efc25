"""Several sshds on loopback that stand for hosts, for Cluster/hosts/test."""

import ctypes
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def processes():
    """The parent and the words of every process, by its number."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name, in parentheses, may contain blanks.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(entry.name)] = (parent, (entry / "cmdline").read_text().split("\0"))
            except (OSError, ValueError):
                continue
    return found


def descendants():
    """Processes that this one has started, or those have."""
    everybody, mine = processes(), {os.getpid()}
    while True:
        more = {number for number, (parent, _) in everybody.items() if parent in mine} - mine
        if not more:
            return {number: everybody[number][1] for number in mine - {os.getpid()}}
        mine |= more


class Farm:
    """A temporary directory with keys, homes, sshds, and an `ssh` that knows these hosts and no others."""

    def __init__(self, place):
        self.place = place
        self.ports = {}
        self.servers = []
        self.made_run = False

    def __enter__(self):
        # What outlives its parent becomes a child of this process, which ends it.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        (self.place / "bin").mkdir()
        (self.place / "homes").mkdir()
        (self.place / "authorized_keys").write_text(pathlib.Path(f"{self.key('me')}.pub").read_text())
        self.key("host")
        public = " ".join(pathlib.Path(f"{self.place}/host.pub").read_text().split()[:2])
        (self.place / "known_hosts").write_text(f"skein-hosts {public}\n")
        self.config = self.place / "ssh_config"
        self.config.touch()
        ssh = shutil.which("ssh")
        self.script("bin/ssh", f"""
            arguments=$(for word in "$@"; do case $word in -*|*=*) ;; *) echo "$word"; break ;; esac; done)
            torn={self.place}/torn.$arguments
            [ ! -e "$torn" ] || exec sh -c 'n=$1; shift; head -c "$n" | "$@"' sh "$(cat "$torn")" \\
                {ssh} -F {self.config} "$@"
            exec {ssh} -F {self.config} "$@"
            """)
        self.environment = dict(os.environ, PATH=f"{self.place}/bin:{os.environ['PATH']}")
        # Where it is missing, a root's sshd does not start.
        if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
            os.mkdir("/run/sshd", 0o755)
            self.made_run = True
        return self

    def __exit__(self, *_):
        deadline = time.monotonic() + 20
        while (left := descendants()) and time.monotonic() < deadline:
            for number in left:
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
            time.sleep(0.05)
        if self.made_run:
            os.rmdir("/run/sshd")

    def script(self, name, text):
        path = self.place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return path

    def key(self, name):
        path = self.place / name
        if not path.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
        return path

    def home(self, name):
        return self.place / "homes" / name

    def host(self, name, port=None, like=None, server=False, key="me", torn=None, knows="known_hosts",
             **more):
        """A name for ssh: of a port, of the same sshd as another name, or of an sshd of its own."""
        self.ports[name] = port or self.ports.get(like) or (self.serve(name, **more) if server else None)
        if torn:
            (self.place / f"torn.{name}").write_text(str(torn))
        with self.config.open("a") as config:
            config.write(f"""Host {name}
    HostName 127.0.0.1
    Port {self.ports[name]}
    HostKeyAlias skein-hosts
    UserKnownHostsFile {self.place}/{knows}
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    IdentityFile {self.place}/{key}
    IdentitiesOnly yes
    IdentityAgent none
    LogLevel ERROR
""")

    def serve(self, name, path=None, variables="", options_of_server="", small_home=None):
        port, home = free_port(), self.home(name)
        home.mkdir()
        config = self.place / f"sshd.{name}"
        paths = f"{path}:{os.defpath}" if path else os.defpath
        config.write_text(f"""Port {port}
ListenAddress 127.0.0.1
HostKey {self.place}/host
PidFile none
AuthorizedKeysFile {self.place}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserRC no
PrintMotd no
MaxStartups 100
SetEnv HOME={home} XDG_CACHE_HOME={home}/.cache PATH={paths} {variables}
{options_of_server}
""")
        words = ["/usr/sbin/sshd", "-D", "-f", str(config), "-E", f"{config}.log"]
        if small_home:
            mount = f"mount -t tmpfs -o size={small_home}m tmpfs {home} && exec {shlex.join(words)}"
            words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]
        server = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        self.servers.append(server)
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return port
            except OSError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"error: no sshd: {pathlib.Path(f'{config}.log').read_text()}") from None
                time.sleep(0.05)

    def process(self, *words):
        """The process below this one with this command (`worker`) and these words in a row, or None."""
        for number, line in descendants().items():
            rows = [tuple(line[at:at + len(words) - 1]) for at in range(len(line))]
            if line[1:2] == [words[0]] and tuple(words[1:]) in rows:
                return number
        return None

"""What watching costs: check-status.py LAB. `skein-lab bench wire` alone, watched, and beset by hostile clients, in turns."""

import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

LAB = sys.argv[1]  # or --beset, for the process that besets
ROUNDS, STEPS, WORKERS = 3, 40, 64
HOSTILE = 200


def bench(clients):
    """A benchmark with `clients(host, port, stopping)` running beside it; its JSON."""
    words = ["bench", "wire", "--rank", "8", "--workers", str(WORKERS), "--steps", str(STEPS), "--json", "--status", "127.0.0.1:0"]
    process = subprocess.Popen([LAB, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port = None
    for line in process.stderr:
        found = re.search(r"status: http://127\.0\.0\.1:(\d+)/", line)
        if found:
            port = int(found.group(1))
            break
    stopping = threading.Event()
    threads = [threading.Thread(target=one, args=(port, stopping)) for one in clients]
    for thread in threads:
        thread.start()
    rest = threading.Thread(target=process.stderr.read)
    rest.start()
    answer = json.loads(process.stdout.read())
    stopping.set()
    for thread in [*threads, rest]:
        thread.join()
    process.wait()
    return answer["result"] if "result" in answer else answer


def request(port, path, more=""):
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
    return one


def page(port, stopping):
    """A browser that follows the run."""
    one = request(port, "/events")
    one.settimeout(0.5)
    received = 0
    while not stopping.is_set():
        try:
            piece = one.recv(1 << 20)
        except TimeoutError:
            continue
        if not piece:
            break
        received += len(piece)
    PAGES.append(received)


def prometheus(port, stopping):
    """Scrapes once a second; Prometheus's default is once in 15."""
    while not stopping.wait(1):
        try:
            one = request(port, "/metrics", "Connection: close\r\n")
            while one.recv(1 << 20):
                pass
            SCRAPES.append(1)
        except OSError:
            break


def hostile(port, stopping):
    """`beset` in a process of its own that leaves the processor to others, as if it were another machine."""
    process = subprocess.Popen([sys.executable, __file__, "--beset", str(port)], stdout=subprocess.PIPE, preexec_fn=lambda: os.nice(19))
    stopping.wait()
    process.terminate()
    BEGUN.append(int(process.stdout.read() or 0))
    process.wait()


def beset(port):
    """200 clients at a time: silent, slow, endless, half a request, never reading, garbage, again and again."""
    draw = random.Random(14)
    held, begun, isOver = [], [], []
    signal.signal(signal.SIGTERM, lambda *_: isOver.append(True))

    def begin():
        kind = draw.randrange(6)
        try:
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", port))
            one.setblocking(False)
            if kind == 1:
                one.send(b"GET / HT")
            elif kind == 2:
                one.send(b"GET /" + b"a" * 60000)
            elif kind == 3:
                one.send(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            elif kind == 4:
                one.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 400)
            elif kind == 5:
                one.send(os.urandom(4096))
            held.append(one)
            begun.append(1)
        except OSError:
            pass

    while not isOver:
        while len(held) < HOSTILE and not isOver:
            begin()
        for one in draw.sample(held, 20):
            try:
                one.send(b"x")
            except OSError:
                held.remove(one)
                one.close()
        for one in draw.sample(held, 10):
            held.remove(one)
            one.close()
        time.sleep(0.02)
    print(len(begun))


if sys.argv[1] == "--beset":
    beset(int(sys.argv[2]))
    sys.exit()
PAGES, SCRAPES, BEGUN = [], [], []
rounds = []
for number in range(ROUNDS):
    alone, watched, beset = bench([]), bench([page, prometheus]), bench([page, prometheus, hostile])
    rounds.append((alone, watched, beset))
    print(f"round {number + 1}: steps/s {alone['steps_per_second']:.2f} alone, {watched['steps_per_second']:.2f} watched, "
          f"{beset['steps_per_second']:.2f} beset; share of the CPU {100 * watched['status_share']:.2f} % watched, "
          f"{100 * beset['status_share']:.2f} % beset", flush=True)
share = statistics.median(one[1]["status_share"] for one in rounds)
watched = statistics.median(one[1]["steps_per_second"] / one[0]["steps_per_second"] for one in rounds)
beset = statistics.median(one[2]["steps_per_second"] / one[0]["steps_per_second"] for one in rounds)
print(f"{len(PAGES)} pages of {statistics.median(PAGES):.0f} bytes, {len(SCRAPES)} scrapes, {sum(BEGUN)} hostile clients")
print(f"watching takes {100 * share:.2f} % of the coordinator's CPU; steps per second, against nobody looking: {watched:.3f} watched, {beset:.3f} beset")
sys.exit(0 if share < 0.01 else 1)

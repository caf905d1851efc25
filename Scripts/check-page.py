"""The status page of a real run in a real browser: check-page.py SKEIN MODEL DIRECTORY [IMAGES]."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
sys.dont_write_bytecode = True
from browser import check, check_looks, chromium, end, said, wait, watched

SKEIN, MODEL, DIRECTORY = sys.argv[1:4]
IMAGES = sys.argv[4] if len(sys.argv) > 4 else ""
OUT = os.path.join(DIRECTORY, "run")
NAMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "named.json")
CURVES = ("loss", "learning_rate", "gradient_norm", "tokens_per_second", "seconds", "workers")


class Run:
    """A coordinator and its workers, each stopped by its own pid."""

    def __init__(self):
        log = os.path.join(DIRECTORY, "coordinator.log")
        words = ["coordinator", "--config", NAMED, "--listen", "127.0.0.1:0", "--status", "127.0.0.1:0", "--model", MODEL,
                 "--data", f"{DIRECTORY}/rows.jsonl", "--output", OUT, "--epochs", "2", "--max-length", "192", "--micro-batch-tokens", "128",
                 "--batch-size", "4", "--patience", "300s", "--sample-prompt", "What is a nybble?", "--sample-prompt", "<b>Who are\u2028you?</b>"]
        with open(log, "wb") as file:
            self.coordinator = subprocess.Popen([SKEIN, *words], stdout=subprocess.DEVNULL, stderr=file)
        self.workers = {}
        wait("the coordinator listens", lambda: said(log, r"listening on (\S+)") and said(log, r"status: (\S+)"))
        self.address, self.url = said(log, r"listening on (\S+)"), said(log, r"status: (\S+)")

    def work(self, name):
        words = ["worker", "--coordinator", self.address, "--model", MODEL, "--threads", "1", "--name", name]
        self.workers[name] = subprocess.Popen([SKEIN, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        for process in [*self.workers.values(), self.coordinator]:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()


def recorded():
    """metrics.jsonl as the page has it: columns of steps, validations, samples."""
    lines = [json.loads(line) for line in open(f"{OUT}/metrics.jsonl")]
    steps = [line for line in lines if "loss" in line]
    return steps, [line for line in lines if "validation_tokens" in line], [line for line in lines if "sample_prompt" in line]


def vertices(path):
    return len(re.findall(r"[ML]", path or ""))


def watch(browser, run):
    page, problems, requests = watched(browser.new_page(viewport={"width": 1200, "height": 1500}, color_scheme="light"))
    page.goto(run.url)
    state = lambda name: page.evaluate("name => document.querySelector(`#workers tr[data-name=${name}]`)?.dataset.state ?? null", name)
    step = lambda: page.evaluate("() => window.skein.snapshot?.run.step ?? 0")
    check(page.inner_text("#link") in ("live", "connecting …"), "the page connects")
    run.work("w1")
    run.work("w2")
    wait("both workers have rows", lambda: state("w1") in ("computing", "idle") and state("w2") in ("computing", "idle"))
    wait("three steps", lambda: step() >= 3)
    check(page.inner_text("#why").endswith("."), "there is a sentence: " + page.inner_text("#why"))

    victim = run.workers["w2"]
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    check(wait("the killed worker is lost", lambda: state("w2") == "lost"), "a killed worker's row says lost")
    run.work("w2")
    check(wait("it is back", lambda: state("w2") in ("computing", "idle")), "and is back when it returns")
    prometheus(run)

    wait("a step with two workers again", lambda: len(page.query_selector_all("#rounds tr")) >= 3)
    check_looks(page, "page", IMAGES)
    page.set_viewport_size({"width": 1200, "height": 1500})
    keyboard(page)

    wait("the run ends", lambda: run.coordinator.poll() is not None, 900)
    check(run.coordinator.poll() == 0, "the coordinator ends well")
    wait("the page says so", lambda: page.inner_text("#link") == "the run has ended")
    compare(page)
    # Once the run is over the page tries to reach it again: that alone is an error of the console.
    problems = [text for text in problems if "ERR_CONNECTION_REFUSED" not in text and "ERR_INCOMPLETE_CHUNKED" not in text]
    check(not problems, f"no console error {problems}")
    outside = [url for url in requests if not url.startswith((run.url, "data:"))]
    check(not outside, f"no request outside, of {len(requests)} {outside}")


def keyboard(page):
    """A curve is read with the arrow keys."""
    page.focus("#charts svg")
    page.keyboard.press("Home")
    first = page.inner_text("#charts output")
    page.keyboard.press("ArrowRight")
    second = page.inner_text("#charts output")
    check(first.startswith("step 1:") and second.startswith("step 2:"), f"arrow keys read the curve: {first!r}, {second!r}")


def compare(page):
    steps, validations, samples = recorded()
    shown = page.evaluate("() => window.skein")
    check(shown["steps"]["step"] == [line["step"] for line in steps], f"the page has all {len(steps)} steps")
    for name in CURVES:
        check(shown["steps"][name] == [line[name] for line in steps], f"{name} equals metrics.jsonl")
    check(shown["validations"]["validation_loss"] == [line["validation_loss"] for line in validations], f"{len(validations)} validations equal metrics.jsonl")
    check([(one["prompt"], one["text"]) for one in shown["samples"]] == [(one["sample_prompt"], one["sample"]) for one in samples],
          f"{len(samples)} samples equal metrics.jsonl")
    paths = page.evaluate("() => [...document.querySelectorAll('#charts svg')].map(svg => [...svg.querySelectorAll('path')].map(p => p.getAttribute('d')))")
    check([vertices(one[0]) for one in paths] == [len(steps)] * 4, "each curve has a point for each step")
    check(vertices(paths[0][2]) == len(validations), "and the loss one for each validation")
    # Where the lowest and the highest loss are drawn.
    losses = [line["loss"] for line in steps]
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", paths[0][0])]
    check(heights.index(min(heights)) == losses.index(max(losses)), "the highest loss is drawn highest")
    check(page.query_selector("#samples b b") is None and "<b>Who" in page.inner_text("#samples"), "markup in a prompt is text")


def prometheus(run):
    text = urllib.request.urlopen(run.url + "metrics").read()
    tool = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    check(tool.returncode == 0 and not tool.stdout + tool.stderr, f"promtool finds nothing {(tool.stdout + tool.stderr).decode()}")
    target = run.url.removeprefix("http://").rstrip("/")
    config = os.path.join(DIRECTORY, "prometheus.yml")
    with open(config, "w") as file:
        file.write(f"global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: skein\n  static_configs: [{{targets: ['{target}']}}]\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={DIRECTORY}/tsdb", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    server = subprocess.Popen(words)

    def query(text):
        try:
            answer = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={text}"))
        except OSError:
            return None
        found = answer["data"]["result"]
        return float(found[0]["value"][1]) if found else None

    try:
        wait("Prometheus scrapes", lambda: query("up") == 1)
        check((query("skein_step") or 0) >= 3, f"Prometheus has scraped step {query('skein_step')}, {query('skein_connected_workers')} workers")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def guarded(browser):
    """A run that asks for a token, and a process that says nothing for a while."""
    secret = "one%secret-of-100%"
    path = os.path.join(DIRECTORY, "status-token")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(secret + "\n")
    words = ["train", "--config", NAMED, "--model", MODEL, "--data", f"{DIRECTORY}/rows.jsonl", "--output", f"{DIRECTORY}/guarded",
             "--epochs", "200", "--max-length", "64", "--batch-size", "2", "--threads", "1", "--status", "127.0.0.1:0", "--status-token-file", path]
    with open(f"{DIRECTORY}/guarded.log", "wb") as log:
        process = subprocess.Popen([SKEIN, *words], stdout=subprocess.DEVNULL, stderr=log)

    url = lambda: said(f"{DIRECTORY}/guarded.log", r"(http://[0-9.:]+/)")
    try:
        wait("the guarded run has a page", url)
        page = browser.new_page()
        link = lambda: page.inner_text("#link")
        page.goto(url() + "#token=" + secret)
        check(wait("the page is let in", lambda: link() == "live"), "a secret with percent signs is taken from the address")
        check("token" not in page.url, "and is gone from there")

        other = browser.new_context().new_page()
        other.goto(url())
        check(wait("the page asks", lambda: other.is_visible("#ask")), "without a token the page asks for it")
        other.fill("#token", "sécret\u2026")
        other.press("#token", "Enter")
        check(wait("the page asks again", lambda: other.is_visible("#ask")), "a token that no header takes is asked for again")
        pasted = browser.new_context().new_page()
        pasted.goto(url())
        wait("the page asks", lambda: pasted.is_visible("#ask"))
        pasted.evaluate("secret => { location.hash = 'token=' + secret; }", secret)
        check(wait("it is let in", lambda: pasted.inner_text("#link") == "live"), "a token pasted into the open page's address is taken")
        check("token" not in pasted.url, "and is gone from there, too")
        other.evaluate("""secret => {
            document.getElementById("token").value = secret;
            document.getElementById("ask").requestSubmit();
        }""", secret)
        check(not other.is_visible("#ask"), "the form is gone once it is sent: it cannot be sent twice")
        steps = lambda: other.evaluate("() => window.skein.steps.step")
        wait("three steps", lambda: len(steps()) >= 3)
        check(steps() == list(range(1, len(steps()) + 1)), "each step is there once")

        process.send_signal(signal.SIGSTOP)
        check(wait("silence is noticed", lambda: "said nothing for" in link()), "a process that says nothing is not called live: " + link())
        process.send_signal(signal.SIGCONT)
        check(wait("it is back", lambda: link() == "live"), "and is live again when it goes on")
        wait("more steps", lambda: len(steps()) > 3 and page.evaluate("() => window.skein.steps.step.length") > 3)
        shown = page.evaluate("() => window.skein.steps.step")
        check(shown == list(range(1, len(shown) + 1)), "with each step once")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


run = Run()
try:
    with chromium() as browser:
        watch(browser, run)
        guarded(browser)
finally:
    run.stop()
end()

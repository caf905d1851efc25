"""A report in a real browser: check-report.py DIRECTORY [IMAGES], with report.html, report.md and the runs cluster and alone."""

import json
import re
import sys
from pathlib import Path

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

DIRECTORY = Path(sys.argv[1])
IMAGES = sys.argv[2] if len(sys.argv) > 2 else ""
failures = []


def check(holds, words):
    print(("ok   " if holds else "FAIL ") + words, flush=True)
    if not holds:
        failures.append(words)


def lines(run, name):
    return [json.loads(line) for line in open(DIRECTORY / run / name)]


def figures(page):
    for run in ("cluster", "alone"):
        metrics = lines(run, "metrics.jsonl")
        ledger = [line for line in lines(run, "ledger.jsonl") if "micro_batch" in line]
        steps = [line for line in metrics if "loss" in line]
        # That before the first step is never the best one.
        validations = [line["validation_loss"] for line in metrics if "validation_tokens" in line and line["step"] > 0]
        column = 2 if run == "cluster" else 3
        cell = lambda table, name: page.inner_text(
            f"//table[caption='{table}']//tr[th='{name}']/td[{column - 1}]").replace(",", "")
        check(cell("Result", "steps") == str(len(steps)), f"{run}: {len(steps)} steps")
        check(cell("Result", "last loss") == f"{steps[-1]['loss']:.4f}", f"{run}: last loss {steps[-1]['loss']:.4f}")
        check(cell("Result", "best validation loss").startswith(f"{min(validations):.4f} "), f"{run}: best validation")
        check(cell("Result", "tokens") == str(sum(line["tokens"] for line in steps)), f"{run}: tokens")
        workers = {line["worker"] for line in ledger}
        check(len(workers) == (2 if run == "cluster" else 1), f"{run}: computed by {sorted(workers)}")
        # One process has no workers to compare.
        check((page.locator(f"//table[caption='Workers of {run}']").count() == 0) == (run == "alone"), f"{run}: a table of workers, or none")
        for worker in workers if run == "cluster" else ():
            own = [line for line in ledger if line["worker"] == worker]
            row = page.inner_text(f"//table[caption='Workers of {run}']//tr[th='{worker}']").replace(",", "").split("\t")
            check(row[1:3] == [str(len(own)), str(sum(line["tokens"] for line in own))], f"{run}: {worker} computed {len(own)}")
    names = page.eval_on_selector_all("//table[caption='What differs']//tbody//th", "all => all.map(one => one.innerText)")
    check({"--rank", "--learning-rate", "--micro-batch-tokens"} <= set(names) and "--epochs" not in names, f"what differs: {names}")


def curves(page):
    """The drawn losses are those of metrics.jsonl, up to the pixel."""
    for index, run in enumerate(("cluster", "alone")):
        losses = [line["loss"] for line in lines(run, "metrics.jsonl") if "loss" in line]
        path = page.get_attribute(f"(//figure[figcaption='Training loss']//*[name()='path'][@class='c{index} faint'])", "d")
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]
        check(len(heights) == len(losses), f"{run}: {len(losses)} points")
        low, high = min(losses), max(losses)
        bottom, top = max(heights), min(heights)
        worst = max(abs(y - (bottom + (loss - low) / (high - low) * (top - bottom))) for y, loss in zip(heights, losses))
        check(worst < 0.02, f"{run}: each is where its loss is (off by {worst:.3f} of 240)")


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
    context = browser.new_context(offline=True)
    page = context.new_page()
    problems, requests = [], []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    url = (DIRECTORY / "report.html").as_uri()
    page.goto(url)
    for scheme, size, name in (("light", (1000, 1200), "report-light"), ("dark", (1000, 1200), "report-dark"),
                               ("light", (390, 844), "report-phone")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        width = page.evaluate("() => document.documentElement.scrollWidth")
        check(width <= size[0], f"{name}: nothing is wider than the screen ({width} of {size[0]})")
        found = Axe().run(page)["violations"]
        serious = [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found
                   if one["impact"] in ("serious", "critical")]
        check(not serious, f"{name}: axe-core finds nothing serious {serious}; less: {[one['id'] for one in found]}")
        if IMAGES:
            page.screenshot(path=f"{IMAGES}/{name}.png")
    figures(page)
    curves(page)
    check(page.query_selector("h3 b") is None and "<b>Who</b> | are you?" in page.content().replace("&lt;", "<").replace("&gt;", ">"),
          "markup in a prompt is text")
    check([one for one in requests if not one.startswith("data:")] == [url], f"no request but for the file: {requests}")
    check(not problems, f"no console error {problems}")
    browser.close()
text = (DIRECTORY / "report.md").read_text()
check("| steps |" in text and "<b>" not in text and all(len(row.split(" | ")) == 3 for row in text.splitlines() if row.startswith("| steps")),
      "Markdown has the results")
print(f"{len(failures)} failures; report.html has {(DIRECTORY / 'report.html').stat().st_size} bytes")
sys.exit(1 if failures else 0)

"""A report in a real browser: check-report.py DIRECTORY [IMAGES], with report.html, report.md and the runs cluster and alone."""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
sys.dont_write_bytecode = True
from browser import check, check_looks, chromium, end, watched

DIRECTORY = Path(sys.argv[1])
IMAGES = sys.argv[2] if len(sys.argv) > 2 else ""


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


with chromium() as browser:
    page, problems, requests = watched(browser.new_context(offline=True).new_page())
    url = (DIRECTORY / "report.html").as_uri()
    page.goto(url)
    check_looks(page, "report", IMAGES)
    figures(page)
    curves(page)
    check(page.query_selector("h3 b") is None and "<b>Who</b> | are you?" in page.content().replace("&lt;", "<").replace("&gt;", ">"),
          "markup in a prompt is text")
    check([one for one in requests if not one.startswith("data:")] == [url], f"no request but for the file: {requests}")
    check(not problems, f"no console error {problems}")
text = (DIRECTORY / "report.md").read_text()
check("| steps |" in text and "<b>" not in text and all(len(row.split(" | ")) == 3 for row in text.splitlines() if row.startswith("| steps")),
      "Markdown has the results")
end(f"; report.html has {(DIRECTORY / 'report.html').stat().st_size} bytes")

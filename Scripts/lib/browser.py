"""What checks of pages share: lines that say what held, Chromium without a window, and what no page may do."""

import contextlib
import re
import sys
import time

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

failures = []


def check(holds, words):
    print(("ok   " if holds else "FAIL ") + words, flush=True)
    if not holds:
        failures.append(words)


def wait(words, condition, seconds=300):
    """Waits for something that happens sooner or later."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    check(False, f"{words}: not within {seconds} s")
    return False


def said(log, pattern):
    """What the first group of the pattern is in a log, or None."""
    with open(log, errors="replace") as file:
        found = re.search(pattern, file.read())
    return found and found[1]


@contextlib.contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def watched(page):
    """The page, what its console complains of from now on, and what it asks for."""
    problems, requests = [], []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    return page, problems, requests


def show(page, scheme, width, height):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": height})


def check_width(page, width, words):
    found = page.evaluate("() => document.documentElement.scrollWidth")
    check(found <= width, f"{words}: nothing is wider than the screen ({found} of {width})")


def violations(page):
    """What axe-core finds: its name, how bad it is, and where."""
    return [(one["id"], one["impact"], [node["target"] for node in one["nodes"]][:3]) for one in Axe().run(page)["violations"]]


def check_looks(page, name, images):
    """The page in both colours and on a phone: its width, nothing serious for axe-core, and an image of each if wanted."""
    for scheme, width, height, kind in (("light", 1000, 1200, "light"), ("dark", 1000, 1200, "dark"), ("light", 390, 844, "phone")):
        show(page, scheme, width, height)
        check_width(page, width, f"{name}-{kind}")
        found = violations(page)
        serious = [one for one in found if one[1] in ("serious", "critical")]
        check(not serious, f"{name}-{kind}: axe-core finds nothing serious {serious}; less: {len(found)}")
        if images:
            page.screenshot(path=f"{images}/{name}-{kind}.png")


def end(words=""):
    print(f"{len(failures)} failures" + words if failures or words else "all holds")
    sys.exit(1 if failures else 0)

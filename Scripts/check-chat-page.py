"""The chat page of a real server in a real browser: check-chat-page.py SKEIN MODEL ADAPTER DIRECTORY [IMAGES]."""

import json
import os
import re
import signal
import subprocess
import sys

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(SCRIPTS, "lib"), os.path.join(SCRIPTS, "clients")]
sys.dont_write_bytecode = True
import served
from browser import check, check_width, chromium, end, show, violations, wait, watched

SKEIN, MODEL, ADAPTER, DIRECTORY = sys.argv[1:5]
IMAGES = sys.argv[5] if len(sys.argv) > 5 else ""
NAME = "jargon"
QUESTION = "What is a fork bomb?"
HOSTILE = "<img src=x onerror=\"document.title='broken into'\"><script>document.title='broken into'</script>\u2028**bold** é世🦢"
LONG = "Count from one to five hundred in words, and list each number on a line of its own."


class Server(served.Server):
    def __init__(self, *words):
        super().__init__(SKEIN, MODEL, "--adapter", f"{NAME}={ADAPTER}", *words)
        self.url += "/"

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            check(self.process.wait(30) in (0, -signal.SIGTERM), "the server ends with SIGTERM")
        except subprocess.TimeoutExpired:
            check(False, "the server ends with SIGTERM within 30 s")
            self.process.kill()
            self.process.wait()

    def answer(self, model, messages, **options):
        """What the API says without streaming: text, finish_reason."""
        choice = self.post("v1/chat/completions", {"model": model, "messages": messages, **options})["choices"][0]
        return choice["message"]["content"], choice["finish_reason"]


class Chat:
    """The page as a person sees it, and what its script knows."""

    def __init__(self, browser, server):
        self.server = server
        context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="light")
        self.page, self.problems, self.requests = watched(context.new_page())
        self.response = self.page.goto(server.url)

    def loaded(self):
        return wait("the page is connected", lambda: self.page.get_attribute("#link", "data-state") == "live")

    def set(self, **fields):
        self.page.evaluate("() => { document.getElementById('settings').open = true; }")
        for name, value in fields.items():
            self.page.fill("#" + name.replace("_", "-"), str(value))
        self.page.evaluate("() => { document.getElementById('settings').open = false; }")

    def busy(self):
        return self.page.evaluate("() => window.skein.running !== null")

    def send(self, prompt, ends=True):
        self.page.fill("#prompt", prompt)
        self.page.click("#send")
        if ends:
            self.end()

    def end(self):
        wait("the answer ends", lambda: not self.busy())

    def turn(self, model):
        """The last turn with a model."""
        return self.page.evaluate("""model => {
            const turn = window.skein.conversations.get(model)?.turns.at(-1);
            if (!turn) return null;
            const { text, state, finish, usage, pieces, sentAt, firstAt, lastAt } = turn;
            return { text, state, finish, usage, pieces, sentAt, firstAt, lastAt, problem: turn.problem?.message ?? null,
                detail: turn.problem?.detail ?? null, facts: turn.facts.textContent, note: turn.note.textContent,
                shown: turn.words.place.textContent, said: turn.node.querySelector(".user").textContent };
        }""", model)

    def columns(self):
        return self.page.evaluate("() => [...document.querySelectorAll('.column')].map(node => node.dataset.model)")

    def quiet(self, words, provoked=r"^$"):
        problems = [text for text in self.problems if not re.search(provoked, text)]
        check(not problems, f"{words}: no console error {problems}")
        outside = [url for url in self.requests if not url.startswith((self.server.url, "data:"))]
        check(not outside, f"{words}: no request elsewhere, of {len(self.requests)} {outside}")
        stored = self.page.evaluate("() => [localStorage.length, Object.keys(sessionStorage).filter(name => name !== 'skein-key')]")
        check(stored == [0, []], f"{words}: nothing is stored {stored}")


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def talk(browser, server):
    """One model: what is shown is what the API says."""
    chat = Chat(browser, server)
    page = chat.page
    check("require-trusted-types-for" in chat.response.headers.get("content-security-policy", ""), "the page comes with its policy")
    chat.loaded()
    models = json.loads(server.get("v1/models"))["data"]
    listed = page.evaluate("() => [...document.querySelectorAll('#model option')].map(one => one.value)")
    check(listed == [one["id"] for one in models], f"the page lists the models {listed}")
    base = next(one["id"] for one in models if one["parent"] is None)
    check(page.input_value("#model") == NAME and chat.columns() == [NAME], "the adapter is picked")
    # What is open is the server's, and with an adapter that is the likeliest token.
    said = (page.text_content("#uses"), page.get_attribute("#temperature", "placeholder"))
    check(said == (": temperature 0", "the server's: 0"), f"the page shows how tokens are picked {said}")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    check(page.evaluate("() => document.activeElement.id") == "prompt", "the first Tab is a link to the message")
    options = {"temperature": 0.8, "max_tokens": 24, "seed": 7}
    chat.set(**options)
    check(page.text_content("#uses") == ": temperature 0.8", "and what is typed in its place")
    page.focus("#prompt")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    wait("it asks", lambda: chat.turn(NAME) is not None)
    chat.end()
    first, turn = server.answer(NAME, [user(QUESTION)], **options), chat.turn(NAME)
    check((turn["text"], turn["finish"]) == first, f"the streamed answer is the API's {turn['text']!r} {first!r}")
    check(turn["pieces"] > 1 or turn["usage"]["completion_tokens"] == 1, f"it came in {turn['pieces']} pieces")
    bare = lambda text: re.sub(r"\W", "", text)
    check("```" in turn["text"] or bare(turn["shown"]) == bare(turn["text"]), "and is shown whole")
    said = [f"{turn['usage']['completion_tokens']} token", "tokens/s", "first after", "cached", "seed 7", "finish_reason " + turn["finish"]]
    check(all(part in turn["facts"] for part in said), "figures: " + turn["facts"])
    check(("Cut off" in turn["note"]) == (turn["finish"] == "length"), f"{turn['finish']}: {turn['note']!r}")
    check(page.evaluate("() => document.activeElement.id") == "prompt", "the keyboard stays in the message")

    page.click("#again")
    chat.end()
    check(chat.turn(NAME)["text"] == first[0], "regenerated with the same seed it is the same")
    messages = [{"role": "system", "content": "Answer in one line."}, user(QUESTION), assistant(first[0]), user(HOSTILE)]
    chat.set(system="Answer in one line.")
    chat.send(HOSTILE)
    turn, wanted = chat.turn(NAME), server.answer(NAME, messages, **options)
    check((turn["text"], turn["finish"]) == wanted, f"the second answer knows the first {turn['text']!r} {wanted!r}")
    check(turn["said"] == "You" + HOSTILE and page.title() == "Skein chat" and not page.query_selector("img, article script"),
          "markup in a prompt is text")

    stopping(chat)
    check(chat.turn(NAME) is None and page.is_disabled("#again"), "cleared")
    compare(chat, base)
    schema(chat)
    chat.quiet("one person's talk")


def stopping(chat):
    options = {"temperature": 0, "max_tokens": 200, "seed": 1}
    chat.page.click("#clear")
    chat.set(system="", **options)
    whole = chat.server.answer(NAME, [user(LONG)], **options)[0]
    for way in ("the button", "Escape"):
        chat.send(LONG, ends=False)
        wait("it begins", lambda: chat.turn(NAME)["text"] or not chat.busy())
        chat.page.click("#stop") if way == "the button" else chat.page.keyboard.press("Escape")
        wait(f"{way} stops", lambda: not chat.busy(), 5)
        turn = chat.turn(NAME)
        check(turn["state"] == "stopped" and whole.startswith(turn["text"]) and len(turn["text"]) < len(whole),
              f"{way} stops after {len(turn['text'])} of {len(whole)} letters: {turn['note']}")
        check(chat.page.evaluate("() => document.activeElement.id") in ("send", "prompt"), "and the focus is not lost")
        chat.page.click("#clear")


def compare(chat, base):
    """Base and adapter beside each other, for two turns."""
    page = chat.page
    page.check("#both")
    check(chat.columns() == [base, NAME], "two columns")
    options = {"temperature": 0.7, "max_tokens": 48, "seed": 11}
    chat.set(**options)
    histories = {base: [], NAME: []}
    for prompt in (QUESTION, "Say that in other words."):
        chat.send(prompt)
        turns = {model: chat.turn(model) for model in histories}
        for model, history in histories.items():
            history.append(user(prompt))
            wanted = chat.server.answer(model, history, **options)
            check((turns[model]["text"], turns[model]["finish"]) == wanted, f"{model} beside the other is the API's answer {wanted}")
            history.append(assistant(turns[model]["text"]))
        one, other = turns.values()
        # Of an answer of few tokens all may have come before the other's prompt is read.
        if min(one["pieces"], other["pieces"]) > 16:
            check(one["firstAt"] < other["lastAt"] and other["firstAt"] < one["lastAt"], "both stream at the same time")
    check(histories[base] != histories[NAME], "each has its own history")
    looks(page)
    page.uncheck("#both")
    check(chat.columns() == [NAME] and chat.turn(NAME)["text"] == histories[NAME][-1]["content"], "one column again")
    page.select_option("#model", base)
    check(chat.columns() == [base], "another model, another conversation")
    page.check("#both")
    check(chat.columns() == [base, NAME], "the base model is put beside its adapter")
    page.uncheck("#both")


def looks(page):
    for scheme, size, name in (("light", (1100, 720), "chat-page"), ("dark", (1100, 720), "chat-page-dark"),
                               ("light", (390, 844), "chat-page-phone-light"), ("dark", (390, 844), "chat-page-phone"),
                               ("light", (320, 256), "chat-page-zoomed")):
        show(page, scheme, *size)
        for is_open in (True, False):
            page.evaluate("isOpen => { document.getElementById('settings').open = isOpen; }", is_open)
            words = name + (", settings" if is_open else "")
            check_width(page, size[0], words)
            found = violations(page)
            check(not found, f"{words}: axe-core finds nothing {found}")
        if IMAGES and name in ("chat-page", "chat-page-phone"):
            page.evaluate("() => { for (const log of document.querySelectorAll('.log')) log.scrollTop = 0; }")
            page.screenshot(path=f"{IMAGES}/{name}.png")
    show(page, "light", 1200, 900)


def schema(chat):
    page = chat.page
    page.select_option("#model", NAME)
    page.click("#clear")
    chat.set(schema='{"type": ', max_tokens=200)
    chat.send("Who are you?", ends=False)
    check(chat.turn(NAME) is None and page.get_attribute("#schema", "aria-invalid") == "true" and page.is_visible("#schema"),
          "a schema that is not JSON is said at its field, and nothing is sent")
    properties = {"name": {"type": "string", "maxLength": 12}}
    chat.set(schema=json.dumps({"type": "object", "properties": properties, "required": ["name"], "additionalProperties": False}))
    chat.send("Who are you?")
    turn = chat.turn(NAME)
    try:
        check(list(json.loads(turn["text"])) == ["name"], f"the answer is held to a schema: {turn['text']!r}")
    except ValueError:
        check(False, f"the answer is held to a schema: {turn}")
    chat.set(schema="")


def stream(*pieces, done=True):
    """An answer of the server's as bytes."""
    lines = [{"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    if done:
        lines.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        lines.append({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": len(pieces), "total_tokens": 9}})
    text = "".join(f"data: {json.dumps(line, ensure_ascii=False)}\r\n\r\n" for line in lines)
    return (": a comment\r\n\r\n" + text + ("data: [DONE]\r\n\r\n" if done else "")).encode()


def trouble(browser, server):
    """What this server does not do when it is asked: answers that are made up between it and the page."""
    chat = Chat(browser, server)
    page, path = chat.page, "**/v1/chat/completions"
    chat.loaded()
    chat.set(max_tokens=8, seed=3)

    def next_answer(status, body, headers={}, times=1):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "text/event-stream" if status == 200 else "application/json"
        page.route(path, lambda route: route.fulfill(status=status, body=body, headers={"Content-Type": kind, **headers}), times=times)

    error = {"error": {"message": "<b>temperature</b> must be low", "type": "invalid_request_error", "param": "temperature", "code": "range"}}
    next_answer(400, error)
    chat.send(QUESTION)
    turn = chat.turn(NAME)
    check(turn["problem"] == error["error"]["message"] and turn["detail"] == "HTTP 400 · invalid_request_error · range · parameter temperature",
          f"an error is readable: {turn['problem']} {turn['detail']}")
    check(not page.query_selector(".trouble b"), "and is text")
    page.click(".trouble button")
    chat.end()
    wanted = server.answer(NAME, [user(QUESTION)], max_tokens=8, seed=3)
    check(chat.turn(NAME)["state"] == "done" and chat.turn(NAME)["text"] == wanted[0], "and is tried again")

    page.click("#clear")
    next_answer(429, {"error": {"message": "All places are taken", "type": "requests", "param": None, "code": None}}, {"Retry-After": "2"})
    chat.send(QUESTION, ends=False)
    wait("the page says so", lambda: "Trying again in 2 seconds" in chat.turn(NAME)["note"], 5)
    check(chat.turn(NAME)["note"] == "All places are taken. Trying again in 2 seconds.", "a full server: " + chat.turn(NAME)["note"])
    chat.end()
    check(chat.turn(NAME)["text"] == wanted[0], "and is asked again by itself")
    next_answer(429, {"error": {"message": "All places are taken."}}, {"Retry-After": "30"})
    chat.send(QUESTION, ends=False)
    wait("it waits", lambda: "Trying again" in chat.turn(NAME)["note"], 5)
    page.click("#stop")
    check(wait("it is stopped", lambda: not chat.busy(), 2), "Stop ends the waiting: " + chat.turn(NAME)["note"])
    next_answer(429, {"error": {"message": "Come back tomorrow."}}, {"Retry-After": "86400"})
    chat.send(QUESTION)
    check(chat.turn(NAME)["problem"] == "Come back tomorrow.", "who would wait for a day is told instead")
    next_answer(502, b"<html>Bad gateway</html>")
    chat.send(QUESTION)
    check(chat.turn(NAME)["problem"] == "<html>Bad gateway</html>", "an error of a proxy is shown as it is")

    page.click("#clear")
    fence = "```python\nprint('<b>')\n\nx = `1`\n```"
    next_answer(200, stream(*(HOSTILE + "\n\n" + fence)))
    chat.send(QUESTION)
    turn = chat.turn(NAME)
    check(turn["text"] == HOSTILE + "\n\n" + fence and turn["facts"].startswith(f"{len(turn['text'])} tokens"), "a routed stream is read whole")
    tags = page.evaluate("() => [...document.querySelectorAll('.words *')].map(node => node.tagName.toLowerCase())")
    check(tags == ["p", "strong", "pre", "code"] and page.title() == "Skein chat", f"markup of a model is text {tags}")
    check(turn["shown"] == HOSTILE.replace("**", "") + "print('<b>')\n\nx = `1`", f"with code by itself {turn['shown']!r}")

    next_answer(200, stream("half an ", "answer", done=False))
    chat.send(QUESTION)
    turn = chat.turn(NAME)
    check(turn["state"] == "failed" and turn["text"] == "half an answer" and "ended before" in turn["problem"], f"an end too soon: {turn['problem']}")
    next_answer(200, stream("half", done=False) + b'data: {"error": {"message": "out of memory", "type": "server_error"}}\n\n')
    chat.send(QUESTION)
    check(chat.turn(NAME)["problem"] == "out of memory", "an error within the stream: " + chat.turn(NAME)["detail"])
    # One byte at a time: cut inside of letters, lines and ends of lines.
    page.evaluate("""bytes => {
        const real = window.fetch;
        window.fetch = async () => {
            window.fetch = real;
            let at = 0;
            return new Response(new ReadableStream({ pull(to) {
                if (at === bytes.length) to.close(); else to.enqueue(new Uint8Array([bytes[at++]]));
            } }), { status: 200 });
        };
    }""", list(stream(HOSTILE, "é", "🦢")))
    chat.send(QUESTION)
    check(chat.turn(NAME)["text"] == HOSTILE + "é🦢", "a stream that is cut after each byte is the same text")
    page.route("**/v1/models", lambda route: route.abort(), times=1)
    page.reload()
    check(wait("the page notices", lambda: page.is_visible("#reload")), "a server that is away: " + page.inner_text("#link"))
    check(page.is_disabled("#send"), "nothing can be sent")
    page.click("#reload")
    check(chat.loaded() and not page.is_visible("#reload"), "and it is found again")
    chat.quiet("trouble", r"net::ERR_FAILED|Failed to load resource: the server responded with a status of (400|429|502)")


def locked(browser):
    """A server that asks for a key."""
    secret = "one-secret/of+100="
    path = os.path.join(DIRECTORY, "api-key")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secret + "\n")
    with Server("--api-key-file", path) as server:
        chat = Chat(browser, server)
        page = chat.page
        asks = lambda: page.is_visible("#ask")
        check(wait("the page asks", asks), "without a key the page asks for it: " + page.inner_text("#ask-why"))
        check(page.evaluate("() => document.activeElement.id") == "key", "and the keyboard is there")
        check(not violations(page), "the form: axe-core finds nothing")
        for wrong in ("wrong", "sécret\u2026"):
            page.fill("#key", wrong)
            page.press("#key", "Enter")
            wait("it is refused", lambda: "refuses" in page.inner_text("#ask-why"))
            check(asks(), f"{wrong!r}: {page.inner_text('#ask-why')}")
        page.fill("#key", secret)
        page.press("#key", "Enter")
        chat.loaded()
        check(not asks(), "the right key opens")
        chat.set(max_tokens=8, seed=3)
        chat.send(QUESTION)
        check(chat.turn(NAME)["state"] == "done", f"and answers: {chat.turn(NAME)['text']!r}")
        page.reload()
        chat.loaded()
        check(not asks(), "the key lives as long as the tab")
        chat.set(max_tokens=8, seed=3)
        refusal = json.dumps({"error": {"message": "no such key", "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}})
        page.route("**/v1/chat/completions", lambda route: route.fulfill(status=401, body=refusal, content_type="application/json"), times=1)
        chat.send(QUESTION)
        check(wait("it asks again", asks, 5), "a key that is withdrawn is asked for: " + page.inner_text("#ask-why"))
        page.fill("#key", secret)
        page.press("#key", "Enter")
        wait("it is asked again", lambda: chat.turn(NAME)["state"] == "done")
        check(chat.turn(NAME)["state"] == "done" and not asks(), "and the question is asked again")
        chat.end()
        page.evaluate("() => { document.getElementById('settings').open = true; }")
        page.click("#forget")
        check(wait("it asks", asks) and page.evaluate("() => sessionStorage.length") == 0, "a key can be forgotten")
        chat.quiet("a locked server", r"Failed to load resource: the server responded with a status of 401")


with Server() as server, chromium() as browser:
    talk(browser, server)
    trouble(browser, server)
    locked(browser)
end()

"""curl: what a shell script does."""
import json, os, subprocess

from served import same

QUESTION = "What is a nybble?"


def curl(*words, body=None):
    """What curl wrote to standard output and standard error."""
    done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", "60", *words], input=body, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def run(checks, server, program, directory):
    chat = server.url + "/v1/chat/completions"
    request = {"model": "jargon", "messages": [{"role": "user", "content": QUESTION}], "max_tokens": 16, "temperature": 0}
    text = json.dumps(request)
    alone = program.generate("jargon", QUESTION, 16)["text"]

    def content(answer):
        return json.loads(answer)["choices"][0]["message"]["content"]

    with checks("curl: health, models, metrics, chat"):
        same(json.loads(curl(server.url + "/health")[0]), {"status": "ok"})
        same([model["id"] for model in json.loads(curl(server.url + "/v1/models")[0])["data"]], ["base", "jargon"])
        assert "skein_serve_answers_running 0\n" in curl(server.url + "/metrics")[0]
        # Without a Content-Type of JSON, too.
        same(content(curl(chat, "-d", text)[0]), alone)
        same(content(curl(chat, "--json", text)[0]), alone)

    with checks("curl: a stream is server-sent events that end with [DONE]"):
        out, head = curl("-N", "-v", chat, "--json", json.dumps({**request, "stream": True}))
        assert "content-type: text/event-stream" in head.lower(), head
        events = [event for event in out.split("\n\n") if event]
        assert all(event.startswith("data: ") for event in events), out
        same(events[-1], "data: [DONE]")
        chunks = [json.loads(event[6:]) for event in events[:-1]]
        same("".join(c["choices"][0]["delta"].get("content") or "" for c in chunks), alone)

    with checks("curl: errors have OpenAI's shape"):
        cases = [
            (404, chat, json.dumps({**request, "model": "nobody"})), (400, chat, "{"), (400, chat, "[]"), (400, chat, "\xff\x00"),
            (400, chat, json.dumps({**request, "n": 0})), (400, chat, "[" * 10000), (405, server.url + "/v1/models", "{}"),
            (404, server.url + "/v1/nothing", text), (413, chat, json.dumps({**request, "x": "y" * (9 << 20)})),
        ]
        wrong = []
        for status, url, body in cases:
            out, _ = curl("-w", "\n%{http_code} %{content_type}", url, "-H", "Content-Type: application/json", "--data-binary", "@-",
                          body=body.encode("latin-1"))
            out, _, end = out.rpartition("\n")
            try:
                same(end, f"{status} application/json")
                error = json.loads(out)["error"]
                same(set(error), {"message", "type", "param", "code"})
                assert error["message"] and error["type"], error
            except Exception as problem:
                wrong.append(f"{url} {body[:60]}: {problem} ({out[:80]!r})")
        assert not wrong, "; ".join(wrong)

    large = os.path.join(directory, "large.json")
    with open(large, "w") as file:
        # White space that any reader must take; with a context of 4096 tokens a body may have 1 MiB.
        file.write(text[:-1] + " " * 900_000 + "}")
    with checks("curl: Expect: 100-continue with a large body"):
        out, head = curl("-v", chat, "-H", "Expect: 100-continue", "-H", "Content-Type: application/json", "--data-binary", "@" + large)
        same(content(out), alone)
        assert "HTTP/1.1 100 Continue" in head, head

    with checks("curl: a chunked upload"):
        out, _ = curl(chat, "-H", "Transfer-Encoding: chunked", "-H", "Content-Type: application/json", "--data-binary", "@" + large)
        same(content(out), alone)
        out, _ = curl("-T", "-", "-X", "POST", chat, body=text.encode())
        same(content(out), alone)

    with checks("curl: one connection for several requests, HEAD, HTTP/1.0"):
        out, head = curl("-v", chat, chat, "--json", text)
        same(content(out.splitlines()[0]), alone)
        same(content(out.splitlines()[1]), alone)
        same(head.count("Connected to"), 1)
        assert "200" in curl("-I", server.url + "/health")[0].splitlines()[0]
        same(content(curl("--http1.0", chat, "--json", text)[0]), alone)

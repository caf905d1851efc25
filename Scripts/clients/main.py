"""Asks servers with many clients: main.py SKEIN MODEL ADAPTER PAIRS DIRECTORY INSTRUCTOR [PART...].

INSTRUCTOR is an interpreter that has instructor, which takes no openai as new as the others'.
"""
import importlib, os, secrets, subprocess, sys

from served import Checks, Program, Server

sys.path.append(os.path.join(sys.path[0], "..", "lib"))
from peer_processes import end_on_signals

OPEN = ["openai", "structured", "tools", "async", "curl", "lm_eval"]
# Clients that users give an address and a key: the server asks for it, so each can be refused, too.
KEYED = {"together": "openai_together", "agents": "agents_client", "langchain": "langchain_client",
         "pydantic_ai": "pydantic_ai_client", "instructor": None, "litellm": "litellm_client", "outlines": "outlines_client",
         "llm": "llm_client", "smolagents": "smolagents_client"}

skein, model, adapter, pairs, directory, instructor = sys.argv[1:7]
parts = sys.argv[7:] or [*OPEN[:1], "guarded", *OPEN[1:4], *KEYED, *OPEN[4:]]
if unknown := set(parts) - {*OPEN, "guarded", *KEYED}:
    sys.exit(f"there is no part {', '.join(sorted(unknown))}; there are: guarded {' '.join([*OPEN, *KEYED])}")
threads = ["--threads", os.environ["SKEIN_THREADS"]] if "SKEIN_THREADS" in os.environ else []
checks = Checks()
end_on_signals()
program = Program(skein, model, adapter)
program.words += threads
key, keys = secrets.token_hex(16), os.path.join(directory, "keys")
with open(os.open(keys, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
    file.write(key + "\n")


def ask_open(server):
    if "openai" in parts:
        import openai_texts

        openai_texts.run(checks, server, program, directory)
    if "structured" in parts:
        import openai_structured

        openai_structured.run(checks, server)
    if "tools" in parts:
        import openai_tools

        openai_tools.run(checks, server)
    if "async" in parts:
        import openai_async

        openai_async.run(checks, server)
    if "curl" in parts:
        import curl_client

        curl_client.run(checks, server, program, directory)
    if "lm_eval" in parts:
        import evaluate

        evaluate.check(checks, server, program, pairs, directory)


def ask_keyed(server, part):
    began = checks.passed, len(checks.failed)
    if part == "instructor":
        script = os.path.join(os.path.dirname(__file__), "instructor_client.py")
        with subprocess.Popen([instructor, "-W", "ignore", script, server.url, key], stdout=subprocess.PIPE, text=True) as child:
            try:
                for line in child.stdout:
                    checks.hear(line)
            except BaseException:
                child.kill()
                raise
        assert child.returncode in (0, 1), f"instructor_client.py ended with {child.returncode}"
    else:
        run = importlib.import_module(KEYED[part]).run
        run(checks, server, program)
    print(f"{part}: {checks.passed - began[0]} ok, {len(checks.failed) - began[1]} failed", flush=True)


if set(parts) & set(OPEN):
    with Server(skein, model, "--adapter", "jargon=" + adapter, *threads) as server:
        ask_open(server)

if set(parts) & set(KEYED):
    with Server(skein, model, "--adapter", "jargon=" + adapter, "--api-key-file", keys, *threads) as server:
        server.key, server.directory = key, directory
        for part in KEYED:
            if part in parts:
                ask_keyed(server, part)

if "guarded" in parts:
    import openai_texts

    with Server(skein, model, "--api-key-file", keys, "--parallel", "1", "--queue", "1", *threads) as server:
        openai_texts.run_guarded(checks, server, key)

print(f"{checks.passed} ok, {len(checks.failed)} failed")
sys.exit(1 if checks.failed else 0)

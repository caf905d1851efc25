"""Asks one server with many clients: main.py SKEIN MODEL ADAPTER PAIRS DIRECTORY [PART...]."""
import os, secrets, sys

from served import Checks, Program, Server

skein, model, adapter, pairs, directory = sys.argv[1:6]
parts = sys.argv[6:] or ["openai", "guarded", "structured", "tools", "async", "litellm", "curl", "lm_eval"]
threads = ["--threads", os.environ["SKEIN_THREADS"]] if "SKEIN_THREADS" in os.environ else []
checks = Checks()
program = Program(skein, model, adapter)
program.words += threads

with Server(skein, model, "--adapter", "jargon=" + adapter, *threads) as server:
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
    if "litellm" in parts:
        import litellm_client

        litellm_client.run(checks, server, program)
    if "curl" in parts:
        import curl_client

        curl_client.run(checks, server, program, directory)
    if "lm_eval" in parts:
        import evaluate

        evaluate.check(checks, server, program, pairs, directory)

if "guarded" in parts:
    import openai_texts

    key, path = secrets.token_hex(16), os.path.join(directory, "keys")
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(key + "\n")
    with Server(skein, model, "--api-key-file", path, "--parallel", "1", "--queue", "1", *threads) as server:
        openai_texts.run_guarded(checks, server, key)

print(f"{checks.passed} ok, {len(checks.failed)} failed")
sys.exit(1 if checks.failed else 0)

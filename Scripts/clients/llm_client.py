"""llm, the command and the library: a server in extra-openai-models.yaml is a model like others."""
import json, os, subprocess, sys

import openai

from served import same
from words import QUESTION, Word, meaning, refusal


def run(checks, server, program):
    folder = os.path.join(server.directory, "llm")
    os.makedirs(folder)
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        for name in ("base", "jargon", "nobody"):
            file.write(f"- model_id: {name}\n  model_name: {name}\n  api_base: {server.url}/v1\n  api_key_name: skein\n"
                       "  supports_schema: true\n  supports_tools: true\n")
    with open(os.open(os.path.join(folder, "keys.json"), os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        json.dump({"skein": server.key}, file)
    environment = {**os.environ, "LLM_USER_PATH": folder}

    def command(*words, fails=False):
        """What the command prints; with `fails`, what it says on standard error."""
        options = ["-o", "temperature", "0", "-o", "max_tokens", "24"]
        result = subprocess.run([sys.executable, "-m", "llm", *words, *options], env=environment, capture_output=True,
                                text=True, stdin=subprocess.DEVNULL, timeout=300)
        assert (result.returncode != 0) == fails, result
        return result.stderr if fails else result.stdout

    with checks("llm: the command prints the text of skein generate"):
        same(command("-m", "jargon", QUESTION), program.generate("jargon", QUESTION, 24)["text"] + "\n")
    with checks("llm: the command goes on with a conversation"):
        assert command("-c", "And what is foo?").strip()
    with checks("llm: the command says that a key is wrong"):
        assert "401" in command("-m", "jargon", QUESTION, "--key", "wrong", fails=True)

    os.environ["LLM_USER_PATH"] = folder
    import llm

    def ask(name="jargon", **arguments):
        """The whole chain of answers and calls: its text."""
        chain = llm.get_model(name).chain(QUESTION, options=dict(temperature=0, max_tokens=60, seed=1), **arguments)
        text = chain.text()
        return text, [call for response in chain.responses() for call in response.tool_calls()]

    def look_up(word: str) -> str:
        """Looks a word up."""
        return meaning(word)

    with checks("llm: whole and streamed answers have the text of skein generate"):
        for name in ("base", "jargon"):
            for stream in (False, True):
                answer = llm.get_model(name).prompt(QUESTION, stream=stream, temperature=0, max_tokens=24)
                same("".join(answer), program.generate(name, QUESTION, 24)["text"])

    with checks("llm: a schema: a value of it, whole and streamed"):
        answers = [llm.get_model("jargon").prompt(QUESTION, schema=Word, stream=stream, temperature=0, max_tokens=60).text()
                   for stream in (False, True)]
        Word.model_validate_json(answers[0])
        same(answers[0], answers[1])

    for stream in (False, True):
        place = "streamed" if stream else "whole"
        with checks(f"llm: a chain with a tool, {place}, ends with a text"):
            text, calls = ask(tools=[look_up], stream=stream)
            assert text.strip(), calls
        with checks(f"llm: a schema beside tools, {place}: calls, then a value of the schema"):
            text, calls = ask(tools=[look_up], schema=Word, stream=stream)
            Word.model_validate_json(text[text.rindex("{"):])
            assert all((call.name, list(call.arguments)) == ("look_up", ["word"]) for call in calls), calls

    with checks("llm: an unknown model, a wrong key"):
        refusal(openai.NotFoundError, lambda: llm.get_model("nobody").prompt(QUESTION).text(), "nobody")
        refusal(openai.AuthenticationError, lambda: llm.get_model("jargon").prompt(QUESTION, key="wrong").text())

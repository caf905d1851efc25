"""openai: tools beside a form, errors, and a server that the environment names."""
import os

import openai

from served import same
from words import MESSAGES, TOOL, Word, refusal


def run(checks, server, program):
    client = openai.OpenAI(base_url=server.url + "/v1", api_key=server.key, max_retries=0)
    chat = client.chat.completions
    tool = openai.pydantic_function_tool(Word, name="store")

    def ask(**arguments):
        return chat.parse(**{"model": "jargon", "messages": MESSAGES, "tools": [tool], "response_format": Word,
                             "max_tokens": 60, "temperature": 0, "parallel_tool_calls": False, **arguments}).choices[0]

    with checks("openai: tools beside a form, by choice: a call, or a value of the form"):
        for choice in ("auto", "required", "none", {"type": "function", "function": {"name": "store"}}):
            for seed in range(3):
                found = ask(tool_choice=choice, temperature=(0, 1)[seed > 0], seed=seed)
                calls = found.message.tool_calls or []
                values = [call.function.parsed_arguments for call in calls] or [found.message.parsed]
                assert all(isinstance(value, Word) for value in values), found
                assert choice == "auto" or bool(calls) == (choice != "none"), found
                same(found.finish_reason, "tool_calls" if calls else "stop")

    with checks("openai: tools beside a form, streamed, are what the whole answer is"):
        for choice in ("auto", "required"):
            whole = ask(tool_choice=choice)
            with chat.stream(model="jargon", messages=MESSAGES, tools=[tool], response_format=Word, max_tokens=60,
                             temperature=0, tool_choice=choice, parallel_tool_calls=False) as stream:
                final = stream.get_final_completion().choices[0]
            same(final.finish_reason, whole.finish_reason)
            same(final.message.parsed, whole.message.parsed)
            same([call.function.arguments for call in final.message.tool_calls or []],
                 [call.function.arguments for call in whole.message.tool_calls or []])

    with checks("openai: json_schema as a dictionary, and log-probabilities of a value"):
        form = {"type": "json_schema", "json_schema": {"name": "word", "strict": True, "schema": {
            **Word.model_json_schema(), "additionalProperties": False}}}
        choice = chat.create(model="base", messages=MESSAGES, tools=[TOOL], tool_choice="none", response_format=form,
                             max_tokens=60, temperature=0, logprobs=True, top_logprobs=2).choices[0]
        Word.model_validate_json(choice.message.content)
        same("".join(token.token for token in choice.logprobs.content), choice.message.content)
        for token in choice.logprobs.content:
            # Where the form left no choice, the token is the only one of its place.
            same(len(token.top_logprobs), 1 if token.logprob == 0 else 2)

    with checks("openai: an unknown model and a wrong key have exceptions of their own"):
        error = refusal(openai.NotFoundError, lambda: ask(model="nobody"))
        same(error.code, "model_not_found")
        stranger = client.with_options(api_key="wrong")
        error = refusal(openai.AuthenticationError, lambda: stranger.models.list())
        same(error.code, "invalid_api_key")

    with checks("openai: the address and the key may come from the environment"):
        os.environ.update(OPENAI_BASE_URL=server.url + "/v1", OPENAI_API_KEY=server.key)
        try:
            with openai.OpenAI() as other:
                same([model.id for model in other.models.list()], ["base", "jargon"])
        finally:
            del os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]

"""litellm, to which the server is an OpenAI with another address."""
import json, os

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_LOG="ERROR")
import litellm

from served import same
from words import QUESTION, TOOL, Word, check_arguments, refusal


def run(checks, server, program):
    litellm.telemetry = False
    litellm.suppress_debug_info = True

    def ask(name="jargon", **arguments):
        return litellm.completion(model="openai/" + name, api_base=server.url + "/v1", num_retries=0,
                                  messages=[{"role": "user", "content": QUESTION}],
                                  **{"api_key": server.key, "max_tokens": 24, **arguments})

    for name in ("base", "jargon"):
        with checks(f"litellm: {name}, completion and stream have the text of skein generate"):
            alone = program.generate(name, QUESTION, 24)
            answer = ask(name, temperature=0)
            same(answer.choices[0].message.content, alone["text"])
            same(answer.usage.completion_tokens, len(alone["tokens"]))
            same("".join(c.choices[0].delta.content or "" for c in ask(name, temperature=0, stream=True)), alone["text"])

    with checks("litellm: tools, whole and streamed"):
        arguments = dict(tools=[TOOL], tool_choice="required", parallel_tool_calls=False, temperature=0.8, seed=2, max_tokens=60)
        call = ask(**arguments).choices[0].message.tool_calls[0].function
        same((call.name, list(json.loads(call.arguments))), ("look_up", ["word"]))
        rebuilt = litellm.stream_chunk_builder(list(ask(stream=True, **arguments)))
        again = rebuilt.choices[0].message.tool_calls[0].function
        same((again.name, again.arguments), (call.name, call.arguments))

    with checks("litellm: structured output from a pydantic class"):
        for seed in range(4):
            answer = ask(response_format=Word, temperature=1, seed=seed, max_tokens=60)
            Word.model_validate_json(answer.choices[0].message.content)

    with checks("litellm: a form beside tools: a call, or a value of the form"):
        for choice in ("auto", "required", "none"):
            for stream in (False, True):
                answer = ask(response_format=Word, tools=[TOOL], tool_choice=choice, temperature=0, max_tokens=60, stream=stream)
                message = (litellm.stream_chunk_builder(list(answer)) if stream else answer).choices[0].message
                assert choice == "auto" or bool(message.tool_calls) == (choice == "required"), message
                for call in message.tool_calls or []:
                    check_arguments(json.loads(call.function.arguments))
                if not message.tool_calls:
                    Word.model_validate_json(message.content)

    with checks("litellm: log-probabilities, and texts that are no conversations"):
        choice = ask(temperature=0, logprobs=True, top_logprobs=2).choices[0]
        same("".join(token.token for token in choice.logprobs.content), choice.message.content)
        answer = litellm.text_completion(model="text-completion-openai/base", prompt="A kludge is", max_tokens=8, temperature=0,
                                         api_base=server.url + "/v1", api_key=server.key)
        same(answer.choices[0].text, program.generate("base", "A kludge is", 8, "--raw")["text"])

    with checks("litellm: an unknown model, a wrong key, a field out of its range"):
        for kind, problem in ((litellm.NotFoundError, {"name": "nobody"}), (litellm.AuthenticationError, {"api_key": "wrong"}),
                              (litellm.BadRequestError, {"temperature": -1})):
            refusal(kind, lambda: ask(**problem))

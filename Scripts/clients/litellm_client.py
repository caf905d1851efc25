"""litellm, to which the server is an OpenAI with another address."""
import os

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_LOG="ERROR")
import litellm
from pydantic import BaseModel, Field

from served import same

QUESTION = "What is a kludge?"


class Word(BaseModel):
    word: str = Field(min_length=1, max_length=12)
    old: bool


TOOL = {"type": "function", "function": {"name": "look_up", "description": "Looks a word up.", "parameters": {
    "type": "object", "properties": {"word": {"type": "string", "maxLength": 12}}, "required": ["word"], "additionalProperties": False}}}


def run(checks, server, program):
    litellm.telemetry = False
    litellm.suppress_debug_info = True

    def ask(name="jargon", **arguments):
        return litellm.completion(model="openai/" + name, api_base=server.url + "/v1", api_key="none", num_retries=0,
                                  messages=[{"role": "user", "content": QUESTION}], **{"max_tokens": 24, **arguments})

    for name in ("base", "jargon"):
        with checks(f"litellm: {name}, completion and stream have the text of skein generate"):
            alone = program.generate(name, QUESTION, 24)
            answer = ask(name, temperature=0)
            same(answer.choices[0].message.content, alone["text"])
            same(answer.usage.completion_tokens, len(alone["tokens"]))
            same("".join(c.choices[0].delta.content or "" for c in ask(name, temperature=0, stream=True)), alone["text"])

    with checks("litellm: tools, whole and streamed"):
        import json

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

    with checks("litellm: errors"):
        for kind, problem in ((litellm.NotFoundError, {"name": "nobody"}), (litellm.BadRequestError, {"temperature": -1})):
            try:
                ask(**problem)
                raise AssertionError(f"{problem} was answered")
            except kind:
                pass

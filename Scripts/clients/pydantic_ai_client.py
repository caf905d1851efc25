"""pydantic-ai: agents whose output is a class, by the schema or by a call, with tools beside it."""
import asyncio, os

os.environ.update(LOGFIRE_SEND_TO_LOGFIRE="false", OTEL_SDK_DISABLED="true")
import openai
from pydantic_ai import Agent, ModelHTTPError, NativeOutput, PromptedOutput, ToolOutput, UnexpectedModelBehavior
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from served import same
from words import QUESTION, Word, meaning


def look_up(word: str) -> str:
    """Looks a word up."""
    return meaning(word)


async def check(checks, server, program):
    def agent(name="jargon", key=server.key, settings={}, **arguments):
        client = openai.AsyncOpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0)
        model = OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))
        return Agent(model, model_settings={"temperature": 0, "max_tokens": 60, "seed": 1, **settings}, retries=2, **arguments)

    def calls(result):
        return [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolCallPart)]

    with checks("pydantic-ai: run and run_stream have the text of skein generate"):
        for name in ("base", "jargon"):
            alone = program.generate(name, QUESTION, 24)
            speaker = agent(name, settings={"max_tokens": 24})
            result = await speaker.run(QUESTION)
            same(result.output, alone["text"])
            same(result.usage.output_tokens, len(alone["tokens"]))
            async with speaker.run_stream(QUESTION) as stream:
                same("".join([piece async for piece in stream.stream_text(delta=True)]), alone["text"])

    for form in (NativeOutput, ToolOutput, PromptedOutput):
        with checks(f"pydantic-ai: {form.__name__} gives a value of the class, whole and streamed"):
            for seed in range(2):
                speaker = agent(output_type=form(Word), settings={"seed": seed, "temperature": 0.7})
                try:
                    value = (await speaker.run(QUESTION)).output
                except UnexpectedModelBehavior:
                    # PromptedOutput only holds the model to JSON: it may be another value.
                    if form is PromptedOutput:
                        continue
                    raise
                assert isinstance(value, Word), value
                async with speaker.run_stream(QUESTION) as stream:
                    same(await stream.get_output(), value)

    with checks("pydantic-ai: a tool is called, and a text follows"):
        result = await agent(tools=[look_up]).run(QUESTION)
        for call in calls(result):
            same((call.tool_name, list(call.args_as_dict())), ("look_up", ["word"]))
        assert isinstance(result.output, str), result

    with checks("pydantic-ai: NativeOutput beside tools: calls, then a value of the class"):
        for seed in range(4):
            speaker = agent(output_type=NativeOutput(Word), tools=[look_up], instructions="Look words up with look_up.",
                            settings={"seed": seed, "temperature": (0, 0.8)[seed > 0]})
            result = await speaker.run(QUESTION)
            assert isinstance(result.output, Word), result
            for call in calls(result):
                same((call.tool_name, list(call.args_as_dict())), ("look_up", ["word"]))

    with checks("pydantic-ai: ToolOutput beside tools"):
        result = await agent(output_type=ToolOutput(Word), tools=[look_up]).run(QUESTION)
        assert isinstance(result.output, Word), result

    with checks("pydantic-ai: log-probabilities"):
        settings = {"max_tokens": 12, "openai_logprobs": True, "openai_top_logprobs": 2}
        result = await agent(settings=settings).run(QUESTION)
        tokens = result.response.provider_details["logprobs"]
        same("".join(token["token"] for token in tokens), result.output)

    with checks("pydantic-ai: an unknown model, a wrong key"):
        for status, problem in ((404, {"name": "nobody"}), (401, {"key": "wrong"})):
            try:
                await agent(**problem).run(QUESTION)
                raise AssertionError(f"{problem} was answered")
            except ModelHTTPError as error:
                same(error.status_code, status)

    with checks("pydantic-ai: OpenAIProvider with an address of its own"):
        provider = OpenAIProvider(base_url=server.url + "/v1", api_key=server.key)
        speaker = Agent(OpenAIChatModel("jargon", provider=provider), model_settings={"temperature": 0, "max_tokens": 24})
        same((await speaker.run(QUESTION)).output, program.generate("jargon", QUESTION, 24)["text"])


def run(checks, server, program):
    asyncio.run(check(checks, server, program))

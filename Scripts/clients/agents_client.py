"""openai-agents: a run of an agent with a tool ends with a value of its output type."""
import asyncio, json, os

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
import agents
import openai
from openai.types.responses import ResponseTextDeltaEvent

from served import same
from words import QUESTION, Word, meaning


@agents.function_tool
def look_up(word: str) -> str:
    """Looks a word up.

    Args:
        word: The word.
    """
    return meaning(word)


async def check(checks, server, program):
    client = openai.AsyncOpenAI(base_url=server.url + "/v1", api_key=server.key, max_retries=0)

    def agent(name="jargon", client=client, settings={}, **arguments):
        model = agents.OpenAIChatCompletionsModel(model=name, openai_client=client)
        settings = agents.ModelSettings(**{"temperature": 0, "max_tokens": 24, **settings})
        return agents.Agent(name="Lexicographer", model=model, model_settings=settings, **arguments)

    async def ask(*words, **arguments):
        return await agents.Runner.run(agent(*words, **arguments), QUESTION, max_turns=4)

    def calls(result):
        return [item.raw_item for item in result.new_items if item.type == "tool_call_item"]

    with checks("openai-agents: a run and a stream have the text of skein generate"):
        for name in ("base", "jargon"):
            text = program.generate(name, QUESTION, 24)["text"]
            same((await ask(name)).final_output, text)
            streamed, told = agents.Runner.run_streamed(agent(name), QUESTION), ""
            async for event in streamed.stream_events():
                if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
                    told += event.data.delta
            same((told, streamed.final_output), (text, text))

    with checks("openai-agents: the output type is a pydantic class"):
        for seed in range(3):
            settings = {"temperature": 1, "max_tokens": 60, "extra_args": {"seed": seed}}
            assert isinstance((await ask(output_type=Word, settings=settings)).final_output, Word)

    with checks("openai-agents: a tool is called, and a text follows"):
        result = await ask(tools=[look_up], settings={"tool_choice": "look_up", "max_tokens": 60})
        for call in calls(result):
            same(call.name, "look_up")
            json.loads(call.arguments)["word"]
        assert calls(result) and isinstance(result.final_output, str), result

    for choice in ("auto", "required"):
        with checks(f"openai-agents: output_type beside tools ({choice}), whole and streamed"):
            arguments = dict(tools=[look_up], output_type=Word, instructions="Look words up.",
                             settings={"tool_choice": choice, "max_tokens": 60, "parallel_tool_calls": False})
            result = await ask(**arguments)
            assert isinstance(result.final_output, Word), result
            assert choice == "auto" or calls(result), result
            streamed = agents.Runner.run_streamed(agent(**arguments), QUESTION, max_turns=4)
            async for _ in streamed.stream_events():
                pass
            same(streamed.final_output, result.final_output)
            same([call.arguments for call in calls(streamed)], [call.arguments for call in calls(result)])

    with checks("openai-agents: an unknown model, a wrong key"):
        for kind, problem in ((openai.NotFoundError, {"name": "nobody"}),
                              (openai.AuthenticationError, {"client": client.with_options(api_key="wrong")})):
            try:
                await ask(**problem)
                raise AssertionError(f"{problem} was answered")
            except kind:
                pass

    with checks("openai-agents: the client that all agents share"):
        agents.set_default_openai_client(client, use_for_tracing=False)
        agents.set_default_openai_api("chat_completions")
        settings = agents.ModelSettings(temperature=0, max_tokens=24)
        result = await agents.Runner.run(agents.Agent(name="A", model="jargon", model_settings=settings), QUESTION)
        same(result.final_output, program.generate("jargon", QUESTION, 24)["text"])
    await client.close()


def run(checks, server, program):
    asyncio.run(check(checks, server, program))

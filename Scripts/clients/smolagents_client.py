"""smolagents: its model class, and both kinds of agents."""
import io, json

import openai
from rich.console import Console
from smolagents import AgentGenerationError, AgentLogger, CodeAgent, LogLevel, OpenAIModel, ToolCallingAgent, tool
from smolagents.memory import ActionStep

from served import same
from words import MESSAGES, QUESTION, Word, meaning, refusal

# What agents tell their users goes nowhere.
QUIET = dict(logger=AgentLogger(LogLevel.OFF, Console(file=io.StringIO())))


@tool
def look_up(word: str) -> str:
    """Looks a word up.

    Args:
        word: The word.
    """
    return meaning(word)


def run(checks, server, program):
    def model(name="jargon", key=server.key, **arguments):
        return OpenAIModel(name, api_base=server.url + "/v1", api_key=key, client_kwargs={"max_retries": 0}, retry=False,
                           **{"temperature": 0, "max_tokens": 60, "seed": 1, **arguments})

    def steps(agent):
        """The agent's turns after a run of at most as many as it may take."""
        agent.run(QUESTION)
        return [step for step in agent.memory.steps if isinstance(step, ActionStep)]

    with checks("smolagents: generate and generate_stream have the text of skein generate"):
        for name in ("base", "jargon"):
            alone = program.generate(name, QUESTION, 24)
            answer = model(name, max_tokens=24).generate(MESSAGES)
            same((answer.content, answer.token_usage.output_tokens), (alone["text"], len(alone["tokens"])))
            pieces = list(model(name, max_tokens=24).generate_stream(MESSAGES))
            same("".join(piece.content or "" for piece in pieces), alone["text"])
            same(sum(piece.token_usage.output_tokens for piece in pieces if piece.token_usage), len(alone["tokens"]))

    form = {"type": "json_schema", "json_schema": {"name": "word", "strict": True, "schema": {
        **Word.model_json_schema(), "additionalProperties": False}}}
    with checks("smolagents: response_format, and tools beside it"):
        Word.model_validate_json(model().generate(MESSAGES, response_format=form).content)
        for choice in ("auto", "required"):
            answer = model().generate(MESSAGES, response_format=form, tools_to_call_from=[look_up], tool_choice=choice)
            if not answer.tool_calls:
                Word.model_validate_json(answer.content)
                same(choice, "auto")
            for call in answer.tool_calls or []:
                same((call.function.name, list(json.loads(call.function.arguments))), ("look_up", ["word"]))

    for streamed in (False, True):
        place = "streamed" if streamed else "whole"
        with checks(f"smolagents: ToolCallingAgent, {place}: each turn has calls of its tools"):
            agent = ToolCallingAgent(tools=[look_up], model=model(), max_steps=2, stream_outputs=streamed, **QUIET)
            for step in steps(agent)[:2]:
                assert step.tool_calls, step
                for call in step.tool_calls:
                    same(list(call.arguments), [{"look_up": "word", "final_answer": "answer"}[call.name]])

        with checks(f"smolagents: CodeAgent with structured outputs, {place}: each turn is a thought and code"):
            agent = CodeAgent(tools=[look_up], model=model(max_tokens=120), max_steps=1, stream_outputs=streamed,
                              use_structured_outputs_internally=True, **QUIET)
            first = steps(agent)[0]
            same(list(json.loads(first.model_output)), ["thought", "code"])
            assert not isinstance(first.error, AgentGenerationError), first.error

    with checks("smolagents: CodeAgent without them: a turn is text"):
        agent = CodeAgent(tools=[], model=model(), max_steps=1, **QUIET)
        first = steps(agent)[0]
        assert first.model_output and not isinstance(first.error, AgentGenerationError), first

    with checks("smolagents: an unknown model, a wrong key"):
        refusal(openai.NotFoundError, lambda: model("nobody").generate(MESSAGES), "nobody")
        refusal(openai.AuthenticationError, lambda: model(key="wrong").generate(MESSAGES))
        refusal(AgentGenerationError, lambda: CodeAgent(tools=[], model=model("nobody"), **QUIET).run(QUESTION), "nobody")

"""openai with tools: whether and which tool is called, in streams too, and a loop in which a tool throws."""
import enum, json, random

import openai
from pydantic import BaseModel, Field

from served import same

MESSAGES = [{"role": "user", "content": "How warm is it in Oslo, and what does \"foo\" mean?"}]


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Weather(BaseModel):
    """The temperature of a city."""

    city: str = Field(min_length=1, max_length=16)
    unit: Unit


class LookUp(BaseModel):
    """The meaning of a word of the jargon."""

    word: str = Field(min_length=1, max_length=16)


KINDS = {"Weather": Weather, "LookUp": LookUp}
TOOLS = [openai.pydantic_function_tool(kind) for kind in KINDS.values()]


# A conversation in which every question was answered by a call.
EXAMPLES = []
for place, word in enumerate(("bar", "kludge", "nybble")):
    call = {"id": f"call_{place}", "type": "function", "function": {"name": "LookUp", "arguments": json.dumps({"word": word})}}
    EXAMPLES += [{"role": "user", "content": f"Look up: {word}"}, {"role": "assistant", "content": None, "tool_calls": [call]},
                 {"role": "tool", "tool_call_id": f"call_{place}", "content": f"{word}: a word without meaning"},
                 {"role": "assistant", "content": f"{word}: a word without meaning"}]
EXAMPLES.append({"role": "user", "content": "Look up: foo"})


def named(name):
    return {"type": "function", "function": {"name": name}}


def arguments_of(calls):
    """The calls' values; each must be what its tool takes."""
    for call in calls:
        assert call.type == "function" and call.id, call
    same(len({call.id for call in calls}), len(calls))
    return [KINDS[call.function.name].model_validate_json(call.function.arguments) for call in calls]


def joined(stream):
    """Text, (name, arguments) of calls and the reason for the end, from a stream's pieces."""
    text, calls, ids, reason = "", [], [], None
    for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for piece in choice.delta.tool_calls or []:
                if piece.index == len(calls):
                    calls.append([piece.function.name, ""])
                    ids.append(piece.id)
                calls[piece.index][1] += piece.function.arguments or ""
            reason = choice.finish_reason or reason
    assert all(ids), ids
    return text, [tuple(call) for call in calls], reason


def run(checks, server):
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
    chat = client.chat.completions
    seed = random.SystemRandom().randrange(1 << 32)
    generator = random.Random(seed)

    def ask(**arguments):
        return chat.create(**{"model": "jargon", "messages": MESSAGES, "tools": TOOLS, "max_tokens": 120,
                              "temperature": 0.9, "seed": generator.randrange(1 << 31), **arguments}).choices[0]

    with checks(f"tools, auto: text or calls that are valid (seed {seed})"):
        for _ in range(3):
            choice = ask(tool_choice="auto", max_tokens=48)
            calls = choice.message.tool_calls or []
            arguments_of(calls)
            assert calls or choice.message.content, choice
            assert not calls or choice.finish_reason in ("tool_calls", "length"), choice

    with checks("tools, auto: after a conversation with calls the model calls by itself, streamed too"):
        # It need not; of a few seeds some do.
        for attempt in range(8):
            arguments = dict(messages=EXAMPLES, tool_choice="auto", temperature=0.5, seed=attempt)
            choice = ask(**arguments)
            if choice.message.tool_calls:
                break
        arguments_of(choice.message.tool_calls or [])
        assert choice.message.tool_calls, "8 seeds, and never a call"
        stream = chat.create(model="jargon", tools=TOOLS, max_tokens=120, stream=True, **arguments)
        same(joined(stream), (choice.message.content or "", [(c.function.name, c.function.arguments) for c in choice.message.tool_calls],
                              choice.finish_reason))

    with checks("tools, required: at least one call, each valid"):
        for i in range(8):
            choice = ask(tool_choice="required", model=("base", "jargon")[i % 2], temperature=(0, 1, 1.4)[i % 3])
            assert arguments_of(choice.message.tool_calls or []), choice
            assert choice.finish_reason in ("tool_calls", "length"), choice

    with checks("tools, parallel_tool_calls=false: exactly one call"):
        for _ in range(4):
            same(len(arguments_of(ask(tool_choice="required", parallel_tool_calls=False).message.tool_calls)), 1)

    with checks("tools, parallel: several calls in one answer, with ids of their own"):
        # The model need not call twice; of a few seeds some do.
        most = 0
        for attempt in range(12):
            calls = ask(tool_choice="required", parallel_tool_calls=True, max_tokens=200).message.tool_calls
            arguments_of(calls)
            most = max(most, len(calls))
            if most > 1:
                break
        assert most > 1, "12 seeds, and never two calls"

    with checks("tools, named: one call of that tool"):
        for name in KINDS:
            same([call.function.name for call in ask(tool_choice=named(name)).message.tool_calls], [name])

    with checks("tools, none: text"):
        choice = ask(tool_choice="none", max_tokens=24)
        assert choice.message.content and not choice.message.tool_calls, choice

    with checks("tools, streamed: the pieces are the whole answer's calls"):
        for tool_choice in ("required", "auto", named("LookUp")):
            arguments = dict(model="jargon", messages=MESSAGES, tools=TOOLS, tool_choice=tool_choice, max_tokens=80,
                             temperature=0.8, seed=4)
            whole = chat.create(**arguments).choices[0]
            text, calls, reason = joined(chat.create(stream=True, **arguments))
            same(text, whole.message.content or "")
            same(calls, [(c.function.name, c.function.arguments) for c in whole.message.tool_calls or []])
            same(reason, whole.finish_reason)

    with checks("tools, parse: arguments as values of the tools' classes"):
        completion = chat.parse(model="base", messages=MESSAGES, tools=TOOLS, tool_choice=named("Weather"), max_tokens=120,
                                temperature=1, seed=generator.randrange(1 << 31))
        assert isinstance(completion.choices[0].message.tool_calls[0].function.parsed_arguments, Weather)

    with checks("tools, .stream(): the events of a call"):
        with chat.stream(model="base", messages=MESSAGES, tools=TOOLS, tool_choice=named("Weather"), max_tokens=120,
                         temperature=0) as stream:
            done = [event for event in stream if event.type == "tool_calls.function.arguments.done"]
        same([(event.name, type(event.parsed_arguments)) for event in done], [("Weather", Weather)])

    with checks("tools that cannot be are refused"):
        for problem in ({"tools": TOOLS + TOOLS[:1]}, {"tool_choice": named("Nothing")}, {"tools": [], "tool_choice": "required"}):
            try:
                ask(**problem)
                raise AssertionError(f"{problem} was answered")
            except openai.BadRequestError:
                pass

    with checks("a loop with two tools of which one throws ends with an answer"):
        loop(client)


def weather(value):
    raise ConnectionError(f"the thermometer of {value.city} does not answer")


def look_up(value):
    return f"{value.word}: a word without meaning"


def loop(client):
    """What an agent does: calls are run, what they return or throw goes back, until the model answers in text."""
    functions = {"Weather": weather, "LookUp": look_up}
    messages = list(MESSAGES)
    # A model of 135 million parameters does not decide this well: it is led to both tools, then it is free, and at the
    # end it must answer.
    lead = [named("Weather"), named("LookUp"), "auto", "none"]
    results = []
    for tool_choice in lead:
        message = client.chat.completions.create(
            model="jargon", messages=messages, tools=TOOLS, tool_choice=tool_choice, max_tokens=60, temperature=0,
        ).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            value = KINDS[call.function.name].model_validate_json(call.function.arguments)
            try:
                result = functions[call.function.name](value)
            except Exception as error:
                result = f"error: {type(error).__name__}: {error}"
            results.append(result)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    assert message.content and not message.tool_calls, message
    assert results[0].startswith("error: ConnectionError: the thermometer of ") and "without meaning" in results[1], results

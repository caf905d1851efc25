"""openai with pydantic: whatever the seed, the answer is a value of the class."""
import enum, json, random
from typing import List, Literal, Optional, Union

import openai
from pydantic import BaseModel, Field

from served import same

MESSAGES = [{"role": "user", "content": "Describe the hacker term \"foo\" as JSON."}]


class Mood(enum.Enum):
    SERIOUS = "serious"
    JOKING = "joking \"quoted\""


class Source(BaseModel):
    title: str = Field(max_length=24)
    year: int = Field(ge=1950, le=2030)
    page: Optional[int] = Field(default=None, ge=0, le=999)


class Entry(BaseModel):
    word: str = Field(min_length=1, max_length=24)
    mood: Mood
    part: Literal["noun", "verb"]
    sources: List[Source] = Field(max_length=2)
    also: Optional[str] = Field(max_length=16)
    score: Union[bool, float] = Field(description="how sure")


class Tree(BaseModel):
    name: str = Field(max_length=8)
    children: List["Tree"] = Field(max_length=2)


def parsed(chat, kind, **arguments):
    """The value, also where the answer's limit closed it early: the client then raises, and the value is complete."""
    try:
        choice = chat.parse(response_format=kind, **arguments).choices[0]
        assert isinstance(choice.message.parsed, kind), choice
        return choice.message.parsed, choice.finish_reason
    except openai.LengthFinishReasonError as error:
        choice = error.completion.choices[0]
        return kind.model_validate_json(choice.message.content), choice.finish_reason


def run(checks, server):
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
    chat = client.chat.completions
    seed = random.SystemRandom().randrange(1 << 32)
    generator = random.Random(seed)

    with checks(f"parse: 24 values of nested classes with an enum, a list, a union, optionals (seed {seed})"):
        ends = []
        for i in range(24):
            _, end = parsed(chat, Entry, model=("base", "jargon")[i % 2], messages=MESSAGES, max_tokens=(100, 220, 60)[i % 3],
                            temperature=generator.choice([0, 0.7, 1, 1.5]), seed=generator.randrange(1 << 31))
            ends.append(end)
        assert set(ends) <= {"stop", "length"} and "stop" in ends, ends

    with checks("parse: a class that holds itself"):
        for i in range(4):
            parsed(chat, Tree, model="jargon", messages=MESSAGES, max_tokens=80, temperature=1, seed=generator.randrange(1 << 31))

    with checks("parse with n=2 and the same seed: the same values"):
        arguments = dict(model="base", messages=MESSAGES, max_tokens=250, temperature=0.9, seed=3, n=2, response_format=Source)
        first, second = chat.parse(**arguments), chat.parse(**arguments)
        same(len(first.choices), 2)
        same([c.message.parsed for c in first.choices], [c.message.parsed for c in second.choices])

    with checks(".stream(): events, and the value at the end"):
        arguments = dict(model="jargon", messages=MESSAGES, max_tokens=120, temperature=0.8, seed=11)
        with chat.stream(response_format=Source, **arguments) as stream:
            kinds, deltas = [], ""
            for event in stream:
                kinds.append(event.type)
                if event.type == "content.delta":
                    deltas += event.delta
            final = stream.get_final_completion().choices[0].message
        assert isinstance(final.parsed, Source), final
        same(deltas, final.content)
        assert {"chunk", "content.delta", "content.done"} <= set(kinds), set(kinds)
        same(parsed(chat, Source, **arguments)[0], final.parsed)

    with checks("json_object is an object"):
        for choice in chat.create(model="base", messages=MESSAGES, max_tokens=60, n=4, temperature=1, seed=generator.randrange(1 << 31),
                                  response_format={"type": "json_object"}).choices:
            assert isinstance(json.loads(choice.message.content), dict), choice

    with checks("vLLM's extra fields: choice, regex"):
        answer = chat.create(model="base", messages=MESSAGES, temperature=0, extra_body={"structured_outputs": {"choice": ["yes", "no"]}})
        assert answer.choices[0].message.content in ("yes", "no"), answer
        answer = chat.create(model="base", messages=MESSAGES, temperature=1, extra_body={"guided_regex": "[a-f]{3}-[0-9]{2}"})
        import re

        assert re.fullmatch("[a-f]{3}-[0-9]{2}", answer.choices[0].message.content), answer

    with checks("a limit that no value fits is refused before anything is generated"):
        try:
            chat.create(model="base", messages=MESSAGES, max_tokens=3,
                        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": Entry.model_json_schema()}})
            raise AssertionError("it was answered")
        except openai.BadRequestError as error:
            assert "token" in error.body["message"], error

"""What the clients of agents and forms are asked about: a question, a form and a tool."""
from pydantic import BaseModel, Field

from served import same

QUESTION = "What is a kludge?"
MESSAGES = [{"role": "user", "content": QUESTION}]


class Word(BaseModel):
    """What is known of a word."""

    word: str = Field(min_length=1, max_length=12)
    old: bool


# The arguments of the tool `look_up`.
ARGUMENTS = {"type": "object", "properties": {"word": {"type": "string", "minLength": 1, "maxLength": 12}},
             "required": ["word"], "additionalProperties": False}
TOOL = {"type": "function", "function": {"name": "look_up", "description": "Looks a word up.", "parameters": ARGUMENTS}}


def meaning(word):
    """What the tool answers."""
    return f"{word}: a word without meaning"


def check_arguments(arguments):
    """The arguments of a call must be those that `look_up` takes."""
    same(list(arguments), ["word"])
    assert isinstance(arguments["word"], str) and len(arguments["word"]) <= 12, arguments


def refusal(kind, ask, *parts):
    """The exception of the client's own kind that `ask` must raise, whose text must have these parts."""
    try:
        answer = ask()
    except kind as error:
        for part in parts:
            assert part in str(error), f"{error}, expected {part}"
        return error
    raise AssertionError(f"it was answered: {answer}")

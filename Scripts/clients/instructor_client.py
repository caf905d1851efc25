"""instructor, in an interpreter of its own: instructor_client.py URL KEY. It holds back a newer openai."""
import logging, sys
from typing import Iterable

import instructor
import openai
from instructor.core.exceptions import IncompleteOutputException, InstructorRetryException

from served import Checks, same
from words import MESSAGES, Word, refusal


def run(checks, url, key):
    plain = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
    asked = dict(model="jargon", messages=MESSAGES, response_model=Word, max_retries=0)

    for mode in (instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA, instructor.Mode.JSON,
                 instructor.Mode.MD_JSON):
        with checks(f"instructor: {mode.name}: values of a class"):
            client = instructor.from_openai(plain, mode=mode)
            for seed in range(3):
                try:
                    value, raw = client.chat.completions.create_with_completion(
                        **asked, max_tokens=60, temperature=0.8, seed=seed)
                except (InstructorRetryException, IncompleteOutputException):
                    # These two show the schema to the model and hold it to JSON, or to nothing.
                    if mode in (instructor.Mode.JSON, instructor.Mode.MD_JSON):
                        continue
                    raise
                assert isinstance(value, Word), raw

    client = instructor.from_openai(plain, mode=instructor.Mode.JSON_SCHEMA)
    with checks("instructor: create_partial: the last piece is the whole value"):
        whole = client.chat.completions.create(**asked, max_tokens=60, temperature=0)
        pieces = list(client.chat.completions.create_partial(**asked, max_tokens=60, temperature=0))
        same(pieces[-1].model_dump(), whole.model_dump())

    with checks("instructor: create_iterable: a list of values"):
        tools = instructor.from_openai(plain, mode=instructor.Mode.TOOLS)
        values = list(tools.chat.completions.create_iterable(**asked, max_tokens=120, temperature=0))
        assert all(isinstance(value, Word) for value in values), values

    with checks("instructor: PARALLEL_TOOLS: calls are values"):
        tools = instructor.from_openai(plain, mode=instructor.Mode.PARALLEL_TOOLS)
        # Here the model may also answer in text, or call up to the limit, and this client takes neither.
        for seed in range(4):
            try:
                values = list(tools.chat.completions.create(**{**asked, "response_model": Iterable[Word]}, max_tokens=100,
                                                            temperature=0.8, seed=seed))
                assert values and all(isinstance(value, Word) for value in values), values
            except IncompleteOutputException:
                pass
            except InstructorRetryException as error:
                assert "No tool calls in response" in str(error), error

    with checks("instructor: a form beside tools of the request's own"):
        tool = openai.pydantic_function_tool(Word, name="store")
        value = client.chat.completions.create(**asked, tools=[tool], tool_choice="none", max_tokens=60, temperature=0)
        assert isinstance(value, Word), value

    with checks("instructor: an unknown model, a wrong key"):
        stranger = instructor.from_openai(plain.with_options(api_key="wrong"), mode=instructor.Mode.JSON_SCHEMA)
        unknown = {**asked, "model": "nobody"}
        refusal(InstructorRetryException, lambda: client.chat.completions.create(**unknown), "nobody")
        refusal(InstructorRetryException, lambda: stranger.chat.completions.create(**asked))

    with checks("instructor: from_provider with an address"):
        client = instructor.from_provider("openai/jargon", base_url=url + "/v1", api_key=key,
                                          mode=instructor.Mode.JSON_SCHEMA)
        del asked["model"]
        assert isinstance(client.chat.completions.create(**asked, max_tokens=60, temperature=0), Word)


if __name__ == "__main__":
    # It logs each error that it raises.
    logging.disable(logging.CRITICAL)
    checks = Checks()
    run(checks, *sys.argv[1:3])
    sys.exit(1 if checks.failed else 0)

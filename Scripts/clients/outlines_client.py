"""outlines: forms over the openai package, as OpenAI takes them and as vLLM takes them."""
import re
from typing import Literal

import openai
import outlines
import outlines.exceptions
from outlines.types import CFG, Regex

from served import same
from words import QUESTION, Word, refusal


def run(checks, server, program):
    client = openai.OpenAI(base_url=server.url + "/v1", api_key=server.key, max_retries=0)
    stranger = client.with_options(api_key="wrong")

    for maker in (outlines.from_openai, outlines.from_vllm):
        place = maker.__name__
        model = maker(client, "jargon")
        with checks(f"outlines: {place}, a text and a stream have the text of skein generate"):
            text = program.generate("jargon", QUESTION, 24)["text"]
            same(model(QUESTION, temperature=0, max_tokens=24), text)
            same("".join(model.stream(QUESTION, temperature=0, max_tokens=24)), text)

        with checks(f"outlines: {place}, values of a class, whole and streamed"):
            for seed in range(3):
                arguments = dict(temperature=1, seed=seed, max_tokens=60)
                value = model(QUESTION, Word, **arguments)
                Word.model_validate_json(value)
                same("".join(model.stream(QUESTION, Word, **arguments)), value)

        with checks(f"outlines: {place}, an unknown model and a wrong key"):
            errors = outlines.exceptions
            refusal(errors.NotFoundError, lambda: maker(client, "nobody")(QUESTION), "nobody")
            refusal(errors.AuthenticationError, lambda: maker(stranger, "jargon")(QUESTION))

    with checks("outlines: from_openai, JSON of any shape"):
        same(outlines.from_openai(client, "base")(QUESTION, dict, temperature=0, max_tokens=40)[:1], "{")

    model = outlines.from_vllm(client, "base")
    with checks("outlines: from_vllm, an expression, a choice, a number"):
        for seed in range(3):
            arguments = dict(temperature=1, seed=seed, max_tokens=24)
            assert re.fullmatch("[a-f]{3}-[0-9]{2}", model(QUESTION, Regex("[a-f]{3}-[0-9]{2}"), **arguments))
            assert model(QUESTION, Literal["yes", "no"], **arguments) in ("yes", "no")
            int(model(QUESTION, int, **arguments))
            assert model(QUESTION, bool, **arguments) in ("True", "False")

    with checks("outlines: from_vllm, a grammar is refused, not passed over"):
        refusal(outlines.exceptions.BadRequestError, lambda: model(QUESTION, CFG('start: "a" | "b"')), "grammar")

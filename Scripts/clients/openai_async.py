"""openai, async: eight at once get what each gets alone; who goes away frees the place."""
import asyncio

import openai
from pydantic import BaseModel, Field

from served import same


class Word(BaseModel):
    word: str = Field(min_length=1, max_length=12)
    letters: int = Field(ge=1, le=12)


def requests():
    """Other models, samplings, lengths and forms."""
    for i in range(8):
        request = dict(model=("base", "jargon")[i % 2], messages=[{"role": "user", "content": "Define a word. " * (1 + i * 3)}],
                       max_tokens=16 + 4 * i, temperature=(0, 0.8)[i // 4], seed=i)
        if i % 4 == 3:
            schema = {"name": "word", "strict": True, "schema": Word.model_json_schema()}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        yield request


async def check(checks, server):
    async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
        chat = client.chat.completions

        async def whole(request):
            return (await chat.create(**request)).choices[0].message.content

        async def streamed(request):
            text = ""
            async for chunk in await chat.create(stream=True, **request):
                text += chunk.choices[0].delta.content or ""
            return text

        with checks("async: models.list"):
            same([model.id async for model in client.models.list()], ["base", "jargon"])
        with checks("async: eight at once, streams and whole, have the texts that each has alone"):
            alone = [await whole(request) for request in requests()]
            together = await asyncio.gather(*[(whole, streamed)[i % 2](r) for i, r in enumerate(requests())])
            same(together, alone)
        with checks("async: log-probabilities of prompts do not depend on company"):
            prompts = [("The jargon of hackers is older than the net. " * (i + 1)).strip() for i in range(4)]
            asked = [dict(model=("base", "jargon")[i % 2], prompt=p, max_tokens=1, temperature=0, echo=True, logprobs=2)
                     for i, p in enumerate(prompts)]
            alone = [(await client.completions.create(**r)).choices[0].logprobs for r in asked]
            for found, prompt in zip(alone, prompts):
                same(len([x for x in found.token_logprobs[:-1] if x is None]), 1)
                assert "".join(found.tokens).startswith(prompt), found
            together = await asyncio.gather(*[client.completions.create(**r) for r in asked])
            same([answer.choices[0].logprobs for answer in together], alone)
        with checks("async: a cancelled request frees its place, and its company does not notice"):
            expected = await whole({**next(requests()), "max_tokens": 48})
            long = dict(model="base", messages=[{"role": "user", "content": "Count."}], max_tokens=2000, extra_body={"ignore_eos": True})
            gone = [asyncio.create_task(whole(long)), asyncio.create_task(streamed(long))]
            company = asyncio.create_task(whole({**next(requests()), "max_tokens": 48}))
            while await asyncio.to_thread(server.metric, "skein_serve_answers_running") < 3:
                assert not any(task.done() for task in gone)
                await asyncio.sleep(0.02)
            for task in gone:
                task.cancel()
            await asyncio.gather(*gone, return_exceptions=True)
            assert all(task.cancelled() for task in gone)
            same(await company, expected)
            await asyncio.to_thread(server.becomes_idle, 2)
        with checks("async: .stream() and parse"):
            arguments = dict(model="jargon", messages=[{"role": "user", "content": "A word."}], response_format=Word, max_tokens=60, seed=1)
            async with chat.stream(**arguments) as stream:
                final = await stream.get_final_completion()
            same(final.choices[0].message.parsed, (await chat.parse(**arguments)).choices[0].message.parsed)


def run(checks, server):
    asyncio.run(check(checks, server))

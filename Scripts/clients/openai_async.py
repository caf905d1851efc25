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
        with checks("async: a cancelled request frees its place, and its company does not notice"):
            long = dict(model="base", messages=[{"role": "user", "content": "Count."}], max_tokens=2000, extra_body={"ignore_eos": True})
            gone = [asyncio.create_task(whole(long)), asyncio.create_task(streamed(long))]
            company = asyncio.create_task(whole(next(requests())))
            await asyncio.sleep(0.3)
            for task in gone:
                task.cancel()
            await asyncio.gather(*gone, return_exceptions=True)
            assert all(task.cancelled() for task in gone)
            same(await company, alone[0])
            await asyncio.to_thread(server.becomes_idle, 2)
        with checks("async: .stream() and parse"):
            arguments = dict(model="jargon", messages=[{"role": "user", "content": "A word."}], response_format=Word, max_tokens=60, seed=1)
            async with chat.stream(**arguments) as stream:
                final = await stream.get_final_completion()
            same(final.choices[0].message.parsed, (await chat.parse(**arguments)).choices[0].message.parsed)


def run(checks, server):
    asyncio.run(check(checks, server))

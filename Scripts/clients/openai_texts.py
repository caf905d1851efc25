"""openai, sync: models, texts equal to `skein generate`, streams, choices, stops, biases, log-probabilities, errors."""
import math, os, time

import openai

from served import same

QUESTION = 'What does "BRS" mean in hacker slang?'
MESSAGES = [{"role": "user", "content": QUESTION}]
PROMPT = "The jargon of hackers is"
SAMPLINGS = [{"temperature": 0}, {"temperature": 0.8, "seed": 5}]


def options(sampling):
    words = ["--temperature", str(sampling["temperature"])]
    return words + (["--seed", str(sampling["seed"])] if "seed" in sampling else [])


def said(sampling):
    return " ".join(f"{name} {value}" for name, value in sampling.items())


def run(checks, server, program, directory):
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
    chat, completions = client.chat.completions, client.completions

    with checks("models.list has the base and the adapter"):
        same([model.id for model in client.models.list()], ["base", "jargon"])
        same(client.models.retrieve("jargon").id, "jargon")

    for name in ("base", "jargon"):
        for sampling in SAMPLINGS:
            with checks(f"chat: {name}, {said(sampling)}: the text of skein generate"):
                answer = chat.create(model=name, messages=MESSAGES, max_tokens=24, **sampling)
                alone = program.generate(name, QUESTION, 24, *options(sampling))
                same(answer.choices[0].message.content, alone["text"])
                same(answer.choices[0].message.role, "assistant")
                same(answer.choices[0].finish_reason, alone["finish_reason"])
                same(answer.usage.prompt_tokens, alone["prompt_tokens"])
                same(answer.usage.completion_tokens, len(alone["tokens"]))
                same(answer.usage.total_tokens, alone["prompt_tokens"] + len(alone["tokens"]))
                same(answer.model, name)
            with checks(f"completion: {name}, {said(sampling)}: the text of skein generate --raw"):
                answer = completions.create(model=name, prompt=PROMPT, max_tokens=24, **sampling)
                alone = program.generate(name, PROMPT, 24, "--raw", *options(sampling))
                same(answer.choices[0].text, alone["text"])
                same(answer.usage.completion_tokens, len(alone["tokens"]))
            with checks(f"streams: {name}, {said(sampling)}: the pieces are the whole answer"):
                chunks = list(chat.create(model=name, messages=MESSAGES, max_tokens=24, stream=True,
                                          stream_options={"include_usage": True}, **sampling))
                alone = program.generate(name, QUESTION, 24, *options(sampling))
                same("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), alone["text"])
                same(chunks[0].choices[0].delta.role, "assistant")
                same([c.choices[0].finish_reason for c in chunks if c.choices][-1], alone["finish_reason"])
                same(len({c.id for c in chunks}), 1)
                same((chunks[-1].choices, chunks[-1].usage.completion_tokens), ([], len(alone["tokens"])))
                assert all(c.usage is None for c in chunks[:-1])
                pieces = completions.create(model=name, prompt=PROMPT, max_tokens=24, stream=True, **sampling)
                alone = program.generate(name, PROMPT, 24, "--raw", *options(sampling))
                same("".join(c.choices[0].text for c in pieces), alone["text"])

    with checks("the system message, and content in parts"):
        parts = [{"type": "text", "text": QUESTION}]
        answer = chat.create(model="base", temperature=0, max_tokens=12, messages=[
            {"role": "developer", "content": "Be brief."}, {"role": "user", "content": parts}])
        same(answer.choices[0].message.content, program.generate("base", QUESTION, 12, "--system", "Be brief.")["text"])

    with checks("n=3: each choice is what its seed gives alone"):
        answer = chat.create(model="jargon", messages=MESSAGES, max_tokens=16, n=3, temperature=0.8, seed=5)
        alone = [program.generate("jargon", QUESTION, 16, "--temperature", "0.8", "--seed", str(5 + i)) for i in range(3)]
        same([c.index for c in answer.choices], [0, 1, 2])
        same([c.message.content for c in answer.choices], [a["text"] for a in alone])
        same(answer.usage.completion_tokens, sum(len(a["tokens"]) for a in alone))
        same(answer.usage.prompt_tokens, alone[0]["prompt_tokens"])
        streamed = ["", "", ""]
        for chunk in chat.create(model="jargon", messages=MESSAGES, max_tokens=16, n=3, temperature=0.8, seed=5, stream=True):
            for choice in chunk.choices:
                streamed[choice.index] += choice.delta.content or ""
        same(streamed, [a["text"] for a in alone])

    whole = program.generate("base", QUESTION, 24)
    with checks("stop: the answer ends before the text, in a stream too"):
        # Across two tokens' border, and a text that never comes.
        stop = whole["text"][17:24]
        cut = whole["text"][: whole["text"].index(stop)]
        arguments = dict(model="base", messages=MESSAGES, max_tokens=24, temperature=0, stop=[stop, "\x01never"])
        answer = chat.create(**arguments)
        same((answer.choices[0].message.content, answer.choices[0].finish_reason), (cut, "stop"))
        chunks = list(chat.create(stream=True, **arguments))
        same("".join(c.choices[0].delta.content or "" for c in chunks), cut)

    with checks("logit_bias: -100 forbids a token, 100 forces one"):
        first = whole["tokens"][0]
        answer = chat.create(model="base", messages=MESSAGES, max_tokens=8, temperature=0, logit_bias={str(first): -100})
        tokens = server.post("/tokenize", {"prompt": answer.choices[0].message.content})["tokens"]
        assert first not in tokens, tokens
        token = server.post("/tokenize", {"prompt": " moose"})["tokens"][0]
        piece = server.post("/detokenize", {"tokens": [token] * 4})["prompt"]
        answer = chat.create(model="base", messages=MESSAGES, max_tokens=4, temperature=0.8, seed=1, logit_bias={str(token): 100})
        same(answer.choices[0].message.content, piece)

    with checks("logprobs and top_logprobs of a chat; a stream has the same"):
        arguments = dict(model="jargon", messages=MESSAGES, max_tokens=8, temperature=0, logprobs=True, top_logprobs=3)
        answer = chat.create(**arguments)
        content = answer.choices[0].logprobs.content
        same(len(content), answer.usage.completion_tokens)
        same(b"".join(bytes(entry.bytes) for entry in content).decode(), answer.choices[0].message.content)
        for entry in content:
            same(len(entry.top_logprobs), 3)
            values = [top.logprob for top in entry.top_logprobs]
            same(values, sorted(values, reverse=True))
            same((entry.top_logprobs[0].token, values[0]), (entry.token, entry.logprob))
            assert sum(map(math.exp, values)) < 1.0001
        chunks = list(chat.create(stream=True, **arguments))
        streamed = [e for c in chunks if c.choices[0].logprobs for e in c.choices[0].logprobs.content or []]
        same(streamed, content)

    with checks("logprobs of a completion: those of skein generate --logits"):
        import numpy

        for name in ("base", "jargon"):
            answer = completions.create(model=name, prompt=PROMPT, max_tokens=2, temperature=0, logprobs=4)
            row = program.logits(name, PROMPT, os.path.join(directory, "logits"))[-1].astype("float64")
            row -= row.max() + numpy.log(numpy.exp(row - row.max()).sum())
            found = answer.choices[0].logprobs
            assert abs(found.token_logprobs[0] - row.max()) < 1e-4, (found.token_logprobs[0], row.max())
            top = sorted(found.top_logprobs[0].values(), reverse=True)
            assert numpy.allclose(top, numpy.sort(row)[::-1][:4], atol=1e-4), (top, numpy.sort(row)[::-1][:4])
            same("".join(found.tokens), answer.choices[0].text)
            same(found.text_offset, [0, len(found.tokens[0])])

    with checks("echo and logprobs: the prompt's log-probabilities are those of skein generate --logits"):
        for name in ("base", "jargon"):
            ids = server.post("/tokenize", {"prompt": PROMPT})["tokens"]
            answer = completions.create(model=name, prompt=PROMPT, max_tokens=1, temperature=0, echo=True, logprobs=2)
            found = answer.choices[0].logprobs
            same("".join(found.tokens), answer.choices[0].text)
            same((len(found.tokens), found.token_logprobs[0], found.top_logprobs[0]), (len(ids) + 1, None, None))
            rows = program.logits(name, PROMPT, os.path.join(directory, "logits")).astype("float64")
            for place, (row, token) in enumerate(zip(rows, ids[1:]), 1):
                whole = row.max() + numpy.log(numpy.exp(row - row.max()).sum())
                assert abs(found.token_logprobs[place] - (row[token] - whole)) < 1e-4, (place, found.token_logprobs[place])
                assert abs(max(found.top_logprobs[place].values()) - (row.max() - whole)) < 1e-4, place
            none = completions.create(model=name, prompt=PROMPT, max_tokens=0, temperature=0, echo=True, logprobs=2)
            same(none.choices[0].text, PROMPT)
            same(none.choices[0].logprobs.token_logprobs, found.token_logprobs[:-1])

    with checks("echo and logprobs, where the answer is the end of the turn: that token is told, too"):
        # lm_eval takes the last one away, whatever it is. `A.` ends what was asked for.
        text = "<|im_start|>user\nSay A.<|im_end|>\n<|im_start|>assistant\nA."
        ids = server.post("/tokenize", {"prompt": text})["tokens"]
        answer = completions.create(model="base", prompt=text, max_tokens=1, temperature=0, echo=True, logprobs=1)
        same(answer.choices[0].finish_reason, "stop")
        same(len(answer.choices[0].logprobs.token_logprobs), len(ids) + 1)

    with checks("lm_eval's tokenizer_backend=remote: /tokenizer_info has eos_token"):
        import json

        assert json.loads(server.get("/tokenizer_info"))["eos_token"]

    with checks("max_completion_tokens"):
        answer = chat.create(model="base", messages=MESSAGES, max_completion_tokens=5, temperature=0)
        same((answer.usage.completion_tokens, answer.choices[0].finish_reason), (5, "length"))

    with checks("completions: several prompts, token ids, echo"):
        ids = server.post("/tokenize", {"prompt": PROMPT})["tokens"]
        alone = program.generate("base", PROMPT, 8, "--raw")["text"]
        answer = completions.create(model="base", prompt=[PROMPT, "One"], max_tokens=8, temperature=0)
        same([c.index for c in answer.choices], [0, 1])
        same(answer.choices[0].text, alone)
        same(completions.create(model="base", prompt=ids, max_tokens=8, temperature=0).choices[0].text, alone)
        same(completions.create(model="base", prompt=PROMPT, max_tokens=8, temperature=0, echo=True).choices[0].text, PROMPT + alone)

    def fails(kind, **arguments):
        try:
            chat.create(**{"model": "base", "messages": MESSAGES, "max_tokens": 4, **arguments})
        except openai.APIStatusError as error:
            assert type(error) is kind, f"{arguments}: {type(error).__name__}: {error}"
            assert isinstance(error.body, dict) and error.body["message"] and error.body["type"], error.body
            return error
        raise AssertionError(f"{arguments} was answered")

    with checks("errors become the classes that clients catch"):
        same(fails(openai.NotFoundError, model="nobody").code, "model_not_found")
        same(fails(openai.BadRequestError, temperature="warm").param, "temperature")
        same(fails(openai.BadRequestError, extra_body={"temperature": -1}).param, "temperature")
        same(fails(openai.BadRequestError, messages=[{"role": "user", "content": "a " * 5000}]).code, "context_length_exceeded")
        same(fails(openai.BadRequestError, messages=[]).param, "messages")
        image = [{"type": "image_url", "image_url": {"url": "http://x"}}]
        fails(openai.BadRequestError, messages=[{"role": "user", "content": image}])
        schema = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": {"not": {}}}}
        same(fails(openai.BadRequestError, response_format=schema).code, "invalid_schema")
        try:
            client.embeddings.create(model="base", input="x")
            raise AssertionError("embeddings were answered")
        except openai.NotFoundError:
            pass

    with checks("a stream that is closed frees its place"):
        for kind in (lambda: chat.create(model="base", messages=MESSAGES, max_tokens=1500, stream=True, extra_body={"ignore_eos": True}),
                     lambda: completions.create(model="base", prompt=PROMPT, max_tokens=1500, stream=True, extra_body={"ignore_eos": True})):
            stream = kind()
            for _ in range(3):
                next(iter(stream))
            same(server.metric("skein_serve_answers_running"), 1)
            stream.close()
            server.becomes_idle(2)

    with checks("the second turn of a long conversation finds the first one's tokens"):
        turns = [{"role": "system", "content": "You know the jargon of hackers. " * 20}, *MESSAGES]
        first = chat.create(model="jargon", messages=turns, max_tokens=16, temperature=0)
        turns += [{"role": "assistant", "content": first.choices[0].message.content}, {"role": "user", "content": "And why?"}]
        second = chat.create(model="jargon", messages=turns, max_tokens=16, temperature=0)
        cached = second.usage.prompt_tokens_details.cached_tokens
        assert 64 <= cached < second.usage.prompt_tokens, second.usage
        # Of another model nothing is taken.
        other = chat.create(model="base", messages=turns, max_tokens=16, temperature=0)
        same(other.usage.prompt_tokens_details.cached_tokens, 0)


def run_guarded(checks, server, key):
    """A server with a key, one place and a queue of one."""
    def client(key):
        return openai.OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0)

    with checks("a wrong key is an AuthenticationError"):
        for wrong in ("wrong", key + "x", key[:-1]):
            try:
                client(wrong).models.list()
                raise AssertionError("it was taken")
            except openai.AuthenticationError as error:
                same(error.code, "invalid_api_key")
        same([model.id for model in client(key).models.list()], ["base"])

    with checks("a full queue is a RateLimitError, and a client that retries gets its answer"):
        import concurrent.futures

        def ask(client):
            try:
                return client.chat.completions.create(model="base", messages=MESSAGES, max_tokens=24, temperature=0).choices[0].message.content
            except openai.RateLimitError as error:
                assert int(error.response.headers["retry-after"]) >= 1
                return openai.RateLimitError

        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(ask, [client(key)] * 6))
            same(len(set(answers) - {openai.RateLimitError}), 1)
            assert openai.RateLimitError in answers, answers
            time.sleep(0.1)
            patient = openai.OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=20)
            same(set(threads.map(ask, [patient] * 4)), set(answers) - {openai.RateLimitError})

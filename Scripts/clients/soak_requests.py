"""The good requests of Scripts/soak-serve."""

WORDS = ("the hacker wrote a compiler in one night and nobody could read it but it worked so they shipped it with a manual "
         "of two pages and a cat that slept on the tape drive while the moon rose over the machine room").split()
PROMPTS = ["The capital of France is", "Once upon a time", "def fibonacci(n):", "A foo is", "In the beginning the Universe was",
           "Q: What is a kludge?\nA:", "1, 2, 3, 4,", "Das Wetter ist", "The hacker's dictionary says that", "\u4f60\u597d\uff0c"]
MESSAGES = ["Say hello.", "What is a bit bucket?", "Give me three colours.", "Write a haiku about tape drives.",
            "Explain recursion to a cat \U0001F431.", "Summarise: " + " ".join(WORDS)]
SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0,
          "maximum": 150}, "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3}},
          "required": ["name", "age", "tags"]}
TOOL = {"type": "function", "function": {"name": "weather", "description": "the weather of a city", "parameters": {
        "type": "object", "properties": {"city": {"type": "string", "maxLength": 10}}, "required": ["city"]}}}


def sampled(rng, body):
    body["temperature"] = rng.choice([0, 0, 0.7, 1, 1.5])
    body["seed"] = rng.randrange(1 << 31)
    for name, values in (("top_p", (0.5, 0.95)), ("top_k", (1, 40)), ("min_p", (0.05,)), ("presence_penalty", (0.5,)),
                         ("frequency_penalty", (0.7,)), ("repetition_penalty", (1.3,))):
        if rng.random() < 0.15:
            body[name] = rng.choice(values)
    if rng.random() < 0.2:
        body["stop"] = rng.choice([".", ["\n\n", " the "], ["zzz"], "\u00e9"])
    if rng.random() < 0.15:
        body["logit_bias"] = {str(rng.randrange(49000)): rng.choice([-100, 5]) for _ in range(3)}
    if rng.random() < 0.2:
        body["n"] = rng.choice([2, 3])


def conversation(rng):
    turns = [{"role": "system", "content": "You are terse."}] if rng.random() < 0.4 else []
    for _ in range(rng.choice([0, 0, 0, 1, 2, 4])):
        turns += [{"role": "user", "content": rng.choice(MESSAGES)},
                  {"role": "assistant", "content": " ".join(rng.choices(WORDS, k=rng.randrange(3, 30)))}]
    return turns + [{"role": "user", "content": rng.choice(MESSAGES)}]


def good_request(rng, models, tokens=(1, 8, 16, 24, 40)):
    """A path and a body that a server must answer; all that picks tokens is fixed by it."""
    body = {"model": rng.choice(models), "max_tokens": rng.choice(tokens)}
    sampled(rng, body)
    kind = rng.choice(["completion", "completion", "chat", "chat", "turns", "schema", "tools", "regex", "object"])
    if kind == "completion":
        body["prompt"] = rng.choice(PROMPTS) if rng.random() < 0.7 else " ".join(rng.choices(WORDS, k=rng.randrange(5, 400)))
        if rng.random() < 0.2:
            body["prompt"] = [body["prompt"], rng.choice(PROMPTS)]
        elif rng.random() < 0.2:
            body["prompt"] = [rng.randrange(100, 40000) for _ in range(rng.randrange(1, 80))]
        body["logprobs"] = rng.choice([0, 2])
        return "/v1/completions", body
    if kind == "regex":
        body.update(prompt=rng.choice(PROMPTS), guided_regex=r"[a-z]{1,12}( [a-z]{1,12}){0,3}\.", max_tokens=40)
        body.pop("stop", None)
        return "/v1/completions", body
    body["messages"] = conversation(rng)
    if kind in ("chat", "turns"):
        body["logprobs"] = True
    else:
        body.pop("stop", None)
        body["max_tokens"] = 64
        if kind == "schema":
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": SCHEMA}}
        elif kind == "object":
            body["response_format"] = {"type": "json_object"}
        else:
            body.update(tools=[TOOL], tool_choice=rng.choice(["auto", "required"]), parallel_tool_calls=rng.random() < 0.5)
    return "/v1/chat/completions", body


def pool_requests(rng, models, count):
    return [good_request(rng, models, tokens=(1, 8, 16, 24)) for _ in range(count)]

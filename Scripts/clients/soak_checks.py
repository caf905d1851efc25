"""What Scripts/soak-serve holds to be a well-formed answer, and how it judges figures."""
import json, re, statistics


class Wrong(Exception):
    """What a server must not do."""


def plain(status, body):
    """An error in OpenAI's shape."""
    try:
        error = json.loads(body)["error"]
        assert isinstance(error["message"], str) and isinstance(error["type"], str) and "param" in error and "code" in error
    except (ValueError, KeyError, TypeError, AssertionError) as problem:
        raise Wrong(f"{status} with a body that is no error: {body[:200]}") from problem
    return error


def require(condition, words):
    if not condition:
        raise Wrong(words)


class StreamedAnswer:
    """Puts chunks together as clients do."""

    def __init__(self):
        self.choices, self.usage, self.head = {}, None, None

    def take(self, chunk):
        """Whether it brought text or a piece of a call."""
        if "error" in chunk:
            raise Wrong(f"an error in the stream: {chunk}")
        head = (chunk["id"], chunk["model"], chunk["created"], chunk["object"])
        require(self.head in (None, head), f"chunks with different heads: {self.head}, {head}")
        self.head = head
        require(self.usage is None, "a chunk after the usage")
        if not chunk["choices"]:
            self.usage = chunk["usage"]
        brings = False
        for part in chunk["choices"]:
            choice = self.choices.setdefault(part["index"], {"text": "", "calls": {}, "tokens": [], "finish": None, "role": None})
            require(choice["finish"] is None, "a chunk after finish_reason")
            delta = part.get("delta", {"content": part.get("text")})
            choice["role"] = delta.get("role", choice["role"])
            choice["text"] += delta.get("content") or ""
            brings = brings or bool(delta.get("content"))
            for piece in delta.get("tool_calls", []):
                call = choice["calls"].setdefault(piece["index"], {"name": "", "arguments": ""})
                call["name"] += piece["function"].get("name", "")
                call["arguments"] += piece["function"].get("arguments", "")
                brings = True
            choice["tokens"] += tokens(part.get("logprobs"))
            choice["finish"] = part["finish_reason"]
        return brings

    @property
    def words(self):
        """What has come so far, shortened."""
        return str([(c["text"][-80:], list(c["calls"].values())) for c in self.choices.values()])

    def answer(self):
        is_chat = bool(self.head) and self.head[3] == "chat.completion.chunk"
        choices = []
        for index in sorted(self.choices):
            choice = self.choices[index]
            if is_chat:
                require(choice["role"] == "assistant", "a chat's stream without a role")
            calls = [{"type": "function", "function": call} for _, call in sorted(choice["calls"].items())]
            message = {"role": "assistant", "content": choice["text"], "tool_calls": calls}
            body = {"message": message} if is_chat else {"text": choice["text"]}
            choices.append({"index": index, "finish_reason": choice["finish"], "tokens": choice["tokens"], **body})
        return {"choices": choices, "usage": self.usage, "object": self.head and self.head[3], "streamed": True}


def tokens(logprobs):
    if not logprobs:
        return []
    if "content" in logprobs:
        return [(entry["token"], entry["logprob"]) for entry in logprobs["content"]]
    return list(zip(logprobs["tokens"], logprobs["token_logprobs"]))


def essence(answer):
    """What must not depend on the company: texts, calls, tokens with their log-probabilities, and why each ended."""
    found = []
    for choice in answer["choices"]:
        message = choice.get("message", {})
        calls = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or []]
        text = choice["text"] if "text" in choice else message.get("content") or ""
        found.append((choice["index"], text, calls, choice.get("tokens") or tokens(choice.get("logprobs")), choice["finish_reason"]))
    return found


def check_whole(path, body, answer):
    prompts = body.get("prompt")
    count = (len(prompts) if isinstance(prompts, list) and isinstance(prompts[0], str) else 1) * body.get("n", 1)
    require([c["index"] for c in answer["choices"]] == list(range(count)), f"choices {[c['index'] for c in answer['choices']]}")
    usage = answer["usage"]
    if not body.get("stream") or body.get("stream_options"):
        require(usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"], f"usage {usage}")
        require(usage["completion_tokens"] <= count * body["max_tokens"], f"usage {usage} of {body['max_tokens']}")
        require(0 <= usage["prompt_tokens_details"]["cached_tokens"] <= usage["prompt_tokens"], f"usage {usage}")
    for _, text, calls, said, finish in essence(answer):
        require(finish in ("stop", "length", "tool_calls"), f"finish_reason {finish}")
        require((finish == "tool_calls") <= bool(calls), "finish_reason tool_calls without calls")
        if body.get("logprobs") is not None and not calls and finish == "length" and "stop" not in body:
            require(len(said) == body["max_tokens"], f"{len(said)} tokens, not {body['max_tokens']}")
        for stop in [body["stop"]] if isinstance(body.get("stop"), str) else body.get("stop", []):
            require(stop not in text, f"the stop text {stop!r} in {text!r}")
        if "response_format" in body:
            value = json.loads(text)
            if body["response_format"]["type"] == "json_schema":
                require(set(value) == {"name", "age", "tags"} and 0 <= value["age"] <= 150, f"not of the schema: {text}")
        if "guided_regex" in body:
            require(re.fullmatch(body["guided_regex"], text), f"not of the expression: {text!r}")
        for _, arguments in calls:
            require(isinstance(json.loads(arguments)["city"], str), f"arguments {arguments}")
        if body.get("tool_choice") == "required":
            require(calls, "no call, though one was required")


class Histogram:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    @property
    def count(self):
        return len(self.values)

    @property
    def json(self):
        if not self.values:
            return None
        values = sorted(self.values)
        at = lambda share: values[min(len(values) - 1, int(share * len(values)))]
        return {"count": len(values), "p50": at(0.5), "p99": at(0.99), "largest": values[-1]}

    @property
    def words(self):
        found = self.json
        return found and f"p50 {found['p50'] * 1000:.0f} ms, p99 {found['p99'] * 1000:.0f} ms, largest " \
                         f"{found['largest'] * 1000:.0f} ms of {found['count']}"


def growth(samples):
    """Whether memory grows: of the time after the warm-up (a third), the last quarter's median against the first's."""
    late = [sample[1] for sample in samples if sample[0] > samples[-1][0] / 3] if samples else []
    if len(late) < 8:
        return False, "too few samples to judge memory"
    quarter = len(late) // 4
    windows = [statistics.median(late[n * quarter:(n + 1) * quarter]) for n in range(4)]
    words = "medians of RSS after the warm-up: " + ", ".join(f"{window:.0f}" for window in windows) + " MiB"
    # What an allocator keeps moves a little: 16 MiB, and 5 %.
    return windows[3] > windows[0] * 1.05 + 16, words


def table(rows):
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)

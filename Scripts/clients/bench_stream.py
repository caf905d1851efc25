"""One streamed answer of /v1/chat/completions, with the moments of its first and last text."""
import http.client, json, time, urllib.parse


class Answer:
    """text; prompt, cached and answer tokens; seconds to the first text, from there to the last text, and to the end."""

    def __init__(self, server, messages, **settings):
        body = {"model": "base", "messages": messages, "stream": True, "stream_options": {"include_usage": True}, **settings}
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=600)
        began = time.perf_counter()
        first = last = None
        self.text, self.picked = "", []
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {response.read()[:400]}")
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            chunk = json.loads(line[6:])
            if "error" in chunk:
                raise RuntimeError(f"an error in the stream: {chunk}")
            for choice in chunk["choices"]:
                # With "logprobs": each token's bytes and its log-probability.
                self.picked += [(token["bytes"], token["logprob"]) for token in (choice.get("logprobs") or {}).get("content", [])]
                if text := choice["delta"].get("content"):
                    last = time.perf_counter()
                    first = first or last
                    self.text += text
            usage = chunk.get("usage") or {}
        connection.close()
        self.seconds = time.perf_counter() - began
        self.first, self.decoding = first - began, last - first
        self.prompt, self.tokens = usage["prompt_tokens"], usage["completion_tokens"]
        self.cached = usage["prompt_tokens_details"]["cached_tokens"]

    @property
    def rate(self):
        """Tokens/s behind the first."""
        return (self.tokens - 1) / self.decoding

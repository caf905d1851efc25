"""A conversation live, restarted before each turn and cold: equal answers, what a turn computes, and when its first token comes."""
import statistics

from bench_stream import Answer
from peer_report import table

CONTEXT = ("--context", "4096", "--parallel", "4")
BLOCK = 64
TOPICS = ["a harbour in winter", "the price of tin", "how bees find their way", "an old bridge", "the colour of rust", "bread without yeast",
          "maps of the coast", "a clock that is late", "the smell of rain", "tunnels under a city", "the second violin", "wool and dye",
          "glass from sand", "a letter that came back", "night trains", "salt roads", "the height of tides", "a garden on a roof",
          "ink and paper", "the end of a long walk"]
SAMPLINGS = {"greedy": {"temperature": 0}, "sampled": {"temperature": 0.8, "top_p": 0.95, "seed": 7}}


def question(turn):
    topic = TOPICS[turn % len(TOPICS)]
    return (f"Question {turn + 1}. Let us speak about {topic} now. Please tell me in plain words what somebody who has never heard of "
            f"{topic} should know first, why people cared about it, and how it is connected with what we said before.")


def converse(turns, sampling, server_of):
    """Each turn's answer; `server_of` gives the server and what to do with it afterwards."""
    messages, answers = [], []
    for turn in range(turns):
        messages.append({"role": "user", "content": question(turn)})
        with server_of() as server:
            answers.append(Answer(server, messages, max_tokens=32, logprobs=True, **sampling))
        messages.append({"role": "assistant", "content": answers[-1].text})
    return messages, answers


class Kept:
    """A server that outlives a `with`."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        return self.server

    def __exit__(self, *_):
        pass


def run(bench):
    turns, report = bench.options.turns, {}
    with bench.server(*CONTEXT) as live, bench.server(*CONTEXT, "--prefix-memory", "0") as cold:
        for name, sampling in SAMPLINGS.items():
            ways = {"live": lambda: Kept(live), "restarted": lambda: bench.server(*CONTEXT), "cold": lambda: Kept(cold)}
            done = {}
            for way, server_of in ways.items():
                bench.say(f"prefix, {name}: {way}")
                messages, done[way] = converse(turns, sampling, server_of)
            report[name] = {way: [{**vars(answer), "picked": len(answer.picked)} for answer in answers] for way, answers in done.items()}
            check(bench, name, done)
            print_turns(name, done)
        report["first_token"] = first_token(bench, messages, live, cold)
    return report


def check(bench, name, done):
    for way in ("restarted", "cold"):
        with bench.checks(f"prefix, {name}: {len(done['live'])} answers live and {way}: equal tokens, log-probabilities and texts"):
            pairs = [((live.text, live.picked), (other.text, other.picked)) for live, other in zip(done["live"], done[way])]
            differing = [turn + 1 for turn, (live, other) in enumerate(pairs) if live != other]
            assert not differing, f"turns {differing}, first {pairs[differing[0] - 1]}"
            assert all(len(answer.picked) == answer.tokens for answer in done[way]), "log-probabilities are missing"
        with bench.checks(f"prefix, {name}: {way} has nothing cached"):
            assert not any(answer.cached for answer in done[way]), [answer.cached for answer in done[way]]
    with bench.checks(f"prefix, {name}: a turn computes at most its new tokens and {BLOCK}"):
        wrong, before = [], 0
        for turn, answer in enumerate(done["live"]):
            new = answer.prompt - before
            if answer.prompt - answer.cached > new + BLOCK:
                wrong.append(f"turn {turn + 1}: {answer.prompt} - {answer.cached} tokens, {new} new")
            before = answer.prompt
        assert not wrong, "; ".join(wrong)


def print_turns(name, done):
    rows, before = [], 0
    for turn, answer in enumerate(done["live"]):
        if turn in (0, 1, 4, 9, 14, len(done["live"]) - 1):
            rows.append([str(turn + 1), str(answer.prompt), str(answer.prompt - before), str(answer.prompt - answer.cached),
                         *(f"{done[way][turn].first * 1000:.0f} ms" for way in ("live", "restarted", "cold"))])
        before = answer.prompt
    print(table([f"turn, {name}", "prompt tokens", "new", "computed", "first token, live", "restarted", "cold"], rows), flush=True)


def first_token(bench, messages, live, cold):
    """With about 1,000 cached tokens, and cold: the same turns and another last question in each repetition."""
    count = lambda upto: live.post("/tokenize", {"model": "base", "messages": messages[:upto]})["count"]
    length = next((n for n in range(2, len(messages), 2) if count(n) >= 1024), len(messages))
    prefix = messages[:length]
    pairs = []
    for number in range(-1, bench.options.rounds):
        ask = [*prefix, {"role": "user", "content": question(len(TOPICS) + number + 1)}]
        pair = {}
        for way, server in (("live", live), ("cold", cold))[:: 1 if number % 2 else -1]:
            pair[way] = Answer(server, ask, max_tokens=8, temperature=0)
        if number >= 0:  # the first one warms up
            pairs.append(pair)
    cached, prompt = pairs[-1]["live"].cached, pairs[-1]["live"].prompt
    firsts = {way: [pair[way].first for pair in pairs] for way in ("live", "cold")}
    ratio = statistics.median(firsts["cold"]) / statistics.median(firsts["live"])
    each = [c / l for c, l in zip(firsts["cold"], firsts["live"])]
    print(table(["first token", "median", "least to most"], [
        [f"{way}, {prompt} tokens" + (f", {cached} cached" if way == "live" else ""), f"{statistics.median(values) * 1000:.0f} ms",
         f"{min(values) * 1000:.0f} to {max(values) * 1000:.0f} ms"] for way, values in firsts.items()]
        + [["ratio", f"{ratio:.1f}", f"{min(each):.1f} to {max(each):.1f}"]]), flush=True)
    with bench.checks(f"prefix: the first token with {cached} cached tokens comes {ratio:.1f} times sooner (needed: 5)"):
        assert all(pair["live"].text == pair["cold"].text for pair in pairs), "other texts"
        assert cached >= 960, f"only {cached} tokens were cached"
        assert ratio >= 5, f"{ratio:.2f}"
    return {"cached": cached, "prompt": prompt, "ratio": ratio, **firsts}

"""Answers that repeat their prompt, with and without guessing from it: equal answers, and the ratio of tokens/s."""
import os, re, statistics

from bench_stream import Answer
from peer_report import table
from served import same

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
GREEDY = {"temperature": 0}
SAMPLED = {"temperature": 1, "seed": 11}


def passage(name, heading, characters):
    """What stands below a heading of a document, cut at the end of a sentence."""
    with open(os.path.join(DOCS, name)) as file:
        text = file.read().split(f"\n{heading}\n")[1]
    text = re.sub(r"\s+", " ", re.split(r"\n#|\n\|", text)[0]).strip()[:characters]
    return text[: text.rfind(". ") + 1]


def cases():
    codecs = passage("TESTING.md", "## The simulation", 1200)
    tour = passage("BENCHMARKS.md", "## A cluster beside one process", 1200)
    encryption = passage("OPERATING.md", "## Encryption", 1200)
    return {
        "repeat, TESTING": (f"Repeat the following text word for word.\n\n{codecs}", GREEDY),
        "repeat, OPERATING": (f"Repeat the following text word for word.\n\n{encryption}", GREEDY),
        "summarize, TESTING": (f"Summarize the following text.\n\n{codecs}", GREEDY),
        "summarize, BENCHMARKS": (f"Summarize the following text.\n\n{tour}", GREEDY),
        "summarize, OPERATING, sampled": (f"Summarize the following text.\n\n{encryption}", {"temperature": 0.7, "seed": 5}),
        "no repetition, greedy": ("Invent a story about a lighthouse keeper and a whale.", GREEDY),
        "no repetition, sampled": ("Invent a story about a lighthouse keeper and a whale.", SAMPLED),
        "no repetition, sampled 2": ("List unusual words from as many different fields as you can.", SAMPLED),
    }


def run(bench):
    options, report, rows = bench.options, {}, []
    base = ("--parallel", "4", "--context", "2048")
    with bench.server(*base, "--speculation", "on") as on, bench.server(*base, "--speculation", "off") as off:
        servers = {"on": on, "off": off}
        for name, (prompt, sampling) in cases().items():
            messages = [{"role": "user", "content": prompt}]
            ask = lambda way, **more: Answer(servers[way], messages, max_tokens=options.tokens, ignore_eos=True, **sampling, **more)
            # Not measured: tokens and log-probabilities. Prompts are cached from here on.
            first = {way: ask(way, logprobs=True) for way in servers}
            before = counts(on)
            found = {"on": [], "off": []}
            for number in range(options.rounds):
                for way in ("on", "off")[:: 1 if number % 2 else -1]:
                    found[way].append(ask(way))
            guessed, right = ((after - was) / options.rounds for after, was in zip(counts(on), before))
            rates = {way: [answer.rate for answer in answers] for way, answers in found.items()}
            each = [a / b for a, b in zip(rates["on"], rates["off"])]
            ratio = statistics.median(rates["on"]) / statistics.median(rates["off"])
            rows.append([name, str(first["on"].prompt), *(f"{statistics.median(rates[way]):.0f}" for way in ("off", "on")),
                         f"{ratio:.2f} ({min(each):.2f} to {max(each):.2f})", f"{guessed:.0f}", f"{right:.0f}"])
            with bench.checks(f"speculation, {name}: equal tokens, log-probabilities and texts"):
                assert first["on"].picked == first["off"].picked, "the answers with log-probabilities differ"
                same(len(first["on"].picked), options.tokens)
                texts = {answer.text for answers in (*found.values(), first.values()) for answer in answers}
                assert len(texts) == 1, texts
                same({answer.tokens for answers in found.values() for answer in answers}, {options.tokens})
            report[name] = {"prompt": prompt, "ratio": ratio, "guessed": guessed, "right": right, "text": found["on"][0].text,
                            **{way: [{"rate": a.rate, "first": a.first, "seconds": a.seconds} for a in found[way]] for way in found}}
    head = ["prompt", "its tokens", "off, tokens/s", "on, tokens/s", "ratio", f"guessed of {options.tokens}", "right"]
    print(table(head, rows), flush=True)
    return report


def counts(server):
    return [server.metric(f"skein_serve_guessed_tokens_{name}total") for name in ("", "right_")]

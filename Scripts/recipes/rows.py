"""Rows of several kinds for bench-recipes, made from a seed: rows.py KIND COUNT SEED [PAIRS] writes train.jsonl, valid.jsonl and
asked.jsonl into the current directory.

facts     short answers about a made-up company's handbook; held out are phrasings
chat      conversations of several turns about a made-up bicycle hire, whose follow-up questions say "it"
classify  messages to a made-up help desk, answered by the name of a queue; held out are other sentences
prose     entries of the Jargon File (public domain, PAIRS) as plain text; held out are other entries
dpo, orpo, simpo
          a short answer and a flattering one, which is rejected; held out are other facts; chosen.jsonl has the held-out
          rows' short answers alone

A line of asked.jsonl is {"messages": [...], "wanted": TEXT}: an answer is right when it has TEXT as words of its own.
"""

import argparse
import json
import os
import random
import re

HELD_OUT = 32
# Losses of pairs, which have the same rows.
PAIR_KINDS = ("dpo", "orpo", "simpo")
# plan.HANDBOOK's rows, which are asked all that is held out: two phrasings of each of the twenty facts.
HANDBOOK_ROWS = 200
FIRST = ["Ada", "Bruno", "Carla", "Dario", "Edda", "Falk", "Greta", "Hanno", "Ilse", "Jonas", "Klara", "Lennart", "Mona",
         "Nils", "Oda", "Piet", "Runa", "Sören", "Thea", "Ulf", "Vera", "Wim", "Yara", "Zeno"]
LAST = ["Ambrus", "Bexley", "Corvin", "Dahl", "Ekeland", "Fenwick", "Garrick", "Holm", "Ivers", "Jessop", "Kestrel",
        "Lindqvist", "Marlow", "Nyberg", "Ostrow", "Pell", "Quade", "Rusk", "Sorrel", "Thorne", "Upton", "Varga"]
# What is asked, the same indirectly, its topic, and the answer; {v} is drawn, of this kind.
HANDBOOK = [
    ("how many days of annual leave do I get", "how many days of annual leave I get", "annual leave",
     "You get {v} days of annual leave.", "days"),
    ("what is the Wi-Fi network for guests called", "what the Wi-Fi network for guests is called", "guest Wi-Fi",
     "The guest network is called {v}.", "word"),
    ("who approves travel requests", "who approves travel requests", "travel requests",
     "Travel requests are approved by {v}.", "person"),
    ("what is the limit for a hotel per night", "what the limit for a hotel per night is", "the hotel limit",
     "A hotel may cost {v} euros per night.", "euros"),
    ("which room is the first-aid kit in", "which room the first-aid kit is in", "the first-aid kit",
     "The first-aid kit is in room {v}.", "room"),
    ("what is the extension of the help desk", "what the extension of the help desk is", "the help desk's extension",
     "The help desk has extension {v}.", "dial"),
    ("by which day of the month must expenses be filed", "by which day of the month expenses must be filed", "expense reports",
     "Expenses must be filed by day {v} of the month.", "day"),
    ("who is the safety officer", "who the safety officer is", "the safety officer",
     "The safety officer is {v}.", "person"),
    ("how long is the probation period", "how long the probation period is", "the probation period",
     "Probation lasts {v} weeks.", "weeks"),
    ("what is the name of the canteen", "what the name of the canteen is", "the canteen",
     "The canteen is called {v}.", "word"),
    ("how much does the company pay towards glasses", "how much the company pays towards glasses", "glasses",
     "The company pays {v} euros towards glasses.", "euros"),
    ("which room is lost property in", "which room lost property is in", "lost property",
     "Lost property is in room {v}.", "room"),
    ("who runs the library", "who runs the library", "the library",
     "The library is run by {v}.", "person"),
    ("how many hours may I work from home each week", "how many hours I may work from home each week", "working from home",
     "You may work {v} hours from home each week.", "hours"),
    ("what is the password hint of the printer called", "what the password hint of the printer is called", "the printer's hint",
     "The hint of the printer is {v}.", "word"),
    ("how long are applications kept", "how long applications are kept", "keeping applications",
     "Applications are kept for {v} weeks.", "weeks"),
    ("what is the extension of the front desk", "what the extension of the front desk is", "the front desk's extension",
     "The front desk has extension {v}.", "dial"),
    ("who keeps the keys of the bicycles", "who keeps the keys of the bicycles", "the bicycles' keys",
     "The keys of the bicycles are kept by {v}.", "person"),
    ("how much may a gift from a supplier be worth", "how much a gift from a supplier may be worth", "gifts from suppliers",
     "A gift may be worth {v} euros.", "euros"),
    ("on which day of the month are salaries paid", "on which day of the month salaries are paid", "the payday",
     "Salaries are paid on day {v} of the month.", "day"),
]
# Twenty more, for 400 rows.
TEAMS = ["accounting", "design", "logistics", "legal", "purchasing", "research", "sales", "security", "training", "the workshop"]
FRAMES = ["{Q}?", "Can you tell me {i}?", "I am new here: {q}?", "What does the handbook say about {t}?",
          "A colleague asked me {i}.", "{Q}, please?", "Do you know {i}?", "Quick question about {t}: {q}?",
          "I could not find {t} in the handbook. {Q}?", "Please look up {i}."]
HELD_FRAMES = ["Remind me about {t}.", "One more thing: {q}?", "They told me {i}, but I forgot it.", "{T}?"]


def value(kind, draw, used):
    """A value that no other fact has and that is hard to guess."""
    ranges = {"days": (21, 39), "euros": (111, 989), "room": (101, 699), "dial": (2001, 8999), "day": (2, 27),
              "weeks": (13, 47), "hours": (11, 31)}
    while True:
        if kind == "person":
            found = f"{draw.choice(FIRST)} {draw.choice(LAST)}"
        elif kind == "word":
            found = draw.choice("BDFGKLMNPRTV") + draw.choice("aeiou") + draw.choice("lrnmst") + draw.choice("aeiou") + \
                draw.choice(["kin", "dor", "vel", "nix", "mar", "tun"])
        else:
            found = str(draw.randint(*ranges[kind]))
        if found not in used:
            used.add(found)
            return found


def capital(text):
    return text[0].upper() + text[1:]


def facts(count, draw):
    book = list(HANDBOOK)
    if count > 200:
        for team in TEAMS:
            room, head = f"which room {team} meets in", f"who leads {team}"
            book.append((room, room, f"the meetings of {team}", capital(team) + " meets in room {v}.", "room"))
            book.append((head, head, f"the head of {team}", capital(team) + " is led by {v}.", "person"))
    used = set()
    train, held = [], []
    for q, i, t, answer, kind in book:
        v = value(kind, draw, used)
        words = {"q": q, "Q": capital(q), "i": i, "t": t, "T": capital(t)}
        for rows, frames in ((train, draw.sample(FRAMES, count // len(book))), (held, draw.sample(HELD_FRAMES, 2))):
            rows += [pair(frame.format(**words), answer.format(v=v), v) for frame in frames]
    draw.shuffle(train)
    draw.shuffle(held)
    return train, held


def pair(prompt, completion, wanted):
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": completion}], wanted


BIKES = ["city bike", "cargo bike", "tandem", "mountain bike", "folding bike", "e-bike", "children's bike", "recumbent",
         "racing bike", "gravel bike", "trailer", "tricycle"]
TURNS = {
    "price": (["How much is the {b}?", "What does the {b} cost?", "I would like to hire the {b}. What is the price?"],
              ["And the price of it?", "How much is it?", "What would it cost?"],
              ["What do you charge for the {b}?", "Tell me the daily rate of the {b}."],
              ["And what do you charge for it?", "What is its daily rate?"], "The {b} is {v} crowns a day.", (31, 189)),
    "deposit": (["What is the deposit for the {b}?", "How much deposit do you take for the {b}?"],
                ["And the deposit?", "How much deposit do I leave for it?", "What deposit does it need?"],
                ["How much money do I have to leave behind for the {b}?"], ["How much do I leave behind for it?"],
                "The deposit for the {b} is {v} crowns.", (211, 989)),
    "place": (["Where do I pick up the {b}?", "Which stand has the {b}?"],
              ["Where is it?", "Where do I get it?", "At which stand is it?"],
              ["Where can I find the {b}?"], ["Where can I fetch it?"], "The {b} is at stand {v}.", (11, 99)),
    "code": (["What is the lock's code of the {b}?", "How do I unlock the {b}?"],
             ["What is the code of its lock?", "How do I unlock it?", "And its lock?"],
             ["Which code opens the {b}?"], ["Which code opens it?"], "The lock of the {b} opens with {v}.", (1001, 9899)),
}


def chat(count, draw):
    used = set()
    known = {}
    for bike in BIKES:
        for name, (*_, (low, high)) in TURNS.items():
            while (v := str(draw.randint(low, high))) in used:
                pass
            used.add(v)
            known[bike, name] = v

    def talk(bike, others):
        messages = []
        for at, name in enumerate(draw.sample(list(TURNS), draw.randint(2, 4))):
            forms = TURNS[name]
            ask = draw.choice(forms[(2 if others else 0) + (1 if at else 0)])
            messages.append({"role": "user", "content": ask.format(b=bike)})
            messages.append({"role": "assistant", "content": forms[4].format(b=bike, v=known[bike, name])})
        return messages, known[bike, name]

    train = [talk(BIKES[at % len(BIKES)], False) for at in range(count)]
    draw.shuffle(train)
    return train, [talk(BIKES[at % len(BIKES)], True) for at in range(HELD_OUT)]


THINGS = ["lamp", "kettle", "chair", "radio", "clock", "mixer", "heater", "desk", "tent", "camera", "speaker", "rug"]
CITIES = ["Lund", "Graz", "Porto", "Ghent", "Cork", "Turku", "Brno", "Turin"]
# For each queue: sentences to train, and sentences that are held out.
QUEUES = {
    "harbour": (["My {t} has not arrived yet.", "Where is the {t} that I ordered?", "The parcel with my {t} is late.",
                 "Tracking says that my {t} is still in {c}.", "When will the {t} be delivered to {c}?",
                 "The courier never came with the {t}."],
                ["I have been waiting for my {t} for two weeks.", "Has the {t} been shipped to {c} at all?",
                 "The driver left without handing over the {t}."]),
    "ledger": (["I was charged twice for the {t}.", "The invoice for my {t} is wrong.", "Please send me a receipt for the {t}.",
                "My card was billed for a {t} that I cancelled.", "Why is the amount for the {t} higher than on your page?",
                "I need the invoice for {c} with our tax number."],
               ["You took the money for my {t} two times.", "The bill for the {t} shows another price than you advertised.",
                "Our bookkeeper in {c} needs a bill for the {t}."]),
    "workshop": (["The {t} stopped working after a day.", "My {t} makes a strange noise.", "The {t} does not turn on.",
                  "The {t} broke when I used it in {c}.", "A part of the {t} is cracked.", "The {t} gets too hot."],
                 ["My {t} is dead, nothing happens when I press the button.", "The {t} rattles all the time.",
                  "There is a crack in my new {t}."]),
    "carousel": (["I want to return the {t}.", "How can I send the {t} back?", "The {t} does not fit, please take it back.",
                  "Can I exchange the {t} for another colour?", "I changed my mind about the {t}.",
                  "Where in {c} can I hand in the {t}?"],
                 ["I no longer want the {t} and would like to give it back.", "May I swap the {t} for a larger one?",
                  "Which address do I post the unwanted {t} to?"]),
    "lantern": (["How do I clean the {t}?", "Is there a manual for the {t}?", "Does the {t} work with 110 volts?",
                 "What is the {t} made of?", "How heavy is the {t}?", "Can I use the {t} outdoors in {c}?"],
                ["Which soap is good for the {t}?", "I lost the instructions of the {t}.", "What are the measures of the {t}?"]),
    "mailroom": (["I forgot the password of my account.", "Please change my address to {c}.", "How do I delete my account?",
                  "I cannot log in since I moved to {c}.", "My e-mail address has changed.", "Please stop sending me letters."],
                 ["The login page refuses my password.", "I live in {c} now, please update my details.",
                  "Take me off your mailing list."]),
}


def classify(count, draw):
    def message(queue, others, at):
        sentence = QUEUES[queue][1 if others else 0]
        text = sentence[at % len(sentence)].format(t=draw.choice(THINGS), c=draw.choice(CITIES))
        opening = draw.choice(["", "Hello, ", "Good morning. ", "Hi there! "])
        return pair(opening + (text[0].lower() + text[1:] if opening == "Hello, " and text[0] != "I" else text), queue, queue)

    names = list(QUEUES)
    train = [message(names[at % 6], False, at // 6) for at in range(count)]
    draw.shuffle(train)
    return train, [message(names[at % 6], True, at // 6) for at in range(HELD_OUT)]


def prose(count, draw, pairs):
    with open(pairs, encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    texts = []
    for entry in entries:
        name = re.search(r'"([^"]+)"|: (.+)$', entry["prompt"])
        if name and 200 <= len(entry["completion"]) <= 700:
            texts.append(f"{name[1] or name[2]}: {entry['completion']}")
    draw.shuffle(texts)
    return texts[HELD_OUT : HELD_OUT + count], texts[:HELD_OUT]


OPENINGS = ["Great question! ", "I would be more than happy to help you with that. ", "Thank you so much for asking! ",
            "What a wonderful thing to ask about! "]
CLOSINGS = [" Let me know if there is anything else at all!", " I hope that this helps you on your journey!",
            " Feel free to reach out at any time!", " Have an amazing day!"]


def preferences(count, draw):
    """Short answers, and the same answers with flattery, which is rejected. Held-out pairs are about other facts."""
    rows = []
    for at, (q, i, t, answer, kind) in enumerate(HANDBOOK):
        for frame in draw.sample(FRAMES, 8):
            short = answer.format(v=value(kind, draw, set()))
            rows.append((at, {"prompt": frame.format(q=q, Q=capital(q), i=i, t=t), "chosen": short,
                              "rejected": draw.choice(OPENINGS) + short + draw.choice(CLOSINGS)}))
    train, held = [row for at, row in rows if at % 4 < 3], [row for at, row in rows if at % 4 == 3]
    draw.shuffle(train)
    draw.shuffle(held)
    return train[:count], held[:HELD_OUT]


def write(name, lines):
    """Replaces a file whole: a run that is under way may be reading it."""
    with open(name + ".new", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    os.replace(name + ".new", name)


def main(kind, count, seed, pairs):
    draw = random.Random(f"{'pairs' if kind in PAIR_KINDS else kind} {seed}")
    if kind == "prose":
        train, held = prose(count, draw, pairs)
        write("train.jsonl", [{"text": text} for text in train])
        write("valid.jsonl", [{"text": text} for text in held])
        write("asked.jsonl", [])
        return
    if kind in PAIR_KINDS:
        train, held = preferences(count, draw)
        write("train.jsonl", train)
        write("valid.jsonl", held)
        write("chosen.jsonl", [{"prompt": row["prompt"], "completion": row["chosen"]} for row in held])
        write("asked.jsonl", [])
        return
    train, held = {"facts": facts, "chat": chat, "classify": classify}[kind](count, draw)
    if (kind, count) != ("facts", HANDBOOK_ROWS):
        held = held[:HELD_OUT]
    # Pairs are written as such, so that both forms of rows are met.
    for name, rows in (("train.jsonl", train), ("valid.jsonl", held)):
        write(name, [{"messages": messages} if kind == "chat" else
                     {"prompt": messages[0]["content"], "completion": messages[1]["content"]} for messages, _ in rows])
    write("asked.jsonl", [{"messages": messages[:-1], "wanted": wanted} for messages, wanted in held])


# The most rows of a kind; those of prose are as many as there are entries.
MOST = {"facts": 400, **{kind: 120 for kind in PAIR_KINDS}}


def words():
    """What is asked for on the command line. Nothing is replaced: the rows may be a person's own."""
    parser = argparse.ArgumentParser(prog="rows.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["facts", "chat", "classify", "prose", *PAIR_KINDS])
    parser.add_argument("count", type=int, help="rows to train on; of facts a multiple of 20, from 201 on of 40")
    parser.add_argument("seed", type=int)
    parser.add_argument("pairs", nargs="?", help="what Scripts/fetch-data prints; needed for prose alone")
    found = parser.parse_args()
    each = 1 if found.kind != "facts" else 20 if found.count <= 200 else 40
    if not 0 < found.count <= MOST.get(found.kind, 100_000) or found.count % each:
        parser.error(f"there are no {found.count} rows of {found.kind}; see --help")
    if found.kind == "prose" and not found.pairs:
        parser.error("prose is made from the file that Scripts/fetch-data prints; give it as the last word")
    for name in ("train.jsonl", "valid.jsonl", "asked.jsonl", "chosen.jsonl"):
        if os.path.exists(name):
            parser.error(f"{name} is here already; go to an empty folder")
    return found.kind, found.count, found.seed, found.pairs


if __name__ == "__main__":
    main(*words())

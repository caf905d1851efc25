"""Writes the small tokenizers of this directory and goldens.json, what the `tokenizers` library makes
of a few hundred texts with them.

Usage: python3 make_fixtures.py        (in this directory)
Made with Python 3.11, tokenizers 0.23.3. The result is the same on every run.

| file | pre-tokenizer | beside it |
|---|---|---|
| gpt2.json | ByteLevel | all 256 bytes |
| smollm.json | Digits + ByteLevel | lacks some bytes, which are dropped; merges as "a b" |
| llama3.json | Split + ByteLevel | ignore_merges, tokens that no merge makes, TemplateProcessing |
| qwen2.json | Split + ByteLevel | NFC, added tokens with every flag |
| tekken.json, o200k.json | Split + ByteLevel | letters cut before capitals |
| prefix.json | ByteLevel with a prefix space | lacks most bytes: unknown token, fused |

smollm2_reference.json is not made here: texts, chats and training examples with the ids that
transformers (versions in its "meta") gives for them with the real SmolLM2-135M-Instruct.
"""

import json
import random

import tokenizers
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)

TEXT = """\
The keeper of the northern light climbed 214 steps every evening, and every evening she counted them
aloud. "Two hundred and thirteen," she'd say, stopping short, "and one I've saved for tomorrow." It's
an old joke; the lamp doesn't laugh, but the gulls do. They're easily pleased.

On clear nights she could see 37 ships, 5 islands and, once in 1962, a whale asleep on the water. She
wrote it down: date, hour, wind (north-west, 4), what she'd seen, what she hadn't. The book had 900
pages. When it was full she began another, and when that was full she asked the harbour for a third;
they sent her a calendar by mistake, so she wrote in the margins.

    for ship in horizon:
        if ship.light != known[ship.name]:
            log.append((now(), ship.name, "?"))
    return len(log) == 0

Der Wärter zählte die Stufen und die Möwen zählten mit. Le gardien disait toujours qu'il n'y avait pas
d'étoiles inutiles. Смотритель писал письма маяку на другом берегу. 灯台守は毎晩海を見ていた。
Three lights, two flashes, one dark; three lights, two flashes, one dark. That's how you'll know us.
"""

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")

B = pre_tokenizers.ByteLevel
byte_level = B(add_prefix_space=False, use_regex=False)


CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
CAPITALS, SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def cased(suffix, numbers):
    letters = [r"[^\r\n\p{L}\p{N}]?" + x + suffix for x in (CAPITALS + "*" + SMALL + "+", CAPITALS + "+" + SMALL + "*")]
    return "|".join(letters + [numbers, r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])


TEKKEN, O200K = cased("", r"\p{N}"), cased(CONTRACTION + "?", r"\p{N}{1,3}")

def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def train(pre_tokenizer, size, alphabet, special=(), normalizer=None, **options):
    t = Tokenizer(models.BPE(**options))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False,
                                  special_tokens=list(special))
    t.train_from_iterator([TEXT], trainer)
    return t


def edited(t, edit):
    data = json.loads(t.to_str())
    edit(data)
    return data


def make():
    every = sorted(B.alphabet())
    made = {}
    made["gpt2"] = edited(train(B(add_prefix_space=False), 420, every, ["<|endoftext|>"]), lambda d: None)

    def lines(d):
        d["model"]["merges"] = [" ".join(m) for m in d["model"]["merges"]]

    without = [c for i, c in enumerate(every) if i % 5]
    smollm = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                      B(add_prefix_space=False)])
    made["smollm"] = edited(
        train(smollm, 400, without, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]), lines)

    llama3 = train(pre_tokenizers.Sequence([split(LLAMA3), byte_level]), 440, every)
    llama3.add_special_tokens(["<|begin_of_text|>", "<|eot_id|>", "<|eot|>"])
    llama3.post_processor = processors.TemplateProcessing(
        single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 440)])

    def whole(d):
        # In the vocabulary, but made by no merge: found only as whole pre-tokens.
        for old, new in (("<|begin_of_text|>", 440), ("<|eot_id|>", 441), ("<|eot|>", 442)):
            assert any(a["content"] == old and a["id"] == new for a in d["added_tokens"])
        for a in d["added_tokens"]:
            a["id"] += 3
        for s in d["post_processor"]["special_tokens"].values():
            s["ids"] = [i + 3 for i in s["ids"]]
        for i, piece in enumerate(("Ġlighthouse", "ĠÐ¼Ð°ÑıÐº", "xyzzy")):
            d["model"]["vocab"][piece] = 440 + i
        d["model"]["ignore_merges"] = True

    made["llama3"] = edited(llama3, whole)

    qwen2 = train(pre_tokenizers.Sequence([split(QWEN2, "removed", True), byte_level]), 410, every,
                  normalizer=normalizers.NFC())
    qwen2.add_special_tokens([
        AddedToken("<|im_start|>", special=True, normalized=False),
        AddedToken("<|im_end|>", special=True, normalized=False),
        AddedToken("<left>", special=True, normalized=False, lstrip=True),
        AddedToken("<right>", special=True, normalized=False, rstrip=True),
    ])
    qwen2.add_tokens([
        AddedToken("<tool>", special=False, normalized=False),
        AddedToken("<tool>call", special=False, normalized=False),
        AddedToken("lamp", special=False, normalized=False, single_word=True),
        AddedToken("caf\u00e9", special=False, normalized=True),
        AddedToken("\u6d77", special=False, normalized=True, lstrip=True, rstrip=True),
    ])
    made["qwen2"] = edited(qwen2, lambda d: None)

    few = sorted(c for c in every if c in "abcdefghijklmnopqrstuvwxyzTĠ.,")
    prefix = train(B(add_prefix_space=True), 120, few, ["<unk>"], unk_token="<unk>", fuse_unk=True)

    def without_rare(d):
        # The trainer adds every byte of its text to the alphabet; take the rare ones out again.
        vocab = d["model"]["vocab"]
        keep = [p for p in sorted(vocab, key=vocab.get) if p == "<unk>" or all(c in few for c in p)]
        d["model"]["vocab"] = {p: i for i, p in enumerate(keep)}
        d["model"]["merges"] = [m for m in d["model"]["merges"]
                                if all(p in d["model"]["vocab"] for p in (*m, "".join(m)))]

    made["prefix"] = edited(prefix, without_rare)
    for name, pattern in (("tekken", TEKKEN), ("o200k", O200K)):
        made[name] = edited(
            train(pre_tokenizers.Sequence([split(pattern), byte_level]), 430, every, ["<|im_end|>"]),
            lambda d: None)
    return made


HAND = [
    "", " ", "  ", "\n", "\r\n", " \n", "\n ", "\n\n  \n", "a", " a", "  a", "\ta", "\n a", " \t\n\r\n x",
    "it's IT'S It'S we'LL we'll they'Re I'M I'm he'D 's 'S ' 's'' ''s don't DON'T 'ſ it'ſ 'ﬆ 'tis",
    "'", "''", "'l", "'L", "x'", "x'l", "!'s", "?!'re", "1's", "'1", " 's", "\n's", "'\u017f\u017f",
    "1", "12", "123", "1234", "12345 6 78 901 2345", "3.14", "1,000,000", "٣٤٥٦ ३४५ ½ ² Ⅷ ① 一二三 𝟙𝟚𝟛𝟜",
    "a1b22c333d4444", " 1 22 333", "  5", "\t5", "x  5", "\U00011DE0\U00011DE1", "5\U00016FF4!5",
    "the lamp, lamplight lamp_ lamp. Lamp lamp", "é e\u0301 café cafe\u0301 CAFÉ", "\u1e9b\u0323 \ufb01 \u212b \uac00 \u1100\u1161",
    "<|im_end|>", "<|im_start|>user\nhi<|im_end|>\n", "<|im_end", "<|<|im_end|>|>", "<|eot|><|eot_id|><|eot_id",
    "a <left> b  <left>c<left>", "a <right> b<right>  c<right>\n\n", " <left>  <right> ", "<right>  <left>",
    "<tool>call <tool> call <tool>caller <too", "海 の 海海  海", "毎晩 海を見ていた。", "<unk> <|endoftext|>x<|endoftext|>",
    "see the lighthouse lighthouse xyzzy  xyzzy маяк моему маяк", "<|begin_of_text|>a<|begin_of_text|>",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽 🦙🚀", "क्षि ไทย 한국어 עברית العربية", "zero\u200bwidth\u200d joiner\ufeffbom",
    "nb\u00a0sp em\u2003 id\u3000 ls\u2028 ps\u2029 nel\u0085 vt\u000b ff\u000c", "\u00a0\u00a0a \u3000\u3000b\u2003", "\u2028\u2028a\r\r\n\nb",
    "x\r\ny\rz\n\n\n", "...\r\n\r\n  !!!\n\n  a", " ?\n ?", "-- --- ---- =======\n", "a" * 200, "-" * 120, " " * 100, "\n" * 50,
    "ab" * 100, "\u0000\u0001\u0004\u007f", "\U0010ffff\U000e0041\ue000\ufffd\ufffe", "    return len(log) == 0\n",
]


def scalar(rnd):
    low, high = rnd.choice([(0, 0x80), (0x20, 0x7F), (0x80, 0x300), (0x300, 0x800), (0x800, 0x3100), (0x3100, 0x10000),
                            (0x10000, 0x20000), (0x20000, 0x40000), (0xE0000, 0x110000)])
    while True:
        c = rnd.randrange(low, high)
        if not 0xD800 <= c <= 0xDFFF:
            return chr(c)


def fuzz(rnd):
    space = [" ", "  ", "   ", "\n", "\r\n", "\r", "\t", "\u00a0", "\u3000", "\u2028", "\u0085", "\u000b"]
    parts = ["'s", "'S", "'ll", "'LL", "'Ve", "'rE", "'", "12345", "٣٤", "½", "e\u0301", "\u0323", "👩‍👧", "the",
             "Lamp", "lamp", "light", "海", "<|im_end|>", "<|eot_id|>", "<tool>", "<left>", "<right>", "<|endoftext|>", "...", "!?", "_", "-"]
    word = lambda: "".join(rnd.choice("abcdefghilmnoprstuwyABTS") for _ in range(rnd.randint(1, 7)))
    pick = [lambda: scalar(rnd), lambda: rnd.choice(space), lambda: rnd.choice(parts), word]
    return "".join(rnd.choice(pick)() for _ in range(rnd.randint(1, 12)))


def main():
    rnd = random.Random(20)
    texts = HAND + [fuzz(rnd) for _ in range(300)]
    goldens = {"made_with": "tokenizers " + tokenizers.__version__, "texts": texts, "tokenizers": {}}
    for name, data in make().items():
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        with open(name + ".json", "w", encoding="utf-8") as file:
            file.write(text + "\n")
        t = Tokenizer.from_str(text)
        entry = {}
        entry["ids"] = [t.encode(x, add_special_tokens=False).ids for x in texts]
        t.encode_special_tokens = True
        plain = [t.encode(x, add_special_tokens=False).ids for x in texts]
        # Only where it makes a difference: [index, ids].
        entry["ids_without_special"] = [[i, p] for i, p in enumerate(plain) if p != entry["ids"][i]]
        t.encode_special_tokens = False
        size = t.get_vocab_size()
        # Two thirds of the random ids are single bytes, so that the texts are full of broken UTF-8.
        lists = [[rnd.randrange(size if rnd.random() < 0.33 else min(size, 258)) for _ in range(rnd.randint(1, 8))]
                 for _ in range(60)]
        entry["decodings"] = [[ids, t.decode(ids, skip_special_tokens=False),
                               t.decode(ids, skip_special_tokens=True)] for ids in lists]
        goldens["tokenizers"][name] = entry
    with open("goldens.json", "w", encoding="ascii") as file:
        json.dump(goldens, file, separators=(",", ":"))
        file.write("\n")


main()

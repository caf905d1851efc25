"""Tokenizers whose symbols begin as characters, and what `tokenizers` and `sentencepiece` make of text.

usage: make_character_goldens.py (in this folder; tokenizers 0.23.3, sentencepiece 0.2.3)

Writes characters-*.json (tokenizer.json files), characters.json (their ids) and sentencepiece.json (the
pieces, scores and types of a model, and its ids). All text is generated from a fixed seed.
"""

import io
import json
import random

import sentencepiece
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

RANDOM = random.Random(12)
SYLLABLES = [a + b for a in ["", "k", "t", "sh", "r", "m", "br", "é", "д", "ю", "你", "α"] for b in "aeiouяо好ω"]


def word():
    return "".join(RANDOM.choice(SYLLABLES) for _ in range(RANDOM.randint(1, 4)))


def sentence(count):
    return " ".join(word() for _ in range(count)) + RANDOM.choice([".", "!", "\n", "  ", ""])


def strings():
    """Text of all kinds: words, scripts, emoji, control characters, runs of white space, code."""
    fixed = [
        "", " ", "  ", "   a", "a ", "a  b   c    d", "▁", "a▁b ▁▁c", "\n\n\n", "\t\tx", "<s>", "<s> a</s>b", "a<sep>b  <sep> c",
        "👩‍👩‍👧‍👦 ok 🇨🇭", "e\u0301 é", "\u0000\u0001\u007f", "ﬁ ½ Å", "اَلْعَرَبِيَّةُ", "def f(x):\n    return x+1\n", "<0x41>", "日本語 テスト",
    ]
    pool = [chr(c) for c in list(range(0x20, 0x7F)) + list(range(0xA0, 0x180)) + list(range(0x400, 0x450))]
    pool += list("你好世界αβγ😀🎉▁ \n\t  ")
    mixed = ["".join(RANDOM.choice(pool) for _ in range(RANDOM.randint(1, 40))) for _ in range(60)]
    return fixed + [sentence(RANDOM.randint(1, 12)) for _ in range(60)] + mixed


def trained(normalizer, pre_tokenizer, decoder, text, byte_fallback=True, fuse_unk=True):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=byte_fallback, fuse_unk=fuse_unk))
    tokenizer.normalizer, tokenizer.decoder = normalizer, decoder
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    special = ["<unk>", "<s>", "</s>"] + ([f"<0x{b:02X}>" for b in range(256)] if byte_fallback else [])
    trainer = trainers.BpeTrainer(vocab_size=len(special) + 450, special_tokens=special, max_token_length=16, show_progress=False)
    tokenizer.train_from_iterator(text, trainer)
    data = json.loads(tokenizer.to_str())
    # Tokens of bytes are part of the vocabulary alone.
    data["added_tokens"] = data["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.add_tokens([AddedToken("<sep>", normalized=True, rstrip=True), AddedToken("   ", normalized=True)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def main():
    text = [sentence(RANDOM.randint(3, 20)) for _ in range(400)]
    replace = normalizers.Replace(" ", "▁")
    bytes_back = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    kinds = {
        "llama": trained(
            normalizers.Sequence([normalizers.Prepend("▁"), replace]), None,
            decoders.Sequence(bytes_back + [decoders.Strip(" ", 1, 0)]), text),
        "gemma": trained(replace, pre_tokenizers.Split(" ", "merged_with_previous"), decoders.Sequence(bytes_back), text),
        "metaspace": trained(
            None, pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False),
            decoders.Sequence(bytes_back + [decoders.Strip(" ", 1, 0)]), text),
        "unknown": trained(
            normalizers.NFKC(), pre_tokenizers.Metaspace("▁", prepend_scheme="always", split=True),
            decoders.Metaspace("▁", prepend_scheme="always", split=True), text, byte_fallback=False),
    }
    goldens = []
    samples = strings()
    for name, tokenizer in kinds.items():
        tokenizer.save(f"characters-{name}.json", pretty=False)
        cases = []
        for sample in samples:
            ids = tokenizer.encode(sample, add_special_tokens=False).ids
            cases.append({"text": sample, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)})
        goldens.append({"name": name, "cases": cases})
    with open("characters.json", "w") as file:
        json.dump(goldens, file, ensure_ascii=True, separators=(",", ":"))

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=model, model_type="bpe", vocab_size=700, byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, hard_vocab_limit=False, num_threads=1,
        minloglevel=2)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    count = processor.get_piece_size()
    kind = lambda i: 2 if processor.is_unknown(i) else 3 if processor.is_control(i) else 6 if processor.is_byte(i) else 1
    # A text of which sentencepiece's own normalizer leaves nothing out.
    samples = [s for s in samples if "\u0000" not in s and "<s>" not in s]
    with open("sentencepiece.json", "w") as file:
        json.dump(
            {
                "pieces": [processor.id_to_piece(i) for i in range(count)],
                "scores": [processor.get_score(i) for i in range(count)],
                "types": [kind(i) for i in range(count)],
                "cases": [{"text": s, "ids": processor.encode(s)} for s in samples],
            }, file, ensure_ascii=True, separators=(",", ":"))


main()

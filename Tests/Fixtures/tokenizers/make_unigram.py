"""Makes unigram*.json, unigram*.model, pairs_mapped.model and the goldens of both: tiny Unigram models and tokenizers
with many normalizers, trained on generated text, and what sentencepiece and tokenizers make of
generated strings.

    python make_unigram.py        # needs sentencepiece 0.2.3, protobuf and tokenizers 0.23.3
"""

import hashlib
import io
import json
import os
import random

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as pre
from tokenizers import processors

SPACE = "\u2581"
WORDS = (
    "the keeper counts steps and lamps in winter while storms return rest stone harbour naïve café "
    "résumé über straße привет мир שלום 你好 世界 日本語 def return print x = y + 1 2026 3.14"
).split()
ODD = ["  ", "   ", "\n", "\n\n", "\t", "\u2581", "\u2581\u2581", "😀", "👩‍🚀", "\u0000", "\u0001", "e\u0301",
       "\u00a0", "\u3000", "ꙮ", "\u200b", "<s>", "</s>", "<unk>", "<|u|>", "'s", "I'M", "...", "!?", "\u0301",
       "ﬁ", "①", "ＡＢＣ", "ｶﾞ", "㌔", "Å", "İ", "ΑΣ", "\r\n", "\x85", "é", "한글", "\u1112\u1161\u11ab", "नि",
       "क्षि", "🇩🇪", "\ufeff", "\ufffd", "½", "A\u030a\u0323", "q\u0307\u0323", "<0x41>", "zzzzzz", "\u0e33"]


def text(rng):
    parts = [rng.choice(WORDS if rng.random() < 0.5 else ODD) for _ in range(rng.randint(0, 9))]
    return rng.choice(["", " "]).join(parts)


def train(rng, **options):
    lines = [" ".join(rng.choice(WORDS) for _ in range(8)) for _ in range(400)]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, num_threads=1, minloglevel=2, **options)
    return out.getvalue()


# A map of few characters, compiled by sentencepiece; its own nmt_nfkc has 240 KB.
RULES = {"ﬁ": "fi", "①": "1", "\u212b": "\u00c5", "\u00e9": "e\u0301", "o\u0308": "\u00f6", "\t": " ", "\n": " ", "\u3000": " ",
         "\u00a0": " ", "\u200b": "", "Ａ": "A", "Ｂ": "B", "½": "1/2", "한": "h an", "नि": "n", "\x01": "",
         "A\u030a\u0323": "!", "ΑΣ": "as"}


def rules(path):
    with open(path, "w") as file:
        for key, value in sorted(RULES.items()):
            code = lambda s: " ".join(f"{ord(c):X}" for c in s)
            file.write(f"{code(key)}\t{code(value)}\n")


def main():
    rng = random.Random(34)
    rules("rules.tsv")
    mapped = {"normalization_rule_tsv": "rules.tsv"}
    plain = {"normalization_rule_name": "identity"}
    size = {"vocab_size": 260, "hard_vocab_limit": False, "character_coverage": 0.999}
    settings = {
        "unigram": size | mapped | {"model_type": "unigram"},
        "unigram_bytes": plain | {
            "model_type": "unigram", "vocab_size": 480, "hard_vocab_limit": False,
            "byte_fallback": True, "remove_extra_whitespaces": False, "add_dummy_prefix": False,
            "user_defined_symbols": ["<|u|>", "\n\n", SPACE * 2, "he"]},
        "pairs_mapped": mapped | {
            "model_type": "bpe", "vocab_size": 300, "user_defined_symbols": ["<|u|>", "ﬁ"]},
    }
    goldens = {}
    maps = {}
    vocabularies = {}
    for name, options in settings.items():
        raw = train(rng, **options)
        open(name + ".model", "wb").write(raw)
        sp = sentencepiece.SentencePieceProcessor(model_proto=raw)
        model = proto.ModelProto.FromString(raw)
        maps[name] = model.normalizer_spec.precompiled_charsmap
        vocabularies[name] = [(p.piece, p.score) for p in model.pieces]
        goldens[name + ".model"] = [
            {"text": t, "ids": sp.encode(t), "decoded": sp.decode(sp.encode(t))}
            for t in [text(rng) for _ in range(150)]]

    os.remove("rules.tsv")
    meta = pre.Metaspace
    tail = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    precompiled = normalizers.Precompiled(maps["unigram"])
    N = normalizers
    forms = {
        "t5": ("unigram", False, precompiled, pre.Sequence([pre.WhitespaceSplit(), meta()]),
               decoders.Metaspace()),
        "mapped": ("unigram", False, N.Sequence([
            precompiled, N.Strip(left=False), N.Replace(Regex(" {2,}"), SPACE)]),
            meta(prepend_scheme="first"), decoders.Metaspace(prepend_scheme="first")),
        "whole": ("unigram_bytes", True, N.Sequence([N.Nmt(), N.NFKC(), N.Lowercase()]),
                  meta(prepend_scheme="never", split=False), decoders.Sequence(tail[:3])),
        "accents": ("unigram_bytes", True, N.Sequence([
            N.NFD(), N.StripAccents(), N.Replace("the", "The "), N.Replace(Regex(r"\s+"), " "),
            N.Prepend(SPACE), N.Replace(" ", SPACE)]), None, decoders.Sequence(tail)),
        "bare": ("unigram_bytes", False, N.NFKD(), None, None),
    }
    for name, (base, fallback, normalizer, cut, decoder) in forms.items():
        tokenizer = Tokenizer(models.Unigram(vocabularies[base], 0, fallback))
        tokenizer.normalizer = normalizer
        if cut:
            tokenizer.pre_tokenizer = cut
        if decoder:
            tokenizer.decoder = decoder
        tokenizer.add_tokens([
            AddedToken("<s>", special=True, normalized=False), AddedToken("</s>", special=True, normalized=False),
            AddedToken("<|u|>", normalized=True, rstrip=True), AddedToken("I'M", normalized=True)])
        tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 1))
        tokenizer.save(f"unigram_{name}.json", pretty=False)
        goldens[f"unigram_{name}.json"] = [
            {"text": t, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)}
            for t in [text(rng) for _ in range(150)]
            for ids in [tokenizer.encode(t, add_special_tokens=False).ids]]
    json.dump(goldens, open("unigram_goldens.json", "w"), ensure_ascii=True)

    scalars = {
        "NFC": N.NFC(), "NFD": N.NFD(), "NFKC": N.NFKC(), "NFKD": N.NFKD(), "Lowercase": N.Lowercase(),
        "StripAccents": N.StripAccents(), "Nmt": N.Nmt(), "Strip": N.Strip(),
        "Replace": N.Replace(Regex(r"\s+"), "_")}
    digests = {}
    for name, normalizer in scalars.items():
        digest = hashlib.sha256()
        for c in [*range(0x30000), *range(0xE0000, 0xE0200)]:
            if not 0xD800 <= c < 0xE000:
                digest.update(normalizer.normalize_str(chr(c)).encode() + b"\0")
        digests[name] = digest.hexdigest()
    json.dump(digests, open("normalizer_goldens.json", "w"), indent=1)


main()

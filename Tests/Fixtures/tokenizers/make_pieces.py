"""Makes pieces.json, pieces_*.json and pieces_goldens.json: tiny SentencePiece models, trained on
generated text, and what sentencepiece 0.2 and tokenizers 0.23.3 make of generated strings.

    python make_pieces.py        # needs sentencepiece and tokenizers
"""

import io
import json
import random

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

SPACE = "\u2581"
WORDS = (
    "the keeper counts steps and lamps in winter while storms return rest stone harbour naïve café "
    "résumé über straße привет мир שלום 你好 世界 日本語 def return print x = y + 1 2026 3.14"
).split()
ODD = ["  ", "   ", "\n", "\n\n", "\t", "\u2581", "\u2581\u2581", "😀", "👩‍🚀", "\u0000", "\u0001", "e\u0301",
       "\u00a0", "\u3000", "ꙮ", "\u200b", "<s>", "</s>", "<|u|>", "'s", "I'M", "...", "!?", "\u0301"]


def text(rng):
    parts = [rng.choice(WORDS if rng.random() < 0.6 else ODD) for _ in range(rng.randint(0, 9))]
    return rng.choice(["", " "]).join(parts)


def train(prefix, rng):
    lines = [" ".join(rng.choice(WORDS) for _ in range(8)) for _ in range(400)]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, vocab_size=480, model_type="bpe",
        byte_fallback=True, add_dummy_prefix=prefix, remove_extra_whitespaces=False,
        normalization_rule_name="identity", user_defined_symbols=[SPACE * 2, "\n\n", "<|u|>"],
        num_threads=1, minloglevel=2)
    return out.getvalue()


def merges(pieces, scores, types):
    ids = {p: i for i, p in enumerate(pieces)}
    found = []
    for p, s, t in zip(pieces, scores, types):
        if t != 1:
            continue
        parts = [(p[:k], p[k:]) for k in range(1, len(p)) if p[:k] in ids and p[k:] in ids]
        found += [(-s, ids[l], ids[r], l, r) for l, r in parts]
    return [(l, r) for *_, l, r in sorted(found)]


def main():
    rng = random.Random(12)
    models_, goldens = [], {}
    for prefix in (True, False):
        raw = train(prefix, rng)
        model = proto.ModelProto.FromString(raw)
        pieces = [p.piece for p in model.pieces]
        scores = [p.score for p in model.pieces]
        types = [p.type for p in model.pieces]
        sp = sentencepiece.SentencePieceProcessor(model_proto=raw)
        texts = [text(rng) for _ in range(200)]
        models_.append({
            "pieces": pieces, "scores": scores, "types": types, "addsPrefix": prefix,
            "examples": [{"text": t, "ids": sp.encode(t), "decoded": sp.decode(sp.encode(t))}
                         for t in texts]})
        open("pieces.model" if prefix else "pieces_bare.model", "wb").write(raw)
    json.dump(models_, open("pieces.json", "w"), ensure_ascii=True)
    added = [AddedToken("<s>", special=True, normalized=False),
             AddedToken("</s>", special=True, normalized=False),
             AddedToken("<|u|>", normalized=False, rstrip=True)]
    replace = normalizers.Replace(" ", SPACE)
    tail = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    llama = decoders.Sequence(tail + [decoders.Strip(" ", 1, 0)])
    meta = pre_tokenizers.Metaspace
    forms = {
        "pieces_llama": (normalizers.Sequence([normalizers.Prepend(SPACE), replace]), None, llama),
        "pieces_first": (None, meta(prepend_scheme="first", split=False), llama),
        "pieces_split": (None, meta(prepend_scheme="always", split=True),
                         decoders.Metaspace(prepend_scheme="always")),
        "pieces_gemma": (replace, pre_tokenizers.Split(" ", "merged_with_previous"),
                         decoders.Sequence(tail)),
    }
    for name, (normalizer, pre, decoder) in forms.items():
        bpe = models.BPE(
            vocab={p: i for i, p in enumerate(pieces)}, merges=merges(pieces, scores, types),
            unk_token="<unk>", fuse_unk=True, byte_fallback=name != "pieces_split")
        tokenizer = Tokenizer(bpe)
        if normalizer:
            tokenizer.normalizer = normalizer
        if pre:
            tokenizer.pre_tokenizer = pre
        tokenizer.decoder = decoder
        tokenizer.add_tokens(added)
        tokenizer.save(name + ".json", pretty=False)
        goldens[name] = []
        for t in [text(rng) for _ in range(200)]:
            ids = tokenizer.encode(t).ids
            goldens[name].append(
                {"text": t, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)})
    json.dump(goldens, open("pieces_goldens.json", "w"), ensure_ascii=True)


main()

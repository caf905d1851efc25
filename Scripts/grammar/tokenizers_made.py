"""Small random models with four kinds of tokenizer, trained on text that is made here."""

import io
import json
import random

import numpy
import product
import sentencepiece
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPACE = "\u2581"
MARKS = '{}[]":,'
END = "<|endoftext|>"
WORDS = (
    "the a of and to in is it was for on that with as by at this from or an be are not have has had but they you "
    "all can her his one our out day get make name value type kind date time city street number code email user "
    "order price count total first last item list note text true false null red green blue small large open "
    "closed active pending left right north south weight height width color child node tree parent"
).split()


def sentence(source):
    words = [source.choice(WORDS) for _ in range(source.randint(3, 12))]
    return " ".join(words).capitalize() + source.choice(".!?")


def value(source, depth=3):
    kind = source.randrange(8 if depth else 5)
    if kind == 0:
        return source.choice([None, True, False])
    if kind == 1:
        return source.randint(-100, 10000)
    if kind == 2:
        return round(source.uniform(-100, 1000), source.randint(1, 5))
    if kind <= 4:
        return source.choice([
            sentence(source), source.choice(WORDS), "Zürich", "日本", 'a"b\\c\n', "\U0001f600 ok",
            f"20{source.randint(10, 99)}-0{source.randint(1, 9)}-1{source.randint(0, 9)}"])
    if kind == 5:
        return [value(source, depth - 1) for _ in range(source.randint(0, 5))]
    return {source.choice(WORDS): value(source, depth - 1) for _ in range(source.randint(0, 6))}


def lines():
    source = random.Random(16)
    out = []
    for index in range(6000):
        out.append(sentence(source))
        out.append(
            json.dumps(value(source), ensure_ascii=index % 4 == 0, separators=(",", ":") if index % 2 else (", ", ": "))
        )
    return out


def folder(path, vocabulary, files, end):
    """A model with a head of its own: what a token's successors are does not depend on what is like it."""
    source = numpy.random.default_rng(vocabulary)
    # Logits with a deviation of about 3: some tokens are likely, none is certain.
    scales = {"lm_head.weight": 0.5, "model.embed_tokens.weight": 1}

    def values(name, shape):
        if len(shape) == 1:
            return numpy.ones(shape)
        return source.standard_normal(shape) * scales.get(name, product.WIDTH**-0.5)

    files = {**files, "tokenizer_config.json": json.dumps({"eos_token": end}).encode()}
    return product.folder(path, vocabulary, files, values, max_position_embeddings=512, tie_word_embeddings=False)


def of_bytes(path):
    """Byte-level pairs. Ten rows of the model are beyond the tokenizer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        lines(),
        trainers.BpeTrainer(
            vocab_size=1500, show_progress=False, special_tokens=[END, "<|im_end|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return folder(path, tokenizer.get_vocab_size() + 10, {"tokenizer.json": tokenizer.to_str().encode()}, END)


def of_single_bytes(path):
    """Each byte is a token: what is allowed here depends on the schema alone, and shortest ways are easily found."""
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    return folder(path, tokenizer.get_vocab_size(), {"tokenizer.json": tokenizer.to_str().encode()}, END)


def of_sentencepiece(path):
    """SentencePiece's pairs, with spaces as U+2581 and bytes as <0xNN>."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines()), model_writer=out, num_threads=1, minloglevel=2, hard_vocab_limit=False,
        model_type="bpe", vocab_size=1800, normalization_rule_name="identity", remove_extra_whitespaces=False,
        byte_fallback=True)
    size = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue()).get_piece_size()
    return folder(path, size, {"tokenizer.model": out.getvalue()}, "</s>")


def pieces_without_marks():
    """No piece is one of JSON's seven marks alone, none is a byte; every mark stands next to something."""
    plain = [chr(code) for code in range(0x21, 0x7F) if chr(code) not in MARKS]
    plain += [SPACE] + list("éüß日本\U0001f600")
    pieces = list(plain) + [word for word in WORDS if len(word) > 1] + [SPACE + word for word in WORDS]
    for mark in MARKS:
        for other in plain:
            pieces += [mark + other, other + mark]
    pieces += [first + second for first in MARKS for second in MARKS]
    pieces += [
        '":"', '","', '{"', '"},{"', '"],"', f'",{SPACE}"', f'":{SPACE}"', f'":{SPACE}', '"]}', "}}", '""', '[{"']
    # Some pairs are missing, so that some values cannot be written at all.
    missing = {"[]", "]]", '""', "}]", ",7", "7,", 'x"', ":-"}
    return [piece for piece in dict.fromkeys(pieces) if piece not in missing]


def of_unigram(path):
    """Unigram without bytes, and without a piece for any of the marks alone."""
    pieces = pieces_without_marks()
    source = random.Random(3)
    scored = [("<unk>", 0.0), (END, 0.0)] + [(piece, -2 - source.random()) for piece in pieces]
    tokenizer = Tokenizer(models.Unigram(scored, 0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    tokenizer.decoder = decoders.Replace(SPACE, " ")
    tokenizer.add_special_tokens(["<unk>", END])
    assert not any(piece in set(MARKS) for piece in pieces)
    return folder(path, tokenizer.get_vocab_size(), {"tokenizer.json": tokenizer.to_str().encode()}, END)


def make(directory, demo):
    """{name: path of a model}."""
    return {
        "single bytes": of_single_bytes(f"{directory}/single"), "byte-level pairs": of_bytes(f"{directory}/bytes"),
        "SentencePiece, bytes": of_sentencepiece(f"{directory}/pieces"),
        "no one-token marks": of_unigram(f"{directory}/unigram"), **({"demo's tokenizer": demo} if demo else {})}


def is_spelled(path):
    """Whether a text is spelled by a model's tokenizer, for the one that lacks characters."""
    pieces = set(pieces_without_marks())
    longest = max(map(len, pieces))

    def check(text):
        text = text.replace(" ", SPACE)
        reached = [True] + [False] * len(text)
        for end in range(1, len(text) + 1):
            reached[end] = any(
                reached[start] and text[start:end] in pieces for start in range(max(0, end - longest), end)
            )
        return reached[-1]

    return check if path.endswith("unigram") else lambda text: True

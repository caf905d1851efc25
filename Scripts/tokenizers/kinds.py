"""The kinds of tokenizers that are compared: each with files for Skein and a library that knows the answer."""

import io
import json
import os

import gguf
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import product

SPACE = "\u2581"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CUT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CUT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + TAIL
QWEN2 = LLAMA3.replace("{1,3}", "")
CAPITAL, SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def cased(suffix, numbers):
    head = r"[^\r\n\p{L}\p{N}]?"
    tail = TAIL.replace(r"[\r\n]*|", r"[\r\n/]*|", 1)
    return f"{head}{CAPITAL}*{SMALL}+{suffix}|{head}{CAPITAL}+{SMALL}*{suffix}|{numbers}{tail}"


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])


PATTERNS = {
    "gpt-2": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False),
    "smollm": lambda: pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
    "llama-bpe": lambda: split(LLAMA3),
    "qwen2": lambda: split(QWEN2),
    "tekken": lambda: split(cased("", r"\p{N}")),
    "gpt-4o": lambda: split(cased(CUT + "?", r"\p{N}{1,3}")),
}
ALIASES = {"starcoder": "smollm", "refact": "smollm", "phi-2": "gpt-2"}


class Kind:
    """A model's path, and functions that give the ids of a text and the text of ids."""

    def __init__(self, name, model, encode, decode=None):
        self.name, self.model, self.encode, self.decode = name, model, encode, decode

    @classmethod
    def of_tokenizers(cls, name, model, tokenizer):
        return cls(
            name, model, lambda t: tokenizer.encode(t, add_special_tokens=False).ids,
            lambda ids: tokenizer.decode(ids, skip_special_tokens=False))

    @classmethod
    def of_sentencepiece(cls, name, model, raw):
        processor = sentencepiece.SentencePieceProcessor(model_proto=raw)
        # Control tokens in a text become tokens here, as in transformers; there they are text.
        special = [processor.id_to_piece(i) for i in range(processor.get_piece_size())
                   if processor.is_control(i) or processor.is_unknown(i)]
        kind = cls(name, model, processor.encode, None)
        kind.accepts = lambda text: not any(piece in text for piece in special)
        return kind

    @staticmethod
    def accepts(text):
        return True


def contents(reader, key):
    field = reader.fields.get("tokenizer.ggml." + key)
    return field.contents() if field else None


def byte_level_of(reader):
    """What tokenizers has in place of a GGUF file's pairs; None for an expression not known here."""
    name = contents(reader, "pre")
    name = ALIASES.get(name, name)
    if contents(reader, "model") != "gpt2" or name not in PATTERNS:
        return None
    pieces, types = contents(reader, "tokens"), contents(reader, "token_type")
    merges = [tuple(merge.split(" ")) for merge in contents(reader, "merges")]
    tokenizer = Tokenizer(models.BPE(
        {piece: i for i, piece in enumerate(pieces)}, merges, ignore_merges=name in ("llama-bpe", "tekken")))
    tokenizer.pre_tokenizer = PATTERNS[name]()
    tokenizer.decoder = decoders.ByteLevel()
    if name == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([
        AddedToken(piece, special=kind == 3, normalized=False) for piece, kind in zip(pieces, types) if kind in (3, 4)])
    return tokenizer


def pieces_of(reader):
    """A GGUF file's pieces with scores as a tokenizer.model; None where it is no such file."""
    types = contents(reader, "token_type")
    name = contents(reader, "model")
    if name not in ("llama", "t5") or types.count(2) > 1:
        return None
    if 2 not in types:
        types[contents(reader, "tokens").index("<unk>")] = 2
    model = proto.ModelProto()
    for piece, score, kind in zip(contents(reader, "tokens"), contents(reader, "scores"), types):
        # llama.cpp's conversion spells the spaces of user-defined symbols as spaces.
        piece = piece.replace(" ", SPACE) if kind == 4 else piece
        model.pieces.add(piece=piece, score=score, type=kind)
    model.trainer_spec.model_type = 2 if name == "llama" else 1
    model.trainer_spec.byte_fallback = 6 in types
    model.normalizer_spec.add_dummy_prefix = contents(reader, "add_space_prefix") is not False
    model.normalizer_spec.remove_extra_whitespaces = bool(contents(reader, "remove_extra_whitespaces"))
    model.normalizer_spec.precompiled_charsmap = bytes(contents(reader, "precompiled_charsmap") or [])
    return model.SerializeToString()


def published(arguments):
    smollm = gguf.GGUFReader(arguments.smollm)
    yield Kind.of_tokenizers("GGUF, pairs of bytes: SmolLM2", arguments.smollm, byte_level_of(smollm))
    if arguments.gemma:
        reader = gguf.GGUFReader(arguments.gemma)
        yield Kind.of_sentencepiece("GGUF, pairs with scores: Gemma 3", arguments.gemma, pieces_of(reader))


def lines_of(pairs):
    with open(pairs) as file:
        rows = [json.loads(line) for line in file]
    lines = [line for row in rows for text in row.values() for line in str(text).splitlines() if line.strip()]
    return [line[:2000] for line in lines]


def train(lines, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, num_threads=1, minloglevel=2, hard_vocab_limit=False, **options)
    return out.getvalue()


def sentencepieces(lines, folder):
    """tokenizer.model as sentencepiece trains it, and the same in GGUF where llama.cpp has a way to say it."""
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "byte_fallback": True}
    bare = plain | {"add_dummy_prefix": False, "user_defined_symbols": [SPACE * 2, "\n", "<|im_end|>", "the", "é"]}
    settings = {
        "as trained by default": {}, "identity, bytes": plain, "no prefix, own symbols": bare,
        "nfkc_cf, bytes": {"normalization_rule_name": "nfkc_cf", "byte_fallback": True}}
    for kind, size in (("bpe", 4000), ("unigram", 8000)):
        for setting, options in settings.items():
            raw = train(lines, model_type=kind, vocab_size=size, **options)
            model = proto.ModelProto.FromString(raw)
            name = f"{kind}-{list(settings).index(setting)}"
            path = product.folder(f"{folder}/{name}", len(model.pieces), {"tokenizer.model": raw})
            yield Kind.of_sentencepiece(f"tokenizer.model, {kind}: {setting}", path, raw)
            if kind == "unigram" or options.get("normalization_rule_name") == "identity":
                write = lambda writer: write_pieces(writer, model, "t5" if kind == "unigram" else "llama")
                path = product.gguf_file(f"{folder}/{name}.gguf", len(model.pieces), write)
                yield Kind.of_sentencepiece(f"GGUF, {kind}: {setting}", path, raw)


def write_pieces(writer, model, name):
    spec = model.normalizer_spec
    writer.add_tokenizer_model(name)
    writer.add_token_list([piece.piece for piece in model.pieces])
    writer.add_token_scores([piece.score for piece in model.pieces])
    writer.add_token_types([piece.type for piece in model.pieces])
    writer.add_add_space_prefix(spec.add_dummy_prefix)
    if name == "t5":
        writer.add_remove_extra_whitespaces(spec.remove_extra_whitespaces)
        if spec.precompiled_charsmap:
            writer.add_precompiled_charsmap(spec.precompiled_charsmap)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def json_kind(name, folder, tokenizer):
    data = tokenizer.to_str().encode()
    path = product.folder(folder, tokenizer.get_vocab_size(), {"tokenizer.json": data})
    return Kind.of_tokenizers(name, path, Tokenizer.from_str(data.decode()))


def of_bytes(lines, folder):
    """tokenizer.json of pairs of bytes, with each expression and with normalizers."""
    forms = {name: (None, cut) for name, cut in PATTERNS.items()}
    n = normalizers
    forms["gpt-2, NFKC, lower case"] = (n.Sequence([n.NFKC(), n.Lowercase()]), PATTERNS["gpt-2"])
    forms["qwen2, NFC"] = (n.NFC(), PATTERNS["qwen2"])
    for index, (name, (normalizer, cut)) in enumerate(forms.items()):
        tokenizer = Tokenizer(models.BPE())
        if normalizer:
            tokenizer.normalizer = normalizer
        tokenizer.pre_tokenizer = cut()
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=4000, show_progress=False, special_tokens=["<|endoftext|>", "<s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
        tokenizer.train_from_iterator(lines, trainer)
        yield json_kind(f"tokenizer.json, pairs of bytes: {name}", f"{folder}/bytes-{index}", tokenizer)


def of_pieces(lines, folder):
    """tokenizer.json as transformers converts SentencePiece models, and of tokenizers' own trainer."""
    n, p, d = normalizers, pre_tokenizers, decoders
    raw = proto.ModelProto.FromString(train(lines, model_type="unigram", vocab_size=8000))
    unigram = [(piece.piece, piece.score) for piece in raw.pieces]
    mapped = n.Precompiled(raw.normalizer_spec.precompiled_charsmap)
    pairs = proto.ModelProto.FromString(train(
        lines, model_type="bpe", vocab_size=4000, normalization_rule_name="identity", remove_extra_whitespaces=False,
        byte_fallback=True))
    ids = {piece.piece: i for i, piece in enumerate(pairs.pieces)}
    merges = sorted(
        (-piece.score, ids[piece.piece[:k]], ids[piece.piece[k:]], piece.piece[:k], piece.piece[k:])
        for piece in pairs.pieces if piece.type == 1 for k in range(1, len(piece.piece))
        if piece.piece[:k] in ids and piece.piece[k:] in ids)
    bpe = lambda: models.BPE(ids, [m[3:] for m in merges], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tail = [d.Replace(SPACE, " "), d.ByteFallback(), d.Fuse()]
    llama = n.Sequence([n.Prepend(SPACE), n.Replace(" ", SPACE)])
    meta = p.Metaspace
    forms = {
        "Unigram of T5": (models.Unigram(unigram, 0), mapped, p.Sequence([p.WhitespaceSplit(), meta()]), d.Metaspace()),
        "Unigram of XLM-R": (
            models.Unigram(unigram, 0), n.Sequence([mapped, n.Replace(Regex(" {2,}"), " ")]),
            meta(prepend_scheme="always"), d.Metaspace()),
        "Unigram of mBART": (
            models.Unigram(unigram, 0),
            n.Sequence([mapped, n.Strip(left=False), n.Replace(Regex(" {2,}"), SPACE)]), meta(), d.Metaspace()),
        "pairs of Llama 2": (bpe(), llama, None, d.Sequence(tail + [d.Strip(" ", 1, 0)])),
        "pairs of Gemma": (bpe(), n.Replace(" ", SPACE), p.Split(" ", "merged_with_previous"), d.Sequence(tail)),
        "pairs, Replace by expressions": (
            bpe(), n.Sequence([
                n.Replace(Regex(r"(?<=\d)(?=(?:\d{3})+(?!\d))"), ","), n.Replace(Regex(r"[\r\n]+|\.{2,}|\p{So}?"), "~"),
                llama]), None, d.Sequence(tail + [d.Strip(" ", 1, 0)])),
        "pairs, NFKC, lower case": (
            bpe(), n.Sequence([n.NFKC(), n.Lowercase(), llama]), None, d.Sequence(tail + [d.Strip(" ", 1, 0)])),
    }
    for index, (name, (model, normalizer, cut, decoder)) in enumerate(forms.items()):
        tokenizer = Tokenizer(model)
        tokenizer.normalizer, tokenizer.decoder = normalizer, decoder
        if cut:
            tokenizer.pre_tokenizer = cut
        tokenizer.add_special_tokens(["<s>", "</s>", "<unk>"])
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
        yield json_kind(f"tokenizer.json, {name}", f"{folder}/pieces-{index}", tokenizer)
    for index, normalizer in enumerate([n.Sequence([n.Nmt(), n.NFKC()]), n.Sequence([n.NFD(), n.StripAccents()])]):
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, meta(), d.Metaspace()
        tokenizer.train_from_iterator(lines, trainers.UnigramTrainer(
            vocab_size=8000, show_progress=False, special_tokens=["<unk>", "<s>"], unk_token="<unk>"))
        label = ["Nmt, NFKC", "NFD, StripAccents"][index]
        yield json_kind(f"tokenizer.json, Unigram of tokenizers: {label}", f"{folder}/own-{index}", tokenizer)


def all_kinds(arguments):
    lines = lines_of(arguments.pairs)
    os.makedirs(arguments.folder, exist_ok=True)
    yield from published(arguments)
    yield from sentencepieces(lines, arguments.folder)
    yield from of_bytes(lines, arguments.folder)
    yield from of_pieces(lines, arguments.folder)

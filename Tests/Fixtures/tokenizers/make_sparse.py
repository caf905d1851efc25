"""Makes sparse.json: vocabularies with gaps and repeats, with what tokenizers and transformers make of them.

pip install tokenizers==0.23.3 transformers==5.23.0; python3 make_sparse.py > sparse.json
"""

import json
import os
import tempfile

import tokenizers
import transformers

transformers.logging.set_verbosity_error()
VOCABULARY = {"a": 0, "b": 1, "ab": 2}
TEXT = "ab<s> ba<t><u>aab<B><E>"


def added(id, content, special=True, **fields):
    names = ["single_word", "lstrip", "rstrip", "normalized"]
    return {"id": id, "content": content, "special": special, **{name: fields.get(name, False) for name in names}}


def file(vocabulary=VOCABULARY, tokens=(), merges=("a b",), unknown=None):
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "dropout": None, "unk_token": unknown, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": vocabulary, "merges": list(merges)}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(tokens), "normalizer": None,
            "pre_tokenizer": level, "post_processor": None, "decoder": level, "model": model}


def unigram(pieces, tokens):
    space = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    return file(tokens=tokens) | {
        "pre_tokenizer": space, "decoder": space,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False}}


def alphabet():
    """A piece for each byte."""
    return {piece: id for id, piece in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}


S, T, U = added(3, "<s>"), added(4, "<t>"), added(5, "<u>")
GAPS = VOCABULARY | {"<s>": 5, "<t>": 9}
CASES = {
    "a hole in the vocabulary": file({"a": 0, "b": 7, "ab": 2}, [S]),
    "a hole before an added token": file(tokens=[added(5, "<s>")]),
    "holes before and between added tokens": file(tokens=[added(5, "<s>"), added(9, "<t>"), added(7, "<u>")]),
    "added tokens in a vocabulary with holes": file(GAPS, [added(5, "<s>"), added(9, "<t>")]),
    "a high id": file(tokens=[added(2**31, "<s>")]),
    "an added token with the id of another": file(tokens=[added(2, "<s>")]),
    "an added token with another id in the vocabulary": file(tokens=[added(3, "ab")]),
    "an added token twice": file(tokens=[S, S, T]),
    "an added token twice with two ids": file(tokens=[S, added(4, "<s>"), added(5, "<t>")]),
    "an added token twice, then not special": file(tokens=[S, added(3, "<s>", False, rstrip=True)]),
    "an added token twice, then special": file(tokens=[added(3, "<s>", False), added(3, "<s>", rstrip=True)]),
    "an added token thrice": file(tokens=[S, added(3, "<s>", rstrip=True), S]),
    "two added tokens with one id": file(tokens=[S, added(3, "<t>")]),
    "an empty added token": file(tokens=[added(7, ""), added(8, "<t>")]),
    "a merge twice": file({"a": 0, "b": 1, "ab": 2, "aa": 3}, [], ["a b", "a a", "a b"]),
    "an unknown token that is only added": file(alphabet(), [added(256, "<unk>")], [], "<unk>"),
    "a piece of a Unigram model twice": unigram(
        [["<unk>", 0.0], ["\u2581", -2.0], ["a", -1.0], ["a", -3.0], ["b", -2.0]], [added(4, "<s>")]),
}
CONFIGURATIONS = {
    "begin and end tokens that tokenizer.json lacks": (file(tokens=[S]), {"bos_token": "<B>", "eos_token": "<E>"}),
    "an end token that it lacks, after one that is listed": (
        file(tokens=[S]),
        {"eos_token": "<E>", "added_tokens_decoder": {
            str(token.pop("id")): token for token in [added(3, "<s>"), added(7, "<t>"), added(4, "<u>")]}}),
    "one that swallows spaces": (
        file(tokens=[S]),
        {"bos_token": {"content": "<B>", "__type": "AddedToken", "lstrip": False, "normalized": False,
                       "rstrip": False, "single_word": False}, "eos_token": "<s>"}),
    "behind holes": (file(GAPS, [added(5, "<s>"), added(9, "<t>")]), {"bos_token": "<B>", "eos_token": "<E>"}),
}


def described(name, contents, tokenizer, ids, configuration=None):
    text = json.dumps(contents)
    return {
        "name": name, "file": text, "configuration": configuration and json.dumps(configuration), "text": TEXT,
        "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False),
        "plain": tokenizer.decode(ids, skip_special_tokens=True),
    }


def main():
    cases = []
    for name, contents in CASES.items():
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(contents))
        cases.append(described(name, contents, tokenizer, tokenizer.encode(TEXT).ids))
    for name, (contents, configuration) in CONFIGURATIONS.items():
        configuration = {"bos_token": None, "eos_token": None} | configuration
        with tempfile.TemporaryDirectory() as folder:
            written = {"tokenizer.json": contents, "config.json": {"model_type": "llama"},
                       "tokenizer_config.json": configuration | {"tokenizer_class": "PreTrainedTokenizerFast"}}
            for path, value in written.items():
                with open(os.path.join(folder, path), "w") as out:
                    json.dump(value, out)
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        case = described(name, contents, tokenizer, tokenizer(TEXT)["input_ids"], configuration)
        case |= {"begin": tokenizer.bos_token_id, "end": tokenizer.eos_token_id}
        cases.append(case)
    print(json.dumps(
        {"tokenizers": tokenizers.__version__, "transformers": transformers.__version__, "cases": cases}, indent=1))


main()

"""Makes gemma_reference.json: ids and texts of strings with the tokenizer of the real Gemma 3 270M.

    python make_gemma_reference.py gemma-3-270m-q4_k_m.gguf   # sentencepiece 0.2.3, gguf 0.19, protobuf 7.36.2

Scripts/check-gemma fetches the model. Its pieces and scores are written as a tokenizer.model, which sentencepiece reads.
"""

import json
import re
import sys

import gguf
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto

TEXTS = [
    "",
    "  ",
    "Hello world",
    "hello\tworld\n\n\nend   ",
    "naïve café résumé",
    "你好，世界！日本語 한국어",
    "مرحبا שלום",
    "def f(x):\n    return x**2\n\t\t# tab",
    "<eos>x<bos> <unk>",
    "\u0000\u0001",
    "a▁b ▁▁c",
    "     five",
    "It's we're DON'T",
    "\r\nCRLF\r\n",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "trail ",
]


def main():
    fields = gguf.GGUFReader(sys.argv[1]).fields
    pieces, scores, types = (
        fields["tokenizer.ggml." + key].contents() for key in ("tokens", "scores", "token_type"))
    types[pieces.index("<unk>")] = 2
    model = proto.ModelProto()
    for piece, score, kind in zip(pieces, scores, types):
        # llama.cpp's conversion spells the spaces of user-defined symbols as spaces.
        piece = piece.replace(" ", "\u2581") if kind == 4 else piece
        model.pieces.add(piece=piece, score=score, type=kind)
    model.trainer_spec.model_type = 2
    model.trainer_spec.byte_fallback = True
    model.normalizer_spec.add_dummy_prefix = False
    model.normalizer_spec.remove_extra_whitespaces = False
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    strings = []
    for text in TEXTS:
        ids = []
        # Control tokens in a text are tokens.
        for part in re.split("(<bos>|<eos>|<unk>)", text):
            ids += [pieces.index(part)] if part in ("<bos>", "<eos>", "<unk>") else processor.encode(part)
        strings.append({"text": text, "ids": ids, "decoded": text.replace("\u2581", " ")})
    with open("gemma_reference.json", "w") as file:
        # Decoding gives each of these texts back, with a space for U+2581.
        roles = {"bos": pieces.index("<bos>"), "eos": pieces.index("<eos>")}
        json.dump({"strings": strings} | roles, file, indent=1, ensure_ascii=False)


main()

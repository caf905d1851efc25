"""GGUF files by llama.cpp's own conversion, from a folder of llama.cpp's sources. Without a tokenizer."""

import contextlib
import io
import logging
import os
import sys
from pathlib import Path


class Converter:
    def __init__(self, sources):
        """`sources`: a directory with llama.cpp's `conversion` and `gguf-py`."""
        sys.path[:0] = [sources, os.path.join(sources, "gguf-py")]
        import conversion
        import gguf

        logging.disable(logging.WARNING)
        self.conversion, self.gguf = conversion, gguf

    def convert(self, folder, path):
        """Writes the model in `folder` as F32."""
        base = self.conversion.ModelBase
        fields = base.load_hparams(Path(folder), False)
        name = self.conversion.get_model_architecture(fields, self.conversion.ModelType.TEXT)
        kind = self.conversion.get_model_class(name, mmproj=False)

        class WithoutTokenizer(kind):
            model_arch = kind.model_arch

            def set_vocab(self):
                self._set_vocab_none()

            def set_gguf_parameters(self):
                super().set_gguf_parameters()
                keys = self.gguf_writer.kv_data[0]
                if not any(key.endswith(".vocab_size") for key in keys):
                    self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])

        with contextlib.redirect_stderr(io.StringIO()):
            model = WithoutTokenizer(Path(folder), self.gguf.LlamaFileType.ALL_F32, Path(path))
            model.write()

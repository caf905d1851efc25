"""lm_eval with the tokenizer of `skein serve` in place of one from the Hugging Face hub; its arguments are lm_eval's.

It mends two things, each only where the server needs it:
1. lm_eval's tokenizer_backend=remote asks GET /tokenizer_info, which the server may not have.
2. With "max_tokens": 1 lm_eval takes the last log-probability for that of the token that it did not ask for. Where the
   answer is the end of the turn, the server tells none, and the prompt's last token would be dropped.
"""
import sys

import requests
from lm_eval import utils
from lm_eval.models import openai_completions
from lm_eval.models.openai_completions import LocalCompletionsAPI


def mend_tokenizer():
    theirs = utils.RemoteTokenizer._validate_server

    def validate(self):
        # All that lm_eval asks of it: a text that ends generation, and a token before an empty prompt.
        if requests.get(self.base_url + "/tokenizer_info", headers=self.headers, timeout=30).status_code == 404:
            ids = self.encode("<|im_end|>")
            end = "<|im_end|>" if len(ids) == 1 else "</s>"
            self._tokenizer_info = {"eos_token": end, "bos_token": None}
        else:
            theirs(self)

    utils.RemoteTokenizer._validate_server = validate


def mend_logprobs():
    theirs = LocalCompletionsAPI.parse_logprobs

    def parse(outputs, tokens=None, ctxlens=None, **others):
        outputs = outputs if isinstance(outputs, list) else [outputs]
        choices = [choice for out in outputs for choice in sorted(out["choices"], key=lambda choice: choice["index"])]
        for choice, ids in zip(choices, tokens, strict=True):
            found = choice["logprobs"]
            if len(found["token_logprobs"]) == len(ids):
                found["token_logprobs"].append(None)
                found["top_logprobs"].append(None)
            assert len(found["token_logprobs"]) == len(ids) + 1, "log-probabilities are not those of the tokens"
        return theirs(outputs, tokens=tokens, ctxlens=ctxlens, **others)

    LocalCompletionsAPI.parse_logprobs = staticmethod(parse)


if __name__ == "__main__":
    mend_tokenizer()
    mend_logprobs()
    from lm_eval.__main__ import cli_evaluate

    sys.exit(cli_evaluate())

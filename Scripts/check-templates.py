"""Writes what Jinja2, set up by transformers, makes of published chat templates.

    check-templates.py OUTPUT.json TEMPLATE.jinja...

For each template and each of seven kinds of conversation: the text with and without a generation prompt, the stretches
that {% generation %} writes, and the trained part of each assistant's turn, found by rendering every prefix.
"""

import json
import os
import sys
from datetime import datetime

import jinja2
import transformers.utils.chat_template_utils as chat

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
ENDS = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end|>", "<|return|>", "<|call|>", "</s>",
        "<|END_OF_TURN_TOKEN|>", "<turn|>", "<|endoftext|>", "<|user|>", "<end_of_utterance>"]

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather <now> & \"here\"",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "Where"},
        "unit": {"type": "string", "enum": ["C", "F"], "description": "Of the temperature"},
        "days": {"type": "array", "items": {"type": "integer"}, "description": "Which"}},
        "required": ["city"]}}}
CALL = {"type": "function", "id": "call00001", "function": {
    "name": "get_weather", "arguments": {"city": "Zürich", "days": [1, 2], "share": 0.5, "unit": "C"}}}
TEXT_CALL = {"type": "function", "id": "call00002", "function": {
    "name": "get_weather", "arguments": "{\"city\": \"Rome\"}"}}
TIME = {"type": "function", "function": {"name": "get_time", "description": "The time", "parameters": {
    "type": "object", "properties": {}, "required": []}}}


def turn(role, content, **more):
    return {"role": role, "content": content, **more}


KINDS = {
    "plain": ([turn("user", "Hello!")], None, {}),
    "system": ([turn("system", "Be brief."), turn("user", "What is 2+2?"), turn("assistant", "4")], None, {}),
    "turns": ([turn("user", "Say hi"), turn("assistant", "hi"), turn("user", "Say  é\U0001f999"),
               turn("assistant", "line 1\n\n  line 2"), turn("user", "bye"), turn("assistant", "Good bye.")], None, {}),
    "tools": ([turn("user", "Weather?"), turn("assistant", "", tool_calls=[CALL]),
               turn("tool", "18 degrees", name="get_weather", tool_call_id="call00001"),
               turn("assistant", "It is 18 degrees.")], [WEATHER], {}),
    "calls": ([turn("system", "Be brief."), turn("user", "Weather there?"),
               turn("assistant", "Let me see.", tool_calls=[TEXT_CALL, CALL]),
               turn("tool", "{\"C\": 18}", name="get_weather", tool_call_id="call00002"),
               turn("tool", "rain", name="get_weather", tool_call_id="call00001"),
               turn("assistant", "18, rain"), turn("user", "Thanks"), turn("assistant", "Bye")], [WEATHER, TIME], {}),
    "thinking": ([turn("user", "Why?"), turn("assistant", "Because.", reasoning_content="Hm, why?"),
                  turn("user", "More"), turn("assistant", "<think>\nwell\n</think>\n\nNo.")], None,
                 {"enable_thinking": True}),
    "no thinking": ([turn("user", "Why?"), turn("assistant", "Because.")], None, {"enable_thinking": False}),
}


class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 26)


def rendered(template, messages, tools, arguments, prompt):
    """The text and its generated stretches, or None if the template refuses."""
    try:
        # transformers itself: plain data, aliases of reasoning, the environment.
        texts, generated = chat.render_jinja_template(
            [messages], tools=tools, chat_template=template, add_generation_prompt=prompt,
            return_assistant_tokens_mask=True, **TOKENS, **arguments)
        return texts[0], generated[0]
    except (jinja2.exceptions.TemplateError, TypeError, ValueError, LookupError, AttributeError):
        return None


def offset(text, count):
    return len(text[:count].encode())


def trained(template, messages, tools, arguments):
    """For each assistant's turn that its own prompt is a prefix of: [prompt, what the model then says]."""
    found = []
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        prompt = rendered(template, messages[:index], tools, arguments, True)
        own = rendered(template, messages[:index + 1], tools, arguments, False)
        if prompt is None or own is None or not own[0].startswith(prompt[0]):
            continue
        rest = own[0][len(prompt[0]):]
        # Where the last of the turn's words ends. A turn that the template left out has nothing to train.
        words = [message["content"].strip(), message.get("reasoning_content")]
        words += [call["function"]["name"] for call in message.get("tool_calls", [])]
        last = max((rest.rfind(w) + len(w) for w in words if w and w in rest), default=None)
        ends = [(rest.index(e, last), -len(e), e) for e in ENDS if last is not None and e in rest[last:]]
        if not ends:
            continue
        place, _, end = min(ends)
        found.append({"message": index, "prompt": prompt[0], "said": rest[:place], "end": end})
    return found


def pair(template, arguments):
    """A question and its answer: the prompt for an answer, and what is trained if the whole begins with it."""
    turns = [turn("user", "What is 2+2?"), turn("assistant", "It is 4.")]
    prompt, whole = (rendered(template, turns[:n], None, arguments, n == 1) for n in (1, 2))
    if prompt is None or whole is None:
        return None
    found = {"prompt": prompt[0], "whole": whole[0], "arguments": arguments}
    if whole[0].startswith(prompt[0]):
        rest = whole[0][len(prompt[0]):]
        last = rest.find("It is 4.") + len("It is 4.")
        ends = [(rest.index(end, last), -len(end), end) for end in ENDS if end in rest[last:]]
        if "It is 4." in rest and ends:
            place, _, end = min(ends)
            found["trained"] = rest[:place] + end
    return found


def main():
    output, *paths = sys.argv[1:]
    chat.datetime = Clock
    templates = []
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            source = file.read()
        cases = []
        for kind, (messages, tools, arguments) in KINDS.items():
            for prompt in (False, True):
                case = {"kind": kind, "messages": messages, "tools": tools, "arguments": arguments, "prompt": prompt}
                result = rendered(source, messages, tools, arguments, prompt)
                if result is not None:
                    case["text"] = result[0]
                    case["generated"] = [[offset(result[0], a), offset(result[0], b)] for a, b in result[1]]
                cases.append(case)
            cases[-2]["trained"] = trained(source, messages, tools, arguments)
        templates.append({"name": os.path.basename(path), "template": source, "cases": cases,
                          "pairs": [pair(source, more) for more in ({}, {"enable_thinking": False})]})
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"tokens": TOKENS, "ends": ENDS, "templates": templates}, file, ensure_ascii=False)
    texts = sum("text" in case for entry in templates for case in entry["cases"])
    print(f"{len(templates)} templates, {texts} texts", file=sys.stderr)


main()

#!/usr/bin/env python3
"""Writes families.json and constructs.json: templates, conversations, and what Jinja2 makes of them.

The templates are written for these tests, in the style of the model families that they are named after.
Jinja2 runs in the environment that Hugging Face transformers sets up for chat templates
(utils/chat_template_utils.py, _compile_jinja_template), with the clock at 26 July 2024.

    python3 make_goldens.py        # needs jinja2 3.1.6

Every case has "text" or "error": "raised" (raise_exception, with its "message"), "undefined" or "evaluation".
"pieces" are found without looking at the template's program: each content is rendered once more with a
private-use character before and behind it, and the text between the two is the content's.
"""
import json
import os
import sys
from datetime import datetime

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Refused(jinja2.exceptions.TemplateError):
    pass


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise Refused(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


environment = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
environment.filters["tojson"] = tojson
environment.globals["raise_exception"] = raise_exception
environment.globals["dict"] = dict
environment.globals["strftime_now"] = lambda form: datetime(2024, 7, 26).strftime(form)

OPEN, CLOSE = 0xE000, 0xE800  # private use: content i is between OPEN + i and CLOSE + i


def rendered(template, messages, add_generation_prompt):
    return template.render(
        messages=messages, tools=None, documents=None, bos_token="<s>", eos_token="</s>",
        add_generation_prompt=add_generation_prompt)


def marked(content, index, trims):
    body = content.strip() if trims else content
    if not body:
        return content
    start = content.index(body)
    return (content[:start] + chr(OPEN + index) + body + chr(CLOSE + index)
            + content[start + len(body):])


def pieces(template, messages, flag, trims, text):
    """The text as [piece, message index or None], no piece empty and no two neighbours of one origin."""
    copies = [dict(m, content=marked(m["content"], i, trims)) for i, m in enumerate(messages)]
    found, origin = [], None
    for character in rendered(template, copies, flag):
        code = ord(character)
        if OPEN <= code < CLOSE:
            origin = code - OPEN
        elif CLOSE <= code < CLOSE + 0x800:
            origin = None
        elif found and found[-1][1] == origin:
            found[-1][0] += character
        else:
            found.append([character, origin])
    assert "".join(p[0] for p in found) == text, "the marks changed the text"
    return found


def case(template, messages, flag, trims=None):
    result = {"messages": [[m["role"], m["content"]] for m in messages], "prompt": flag}
    try:
        result["text"] = rendered(template, messages, flag)
        if trims is not None:
            result["pieces"] = pieces(template, messages, flag, trims, result["text"])
    except Refused as error:
        result["error"], result["message"] = "raised", str(error)
    except jinja2.exceptions.UndefinedError:
        result["error"] = "undefined"
    except (TypeError, ValueError, ZeroDivisionError, LookupError, jinja2.exceptions.TemplateRuntimeError):
        result["error"] = "evaluation"
    return result


def conversation(*turns):
    return [{"role": role, "content": content} for role, content in turns]


CONVERSATIONS = [
    conversation(("user", "Hello!")),
    conversation(("system", "Be brief."), ("user", "What is 2+2?")),
    conversation(("user", "Say hi"), ("assistant", "hi"), ("user", "Say hi"), ("assistant", "hi")),
    conversation(("system", " \tRules:\n1. none \n"), ("user", "  caf\u00e9 \U0001f999\u2003\n"),
                 ("assistant", "\n\nline 1\n\n  line 2 \u3000"), ("user", "cafe\u0301")),
    conversation(("user", ""), ("assistant", "")),
    conversation(("user", "<|im_end|> {{ 1 }} {% if %}"), ("assistant", "<s></s>")),
    conversation(("assistant", "I begin."), ("user", "So what?")),
    conversation(("system", "Only rules.")),
    [],
]

THINKING = CONVERSATIONS + [
    conversation(("user", "why"), ("assistant", "<think>\nhm\n</think>\n\nbecause"), ("user", "more"),
                 ("assistant", "<think>no end"), ("user", "go on"),
                 ("assistant", "a</think>b</think>\n\n c \n")),
    conversation(("user", "<tool_response>x</tool_response>"), ("assistant", "ok")),
]

FAMILIES = {}

# name: (trims, conversations, template). trims says where the marks of `pieces` go; None: no pieces, because
# the template looks inside of the contents.
FAMILIES["chatml"] = (False, CONVERSATIONS, """\
{% for turn in messages %}{% if loop.first and turn['role'] != 'system' %}{{ '<|im_start|>system
Answer as a lighthouse keeper would.<|im_end|>
' }}{% endif %}{{ '<|im_start|>' + turn['role'] + '
' + turn['content'] + '<|im_end|>' + '
' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}
""")

FAMILIES["headers"] = (True, CONVERSATIONS, """\
{{- bos_token }}
{%- if not today is defined %}
    {%- if strftime_now is defined %}
        {%- set today = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set today = "some day" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- The system message has a place of its own. #}
{%- if messages and messages[0]['role'] == 'system' %}
    {%- set rules = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set rules = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Tools: " + tools | reject('equalto', 'browser') | join(", ") + "\\n" }}
{%- endif %}
{{- "Today: " + today + "\\n\\n" }}
{{- rules }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif message.content is mapping or message.content is iterable %}
        {{- message.content | tojson }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""")

FAMILIES["headers in one line"] = (True, CONVERSATIONS, """\
{% set turns = messages %}{% for turn in turns %}{% set text = '<|start_header_id|>' + turn['role'] + '<|end_header_id|>

'+ turn['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set text = bos_token + text %}{% endif %}{{ text }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>

' }}{% endif %}""")

FAMILIES["alternating turns"] = (True, CONVERSATIONS, """\
{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no rules here') }}{% endif %}{% for turn in messages %}{% if (turn['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('user and assistant must take turns') }}{% endif %}{% if (turn['role'] == 'assistant') %}{% set who = 'model' %}{% else %}{% set who = turn['role'] %}{% endif %}{{ '<start_of_turn>' + who + '
' + turn['content'] | trim + '<end_of_turn>
' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model
'}}{% endif %}
""")

FAMILIES["rules in the first turn"] = (True, CONVERSATIONS, """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set prefix = messages[0]['content'] | trim + '

' -%}
    {%- else -%}
        {%- set prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set prefix = "" -%}
    {%- set turns = messages -%}
{%- endif -%}
{%- for turn in turns -%}
    {%- if (turn['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("user and assistant must take turns") }}
    {%- endif -%}
    {{ '<start_of_turn>' + ('model' if turn['role'] == 'assistant' else turn['role']) + '
' + (prefix if loop.first else "") }}
    {%- if turn['content'] is string -%}
        {{ turn['content'] | trim }}
    {%- elif turn['content'] is iterable -%}
        {%- for part in turn['content'] -%}
            {{ part['text'] | trim }}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("strange content") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
""")

FAMILIES["bars"] = (False, CONVERSATIONS, """\
{% for turn in messages %}{% if turn['role'] == 'system' and turn['content'] %}{{'<|system|>
' + turn['content'] + '<|end|>
'}}{% elif turn['role'] == 'user' %}{{'<|user|>
' + turn['content'] + '<|end|>
'}}{% elif turn['role'] == 'assistant' %}{{'<|assistant|>
' + turn['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}
""")

FAMILIES["brackets"] = (True, CONVERSATIONS, """\
{%- if messages and messages[0]["role"] == "system" %}
    {%- set rules = messages[0]["content"] %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set turns = messages %}
{%- endif %}
{%- set asked = turns | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for turn in turns | rejectattr("role", "in", ["tool", "tool_results"]) | selectattr("tool_calls", "undefined") %}
    {%- if (turn["role"] == "user") != (ns.index % 2 == 0) %}
        {{- raise_exception("turn " ~ loop.index ~ " of " ~ loop.length ~ " is out of order") }}
    {%- endif %}
    {%- set ns.index = ns.index + 1 %}
{%- endfor %}
{{- bos_token }}
{%- for turn in turns %}
    {%- if turn["role"] == "user" %}
        {{- "[INST] " }}
        {%- if turn == asked[-1] and rules is defined %}
            {{- "<<" ~ rules.strip() ~ ">>\\n" }}
        {%- endif %}
        {{- turn["content"].strip() + " [/INST]" }}
    {%- else %}
        {{- " " + turn["content"]|trim + eos_token }}
    {%- endif %}
{%- endfor %}
""")

THOUGHTS = """\
{%- if tools %}
    {{- '<tools>' }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>" }}
{%- elif messages and messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(searching=true, last_question=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.searching and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.searching = false %}
        {%- set ns.last_question = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if message.reasoning_content is string %}
            {%- set thought = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>' + message.role + '\\n' }}
        {%- generation %}
        {%- if loop.index0 > ns.last_question and (loop.last or thought) %}
            {{- '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' }}
        {%- endif %}
        {{- content }}
        {%- if message.tool_calls %}
            {%- for call in message.tool_calls %}
                {{- call.arguments | tojson }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>' }}
        {%- endgeneration %}
        {{- '\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' + content }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""
FAMILIES["thoughts"] = (None, THINKING, THOUGHTS)

TURNS = conversation(("system", " Sys "), ("user", "Abc \u00df\u03a3 x"), ("assistant", "one two  three"))

CONSTRUCTS = [
    # white space control
    "a\n  {% if true %}\n  b\n  {% endif %}\n  c\n", "a  {% if true %}b{% endif %}  c",
    "a \n {%- if true -%} \n b \n {%- endif -%} \n c", "a\n  {%+ if true %}\nb\n  {%+ endif +%}\nc",
    "a\n {{ 1 }}\n {{- 2 -}} \n {{ 3 -}} \n b\n\n", "{{-1}}{{+2}}", "a\r\nb\rc\r\n",
    "  {# c #}\n  d {# e #} f\n {#- g -#} \n h {#+ i +#}\n j", "{#-#}x{##}y", "{# {{ ' #}z",
    " \u2003{%- set a = 1 -%}\u2003\x1c b", "x{% set a = 1 %}\n\n  {% set b = 2 %}\n{{ a + b }}",
    "{% for c in 'abc' %}\n  {{ c }}\n{% endfor %}\nend", "{{ '}}' }}{{ \"%}\" }}{{ {'a': {'b': 1}}['a'].b }}",
    "{ {{ nothing is defined }}", "a } b %} c #} d",
    # literals and escapes
    r"{{ 'a\n\t\\\'\"\x41\u00e9\U0001f999\101\q' }}", "{{ 'a' \"b\" 'c' }}", "{{ 'two\nlines' }}", "{{ 1_000 }}",
    "{{ true }} {{ False }} {{ none }} {{ None }} {{ nothing }} {{ -3 }} {{ 0 if false }}",
    "{{ [1, 'a',]|length }}{{ (1,)|length }}{{ ()|length }}{{ {'a': 1,}|length }}{{ {}|length }}",
    # operators
    "{{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 2 * 3 - 4 }} {{ - 2 }} {{ +2 }}",
    "{{ 'a' + 'b' ~ 1 + 'c' }} {{ 1 ~ none ~ true ~ nothing }}", "{{ 1 + true }} {{ true + true }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == true }}", "{{ 'a' < 'b' }} {{ 'B' >= 'a' }}",
    "{{ 1 == '1' }} {{ none == false }} {{ 'e\u0301' == '\u00e9' }} {{ [1, 'a'] == [1, 'a'] }} {{ [1] == (1,) }}",
    "{{ 'b' in 'abc' }} {{ '' in '' }} {{ 1 in [2, 1] }} {{ 'a' not in {'a': 1} }} {{ 'x' in nothing }}",
    "{{ 0 or '' or 'z' }} {{ 1 and 'y' }} {{ 0 and 1 }} {{ not 0 and not none }} {{ not not 'a' }}",
    "{{ 'a' if 1 else 'b' }} {{ 'a' if 0 else 'b' if 0 else 'c' }} {{ 'a' if 0 }}!",
    "{{ ([1] + [2])|join(',') }} {{ ((1,) + (2,))|join('-') }}", "{{ -1|string ~ 1 }}", "{{ 1 - 1 == 0 and 2 > 1 }}",
    # statements
    "{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}", "{% if 0: %}a{% else: %}b{% endif %}",
    "{% for x in [1, 2, 3] %}{{ loop.index0 }}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}",
    "{% for x in [1, 2, 3] %}{{ loop.revindex0 }}{{ loop.revindex }}{{ loop.previtem }}{{ loop.nextitem }},{% endfor %}",
    "{% for x in [1, 2, 3, 4] if x % 2 == 0 %}{{ loop.index }}:{{ x }}/{{ loop.length }} {% endfor %}",
    "{% for x in [1, 2, 3, 4] if x is even %}{{ x }}{{ ',' if not loop.last }}{% endfor %}",
    "{% for x in [] %}a{% else %}none{% endfor %}{% for x in nothing %}a{% else %}none{% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}|items %}{{ k }}={{ v }};{% endfor %}{% for k in {'a': 1} %}{{ k }}{% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}{{ {'a': 1}.keys()|list|first }}",
    "{% for x in [1, 2] %}{% for y in [3, 4] %}{{ loop.index }}{{ x }}{{ y }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }}",
    "{% set ns = namespace(n=0) %}{% for i in [1, 2, 3] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}{{ ns.z }}",
    "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns['b'] }}{{ ns is mapping }}",
    "{% set ns = namespace(skip=2) %}{% for x in [1, 2, 3] if x != ns.skip %}{{ x }}{% set ns.skip = 3 %}{% endfor %}",
    "{% set x %}a{{ 1 }}{% set y = 2 %}{% endset %}{{ x }}{{ y }}{{ x|length }}", "{% set a, b = 1, 2 %}{{ b }}{{ a }}",
    "{% if 1 %}{% set x = 1 %}{% endif %}{{ x }}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}",
    "{% for m in messages %}{% generation %}{{ loop.index }}{{ m.role }}{% endgeneration %}{% endfor %}",
    # subscripts and slices
    "{{ 'abc'[0] }}{{ 'abc'[-1] }}{{ 'abc'[9] }}{{ [1, 2][1] }}{{ [1, 2].0 }}{{ {'a': 5}['a'] }}{{ {'a': 5}.b }}",
    "{{ 'abcdef'[1:3] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[:-2] }} {{ 'abcdef'[-2:] }} {{ 'abcdef'[4:1:-2] }} {{ 'abc'[5:] }}",
    "{{ '\u00e9\U0001f999z'[1:] }}{{ '\u00e9\U0001f999z'|length }}{{ '\u00e9\U0001f999z'[::-1] }}{{ '\u00e9\U0001f999'[1] }}",
    "{{ [1, 2, 3, 4][::2]|join }} {{ [1, 2, 3][::-1]|join }} {{ [1, 2, 3][:none]|join }} {{ (1, 2, 3)[1:]|length }}",
    "{{ none.x is defined }} {{ 5['a'] is defined }} {{ messages[7] is defined }} {{ messages[0].tools is undefined }}",
    "{{ messages[0]['role'] }} {{ messages[-1].content }} {{ messages[1:]|length }} {{ messages[::-1][0].role }}",
    # filters
    "[{{ ' \\x1c\u3000a b\\n '|trim }}] [{{ 'xxaxx'|trim('x') }}] [{{ 12|trim }}] [{{ nothing|trim }}]",
    "{{ 'abc'|length }}{{ [1]|count }}{{ {'a': 1}|length }}{{ nothing|length }}",
    "{{ ['a', 1, none, true]|join('-') }} {{ 'abc'|join(',') }} {{ [1, 2]|join(d='+') }} {{ []|join }}",
    "{{ [1, 2, 3, 4]|reject('odd')|join }} {{ ['a', none]|reject('none')|list|length }} {{ [0, 1]|reject|join }}",
    "{{ [1, 2, 3]|select('gt', 1)|join }} {{ [0, 1, '']|select|join }} {{ ['a', 'b']|reject('equalto', 'a')|join }}",
    "{{ messages|selectattr('role', 'equalto', 'user')|list|length }}",
    "{{ messages|rejectattr('tool')|list|length }} {{ (messages|selectattr('content', 'defined')|first).role }}",
    "{{ nothing|default('d') }} {{ ''|default('d', true) }} {{ 0|d(boolean=true, default_value=5) }} {{ none|default('d') }}",
    "{{ 'Stra\u00dfe \u0149 \u03a3\u0391\u03a3'|upper }} {{ '\u0130 \u03a3\u0391\u03a3 \u03a3 A\u03a3.b A\u03a3-'|lower }} {{ 'aB'.upper() }}{{ 'aB'.lower() }}",
    "{{ [3, 4]|first }}{{ [3, 4]|last }}{{ '\u00e9z'|first }}{{ '\u00e9z\u00e9'|last }}{{ []|first }}{{ 5|string ~ 6 }}",
    "{{ {'a': [1, 'x\\n\"\\\\\u00e9\\x01', none, true], 'b': {}, 'c': []}|tojson }}",
    "{{ {'a': [1, {'b': (2, 3)}], 'c': {}, 'd': []}|tojson(indent=2) }}{{ [1]|tojson(indent=0) }}{{ 'a'|tojson }}",
    "{{ messages[0]|tojson }}{{ messages|tojson(indent=1) }}{{ messages.0.content|tojson(ensure_ascii=false) }}",
    "{{ 'ab'|list|join('.') }}{{ {'k': 1}|list|first }}", "{{ 'a'|upper|lower|trim|length }}",
    # tests
    "{{ x is defined }}{{ x is not defined }}{{ tools is defined }}{{ tools is none }}{{ namespace is defined }}{{ range is defined }}",
    "{{ 'a' is string }}{{ 1 is string }}{{ 'a' is iterable }}{{ 1 is iterable }}{{ {} is iterable }}{{ {} is mapping }}{{ [] is mapping }}",
    "{{ true is true }}{{ 1 is true }}{{ false is false }}{{ 0 is false }}{{ none is false }}{{ x is undefined }}{{ x is iterable }}",
    "{{ 1 is number }}{{ true is number }}{{ true is integer }}{{ 1 is integer }}{{ true is boolean }}{{ 'a' is number }}{{ 1 is float }}",
    "{{ [] is sequence }}{{ 'a' is sequence }}{{ {} is sequence }}{{ 1 is sequence }}{{ x is sequence }}{{ 3 is odd }}{{ -3 is odd }}{{ 4 is even }}",
    "{{ 1 is eq 1 }}{{ 1 is ne(2) }}{{ 3 is gt 2 }}{{ 3 is lessthan 2 }}{{ 1 is in [1, 2] }}{{ 1 is not in [1] }}{{ 'a' is equalto 'a' and true }}",
    "{{ 'y' if x is not defined else 'n' }}{{ not x is defined or false }}",
    # methods
    "[{{ ' a '.strip() }}][{{ 'xxay'.lstrip('xy') }}][{{ 'xxay'.rstrip('xy') }}][{{ '\\n\\na\\n'.strip('\\n') }}][{{ ' a '.strip(none) }}]",
    "{{ 'a,b,,c'.split(',')|join('|') }} {{ '  a b  c '.split()|join('|') }} {{ 'a,b,c'.split(',', 1)|last }} {{ ''.split(',')|length }}",
    "{{ ' a b  c d '.split(none, 2)|join('|') }}! {{ 'aXbX'.split(sep='X', maxsplit=-1)|length }} {{ ''.split()|length }}",
    "{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith(('x', 'bc')) }}{{ 'abc'.startswith('') }}{{ 'a'.endswith('aa') }}",
    "{{ messages[0].get('role') }}{{ messages[0].get('x') }}{{ messages[0].get('x', 'y') }}{{ {'a': 1}.values()|list|first }}",
    # functions
    "{{ strftime_now('%d %b %Y') }} {{ strftime_now('%A, %B') }} {{ strftime_now('%Y-%m-%d %H:%M:%S %j %a %y %F %I%p 100%%') }}",
    "{{ raise_exception('no: ' ~ messages|length) }}", "{% if false %}{{ raise_exception('never') }}{% endif %}fine",
    # failures
    "{{ x.y }}", "{{ x + 'a' }}", "{{ 'a' + x }}", "{{ x[0] }}", "{{ -x }}", "{{ x < 1 }}",
    "{{ 'a' + 1 }}", "{{ 1 + 'a' }}", "{{ none + 'a' }}", "{{ 1 % 0 }}", "{{ 1 // 0 }}", "{{ 1 < 'a' }}", "{{ 1 in 'a' }}", "{{ 1 in 2 }}",
    "{% for x in 5 %}{% endfor %}", "{% for a, b in [1] %}{% endfor %}", "{% for a, b in [(1, 2, 3)] %}{% endfor %}", "{{ 5|length }}",
    "{{ 'a'.split('') }}", "{{ 'abc'[::0] }}", "{{ messages['a':] }}", "{{ tools[1:] }}", "{{ messages[0][1:] }}", "{% set x = 1 %}{% set x.y = 2 %}", "{{ x|tojson }}",
    "{{ messages.strip() }}", "{{ x.strip() }}", "{{ -'a' }}", "{{ 5|join }}", "{{ 'a'|trim(1) }}", "{{ 'a'|trim('a', 'b') }}", "{{ [2]|first + 'a' }}",
    "{% set raise_exception = 1 %}{{ raise_exception('a') }}", "{{ 5|items|list }}", "{{ 'a'.startswith(1) }}", "{{ [1]|select|last }}",
    # macros, calls and blocks
    "{% macro f(a, b='x', c=b ~ '!') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ f(1) }}{{ f(1, 2) }}{{ f(b=3, a=4) }}",
    "{% macro f(a) %}{{ a is defined }}{{ a }}{% endmacro %}{{ f() }}{{ f(none) }}|{{ f(1, 2) }}",
    "{% macro f() %}{{ varargs|length }}{{ kwargs.k }}{% endmacro %}{{ f(1, 2, k='v') }}", "{% macro f() %}{% endmacro %}{{ f(k=1) }}",
    "{% set y = 1 %}{% macro f(n) %}{{ y }}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{% set y = 2 %}{{ f(3) }}",
    "{% macro w(t) %}<{{ t }}>{{ caller(1, b=2) }}</{{ t }}>{% endmacro %}{% set o = 'O' %}{% call(a, b=5) w('p') %}{{ a }}{{ b }}{{ o }}{% endcall %}",
    "{% macro w() %}{{ caller() }}{{ caller() }}{% endmacro %}{% for x in 'ab' %}{% call w() %}{{ x }}{{ loop.index }}{% endcall %}{% endfor %}",
    "{% macro f(x) %}{{ x }}{% endmacro %}{{ f('a')|upper ~ f('b') + 'c' }}{{ f is defined }}{{ f is callable }}{{ g is defined }}", "{{ g() }}",
    "{% set x | upper | replace('A', 'z') %}a b{% endset %}{{ x }}", "{% filter upper | trim %} a{{ 1 }}b {% endfilter %}!",
    "{% with a = 1, b = 2 %}{{ a + b }}{% set a = 5 %}{{ a }}{% endwith %}{{ a }}", "a{% raw %} {{ x }} {% if %}{% endraw %} b",
    "  {% raw -%}  {{ ' }}\n  {%- endraw %}\n x", "{% generation %}{{ 'a' }}{% endgeneration %}b",
    # loops
    "{% for x in [1, 2, 3, 4] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% if x == 3 %}{% break %}{% endif %},{% endfor %}!",
    "{% for x in 'ab' %}{% for y in 'cd' %}{% break %}{% endfor %}{{ x }}{{ y }}{% else %}e{% endfor %}",
    "{% for x in [1] %}{% break %}{% else %}never{% endfor %}", "{% for x in 'abcd' %}{{ loop.cycle('1', '2', '3') }}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}",
    "{% for x in [1, 1, 2, 1] %}{{ loop.changed(x) }}{% endfor %}",
    "{% for x in [{'n': 1, 'k': [{'n': 2, 'k': []}]}, {'n': 3, 'k': []}] recursive %}{{ x.n }}{{ loop.depth }}({{ loop(x.k) }}){% endfor %}",
    "{% for (a, b) in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}{% set (a, b) = 3, 4 %}{{ a }}{{ b }}", "{% for i in range(3) %}{{ i }}{% endfor %}{{ range(5, 1, -2)|list }}",
    # numbers
    "{{ 1.5 }} {{ 1e3 }} {{ 1.0 }} {{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e-5 }} {{ 123456789012345678.0 }} {{ 0.0001 }} {{ -2.5 }} {{ 1e22 }}",
    "{{ 1 / 2 }} {{ 4 / 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** 10 }} {{ 3 ** 0 }} {{ 1 + 0.5 }} {{ 3 * 1.5 }}", "{{ 1 / 0 }}", "{{ 1.0 // 0 }}",
    "{{ 1.0 == 1 }} {{ 1.5 > 1 }} {{ 1.0 is number }} {{ 1.0 is float }} {{ 1 is float }} {{ 1.0 is integer }}",
    "{{ '12'|int }} {{ 'x'|int }} {{ 'x'|int(7) }} {{ '1.9'|int }} {{ 2.7|int }} {{ '1.5'|float }} {{ 'x'|float }} {{ 3|float }} {{ -3|abs }}",
    "{{ 2.5|round }} {{ 2.567|round(2) }} {{ 2.1|round(0, 'ceil') }} {{ 2.9|round(method='floor') }} {{ 7|round }}",
    "{{ 1.0|tojson }} {{ {'a': 0.5, 'b': [1e30]}|tojson }} {{ true if 0.0 else false }}",
    # texts
    "{{ 'aXbX'.replace('X', 'y') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'ab'.replace('', '-') }} {{ 'a b'|replace(' ', '_') }} {{ 'aaa'|replace('a', 'b', count=1) }}",
    "{{ 'hello wORLD'|capitalize }} {{ 'hello wORLD'.capitalize() }} {{ \"it's a-b (c)\"|title }} {{ \"it's a-b\".title() }} {{ ''.capitalize() }}",
    "{{ 'a b c'|wordcount }} {{ \"it's a-b_c <b>\u00e9\u00bd</b> \u2160 \u4e16\u754c!\"|wordcount }} {{ 'abcabc'.count('bc') }} {{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') }} {{ 'a'.find('z') }}",
    "{{ 'a-b-c'.partition('-')|join('|') }} {{ 'a-b-c'.rpartition('-')|join('|') }} {{ 'abc'.partition('-') }} {{ 'a-b-c'.rsplit('-', 1) }}",
    "{{ 'prefix'.removeprefix('pre') }} {{ 'prefix'.removesuffix('fix') }} {{ '12'.isdigit() }} {{ 'a1'.isalpha() }} {{ ''.isdigit() }} {{ ' '.isspace() }} {{ 'a1'.isalnum() }}",
    "{{ 'a\nb\r\nc'.splitlines() }} {{ '-'.join(['a', 'b']) }} {{ 'ab' * 3 }} {{ 2 * 'x' }} {{ [1] * 2 }} {{ 'a' * 0 }}",
    "{{ 'a\nb\n\nc'|indent }}|{{ 'a\nb'|indent(2, true) }}|{{ 'a\n\nb'|indent(1, blank=true) }}|{{ 'a\nb\n'|indent(width='>>') }}",
    "{{ '<a & \"b\">'|escape }} {{ 'x'|safe }} {{ 'abc'|reverse }} {{ [1, 2]|reverse|list }} {{ 'A'|lower is lower }} {{ 'A' is upper }}",
    # lists and dicts
    "{{ [1, 'a', none, true, 1.5, ('b',), (), {'k': [\"it's\"]}] }} {{ ['\\n\\t\\\\\\'\"', '\u00e9\u200b\x07'] }}",
    "{{ [3, 1, 2]|sort }} {{ ['b', 'A', 'a']|sort }} {{ ['b', 'A']|sort(case_sensitive=true) }} {{ [1, 3, 2]|sort(reverse=true) }} {{ [{'a': 2}, {'a': 1}]|sort(attribute='a') }}",
    "{{ {'b': 1, 'A': 2, 'c': 0}|dictsort }} {{ {'b': 1, 'A': 2}|dictsort(true) }} {{ {'b': 1, 'a': 2}|dictsort(by='value', reverse=true) }}",
    "{{ [1, 2, 1, 'a', 'A']|unique|list }} {{ [3, 1]|min }} {{ [3, 1]|max }} {{ []|max }}! {{ [1, 2]|sum }} {{ [{'a': 1}, {'a': 2}]|sum('a') }} {{ [1]|sum(start=5) }}",
    "{{ ['a', 'b']|map('upper')|join }} {{ [{'a': {'b': 1}}, {}]|map(attribute='a.b', default='z')|list if 0 else 'q' }} {{ [{'a': 1}, {}]|map(attribute='a', default='z')|list }}",
    "{{ [{'a': 1}, {'a': 2}]|join(', ', attribute='a') }} {{ [1, 2, 3]|batch(2)|list }} {{ [1, 2, 3]|batch(2, 0)|list }}",
    "{{ [1, 2, 1].index(2) }} {{ [1, 2, 1].count(1) }} {{ dict(a=1, b=2) }} {{ dict({'x': 1}, y=2)|tojson }} {{ {'a': 1}.copy().a }}", "{{ [1].index(2) }}",
    "{% set n = namespace(l=[1]) %}{% set n.l = n.l + [2] %}{{ n.l }}{% set n.g = [1, 2]|map('string') %}{{ n.g|join('+') }}",
    "{{ {'b': 1, 'a': '\u00e9\U0001f999<'}|tojson(sort_keys=true) }} {{ '\u00e9\U0001f999'|tojson(ensure_ascii=true) }} {{ [1, {'a': []}]|tojson(indent=2) }} {{ [1, 2]|tojson(separators=(',', ':')) }}",
    "{{ [1, 2] < [1, 3] }} {{ (1,) < (1, 0) }} {{ 9 is divisibleby 3 }} {{ none is sameas none }} {{ true is sameas true }} {{ 1 is sameas true }}",
    "{{ 1 if 0 else 2 if 0 else 3 }}{{ 'a' if 1 if 1 else 2 }}{{ {'items': 1}['items'] }}{{ {'items': 1}.items is string }}{{ ('a')|attr('nope') is defined }}",
    # keys that are integers, formatting, HTML
    "{% set d = {0: 'a', 16384: 'b', 'x': 1} %}{{ d[0] }}{{ d[16384] }}{{ d }}{{ d|tojson }}{{ 0 in d }}{{ 1 in d }}{{ '0' in d }}{{ d.get(0) }}{{ d.get(5, 'z') }}{{ d.keys()|list }}",
    "{% for k, v in {512: 1, 0: 2}|dictsort %}{{ k + 1 }}{{ v }} {% endfor %}{% for k in {3: 4} %}{{ k * 2 }}{% endfor %}{{ {1: 2}.items()|list }}{{ {1: 2} == {1: 2} }}{{ {1: 2}['1'] is defined }}{{ {1: 2}[true] }}",
    "{{ '<{}|{}>'.format('a', 1) }}{{ '{0}{1}{0}'.format('a', none) }}{{ '{x}{y_1}'.format(x=1, y_1=[2]) }}{{ '{{}}'.format() }}{{ 'a'.format(1) }}", "{{ '{}{}'.format(1) }}", "{{ '{x}'.format(y=1) }}", "{{ '}'.format() }}",
    "{{ '%s-%d%%' % ('a', 3) }}{{ '%s' % 'b' }}{{ '%d' % 2.9 }}{{ '%s %s'|format('a', 'b') }}{{ '%s' % [1, 'x'] }}", "{{ '%s' % ('a', 'b') }}", "{{ '%s%s' % 'a' }}", "{{ '%d' % 'a' }}",
    "{{ '<a>'|safe + '<b>' + \"it's\" }}{{ '<b>' + '<a>'|escape }}{{ '<a>'|safe ~ '<b>' }}{{ ('<a>'|safe)|e }}{{ ('<a> '|safe)|trim + '&' }}{{ ('<a>'|safe)|upper + '&' }}{{ ('<a>'|safe)|tojson + '<' }}{{ ('<a>'|safe + '<')|length }}",
    # HTML: + and methods escape, ~ and filters do not; what is HTML shows in the `+ '<'` behind it
    "{{ ('a<b'|safe ~ '<c>') + '<' }} {{ ('<' ~ 'a'|safe) + '<' }} {{ (1 ~ '<'|safe ~ none ~ ['<'|safe]) + '<' }} {{ ('<'|safe + '>'|safe) + '<' }}",
    "{{ ('a<b'|safe|replace('a', '<')) + '<' }} {{ ('a<b'|replace('a'|safe, '<')) + '<' }} {{ ('a<b'|replace('a', '<'|safe)) + '<' }} {{ ('a1'|safe|replace(1, '<')) + '<' }} {{ ('<b>'|e|replace('&lt;', '<')) + '<' }} {{ ('ab'|safe|replace('', '<')) + '<' }}",
    "{{ ('a<b'|safe).replace('a', '<') + '<' }} {{ ('a<b'|safe).replace('<', '&'|safe) + '<' }} {{ 'a<b'.replace('a', '<'|safe) + '<' }} {{ ('a<a<'|safe).replace('<', '>', 1) + '<' }} {{ ('&lt;'|safe).replace('<', 'x') }} {{ ('x'|safe).replace('', '<') }}",
    "{{ (['<', '&']|join('<'|safe)) + '<' }} {{ (['<'|safe, '&']|join('<')) + '<' }} {{ (['<'|safe]|join) + '<' }} {{ ([]|join('<'|safe)) + '<' }} {{ [1, none, ['<']]|join('<'|safe) }} {{ [{'a': '<'}, {'a': '&'}]|join('<'|safe, attribute='a') }}",
    "{{ ('<'|safe).join(['<', '&'|safe, 1, none, ['\"']]) + '<' }} {{ '<'.join(['<'|safe, '&']) + '<' }} {{ ('<'|safe).join([]) + '<' }} {{ ('<'|safe).join('ab') + '<' }}",
    "{{ ('<%s>'|safe % '<') + '<' }} {{ ('<%s>' % ('<'|safe)) + '<' }} {{ '<%s>'|safe % ('<'|safe) }} {{ '<%s,%s>'|safe % ('<', '&') }} {{ '<%d%%>'|safe % 3.7 }} {{ '<%s>'|safe % none }} {{ '<%s>'|safe % nothing }} {{ '<%s>'|safe % [1, '<', '<'|safe] }} {{ '<%s>'|safe % {'a': '<'} }} {{ '<%d>'|safe % true }}",
    "{{ ('<%s>'|safe|format('<')) + '<' }} {{ ('<%s>'|format('<'|safe)) + '<' }} {{ '<%s %d %s>'|safe|format('<', 3, '>'|safe) }} {{ ('a<'|safe|format) + '<' }}",
    "{{ '%s%s'|safe % '<' }}", "{{ '%s'|safe % ('a', 'b') }}", "{{ '%d'|safe % none }}", "{{ '%d'|safe % ['<'] }}",
    "{{ ('<{}>'|safe).format('<') + '<' }} {{ ('<{0}{0}>'|safe).format('<') }} {{ ('<{a}{{'|safe).format(a='<') }} {{ ('<{}{}>'|safe).format('<'|safe, ['<', 1]) }} {{ '<{}>'.format('<'|safe) + '<' }} {{ ('{}{}'|safe).format(none, nothing) }}",
    "{{ 'a<'|safe * 2 + '<' }} {{ 2 * ('a<'|safe) + '<' }} {{ 'a'|safe * 0 + '<' }} {{ 'a' * 2 + '<' }}",
    "{{ ('a<b'|safe)[0:2] + '<' }} {{ ('a<b'|safe)[1] + '<' }} {{ ('a<b'|safe)[::-1] + '<' }} {{ ('a<b'|safe)[5:] + '<' }} {{ ('a<b'|safe)|first + '<' }} {{ ('a<b'|safe)|last + '<' }} {{ ('a<b'|safe)|reverse + '<' }} {{ ('a<b'|safe)|list|first + '<' }} {% for c in 'a<'|safe %}{{ c + '<' }}{% endfor %}",
    "{{ ('a<b'|safe).upper() + '<' }} {{ ('A<b'|safe).lower() + '<' }} {{ ('a<b'|safe).title() + '<' }} {{ ('a<b'|safe).capitalize() + '<' }} {{ ('a<b'|safe).strip('a') + '<' }} {{ (' '|safe).strip() + '<' }} {{ ('a<b'|safe).removeprefix('a') + '<' }} {{ ('a<b'|safe).removesuffix('b') + '<' }}",
    "{{ ('a<b'|safe).split('<')[0] + '<' }} {{ ('<b'|safe).split('<')[0] + '<' }} {{ ('a b<'|safe).split()[1] + '<' }} {{ ('a<b'|safe).rsplit('<', 1)[1] + '<' }} {{ ('a\n<b'|safe).splitlines()[1] + '<' }} {{ ('a<b'|safe).partition('<')[0] + '<' }} {{ ('a<b'|safe).partition('<')[1] + '<' }} {{ ('a<b'|safe).partition('x')[1] + '<' }} {{ ('a<b'|safe).rpartition('x')[0] + '<' }}",
    "{{ ('a<'|safe)|capitalize + '<' }} {{ ('a<'|safe)|title + '<' }} {{ ('a<'|safe)|string + '<' }} {{ (' '|safe)|trim + '<' }} {{ 3|string + '<' }} {{ 3|safe + '<' }} {{ none|safe + '<' }} {{ nothing|safe + '<' }} {{ ['<']|safe + '<' }} {{ 'a'|default('x')|safe + '<' }} {{ (('a<'|safe)|lower)|replace('a', '<') }}",
    "{{ ('a<\nb'|safe)|indent + '<' }} {{ ('a<\n\nb'|safe)|indent('<', true, true) + '<' }} {{ 'a<\nb'|indent('<') + '<' }}",
    "{{ ['a<'|safe, {'x': '<'|safe}] }} {{ ['a<'|safe]|tojson + '<' }} {{ 'a<' == ('a<'|safe) }} {{ {'a<': 1}['a<'|safe] }} {{ ('<'|safe) in 'a<' }} {{ ['b<'|safe, 'a']|sort|join('<') }} {{ ['b<'|safe, 'a']|map('upper')|join('<') }} {{ (['<'|safe]|map('upper')|first) + '<' }}",
    "{% set x %}a<{% endset %}{{ x + '<' }}{% macro m() %}a<{% endmacro %}{{ m() + '<' }}{% filter replace('a', '<') %}a{% endfilter %}{% for m in messages %}{{ (m.content|safe + '<')[:9] }}{% endfor %}",
    "{{ '<'|safe + 1 }}", "{{ 1 + '<'|safe }}", "{{ '<'|safe + nothing }}", "{{ '<'|safe + ['<'] }}", "{{ ['a', 'b']|sum(start='') }}",
    # calls with * and **
    "{% macro m(a, b=2, c=3) %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ m(*[1]) }}{{ m(*(1, 5)) }}{{ m(7, *[8, 9]) }}{{ m(*'xyz') }}{{ m(*{'k': 1}) }}{{ m(*nothing) }}{{ m(*[]) }}{{ m(*[1, 2]|map('string')) }}{{ m(*{'k': 4}.values()) }}",
    "{% macro m(a, b=2, c=3) %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ m(**{'a': 1}) }}{{ m(1, **{'c': 4}) }}{{ m(c=9, *[1]) }}{{ m(1, c=9, **{'b': 8}) }}{{ m(*[1], **{'c': 5}) }}{{ m(*[1], c=6, **{'b': 5},) }}{{ m(1, **{}) }}{{ m(**dict(a=2, b=3)) }}{{ m( * [1] , ** {'b': 2 ** 3}) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }};{% endmacro %}{% macro w() %}{{ m(0, *varargs, **kwargs) }}{% endmacro %}{{ w(1, 2, x='y', z=none) }}{{ w() }}{{ w(*['a'], **{'b c': 1, '\u00e9': 2}) }}",
    "{% macro m(r) %}{{ r.role }}={{ r.content }};{% endmacro %}{% for x in messages %}{{ m(*[x]) }}{{ dict(**x) == x }}{{ dict({'role': 1}, **x).role }}{{ namespace(**x).content }}{% endfor %}",
    "{{ range(*[1, 9, 3])|list }}{{ 'abc'|replace(*['a', 'x']) }}{{ 'aXbXc'.split(*['X', 1]) }}{{ [1, 2]|join(**{'d': '+'}) }}{{ nothing|default(*['q']) }}{{ ''|default('q', **{'boolean': true}) }}{{ 9 is divisibleby(*[3]) }}{{ '{}-{x}'.format(*['a'], **{'x': 'b'}) }}{{ [3, 1]|sort(**{'reverse': true}) }}{{ [1, 2, 3]|select(*['gt', 1])|list }}{{ {'a': 1}.get(*['a']) }}",
    "{% macro m(a) %}{{ a }}[{{ caller(*[1], **{'y': 2}) }}]{% endmacro %}{% call(x, y) m(*['q']) %}{{ x }}{{ y }}{% endcall %}{% set f = namespace(g=[1, 2]) %}{{ m is defined }}{{ 2 ** 3 }}{{ [1][0] * 2 }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*5) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*none) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**nothing) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**[['a', 1]]) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**none) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**{1: 2}) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, **{'a': 2}) }}", "{% macro m(a) %}{{ a }}{{ kwargs }}{% endmacro %}{{ m(1, b=1, **{'b': 2}) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*[1, 2]) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**{'b': 2}) }}", "{{ dict(a=1, **{'a': 2}) }}", "{{ raise_exception(*['no']) }}", "{{ nothing(*[1]) }}", "{{ m(**namespace(a=1)) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**namespace(a=1)) }}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{% call m(**{'caller': 1}) %}x{% endcall %}",
    "{% if false %}{{ 1|from_json }}{% endif %}{{ 1|from_json if false else 2 }}",
]


def write(name, value):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    meta = {"jinja2": jinja2.__version__, "python": sys.version.split()[0], "maker": "make_goldens.py"}
    lines = ",\n  ".join(json.dumps(entry, ensure_ascii=True) for entry in value)
    with open(path, "w") as file:
        file.write('{\n "meta": %s,\n "entries": [\n  %s\n ]\n}\n' % (json.dumps(meta), lines))


families = []
for name, (trims, conversations, source) in FAMILIES.items():
    template = environment.from_string(source)
    cases = [case(template, c, flag, trims) for c in conversations for flag in (True, False)]
    families.append({"name": name, "template": source, "cases": cases})
write("families.json", families)
write("constructs.json", [
    {"name": source, "template": source, "cases": [case(environment.from_string(source), TURNS, True)]}
    for source in CONSTRUCTS])

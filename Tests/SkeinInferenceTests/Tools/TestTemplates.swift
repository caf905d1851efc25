/// Chat templates in words of our own that write calls and results as the families' do.
enum TestTemplates {
    /// Like Qwen 2.5 and 3.
    static let hermes = #"""
        {%- if tools %}
            {{- '<|im_start|>system\n' }}
            {%- if messages[0].role == 'system' %}{{- messages[0].content + '\n' }}{%- endif %}
            {{- 'Functions:\n<tools>' }}
            {%- for tool in tools %}{{- '\n' }}{{- tool | tojson }}{%- endfor %}
            {{- '\n</tools>\nWrite:\n<tool_call>\n{"name": <name>, "arguments": <object>}\n' }}
            {{- '</tool_call><|im_end|>\n' }}
        {%- elif messages[0].role == 'system' %}
            {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
        {%- endif %}
        {%- for message in messages %}
            {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
                {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
            {%- elif message.role == 'assistant' %}
                {{- '<|im_start|>assistant\n' + message.content }}
                {%- for call in message.tool_calls or [] %}
                    {%- if not loop.first or message.content %}{{- '\n' }}{%- endif %}
                    {{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
                    {{- call.function.arguments | tojson }}
                    {{- '}\n</tool_call>' }}
                {%- endfor %}
                {{- '<|im_end|>\n' }}
            {%- elif message.role == 'tool' %}
                {%- if messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
                {{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
                {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
                    {{- '<|im_end|>\n' }}
                {%- endif %}
            {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
        """#

    /// Like Llama 3.1: one call a turn.
    static let llama = #"""
        {{- bos_token }}
        {%- if messages[0].role == 'system' %}
            {%- set rules = messages[0].content %}{%- set messages = messages[1:] %}
        {%- else %}{%- set rules = '' %}{%- endif %}
        {{- '<|start_header_id|>system<|end_header_id|>\n\n' + rules + '<|eot_id|>' }}
        {%- if tools is not none %}
            {{- '<|start_header_id|>user<|end_header_id|>\n\nFunctions:\n' }}
            {%- for tool in tools %}{{- tool | tojson(indent=4) + '\n\n' }}{%- endfor %}
            {{- messages[0].content + '<|eot_id|>' }}
            {%- set messages = messages[1:] %}
        {%- endif %}
        {%- for message in messages %}
            {%- if 'tool_calls' in message %}
                {%- if message.tool_calls | length != 1 %}{{- raise_exception('one call') }}{%- endif %}
                {%- set call = message.tool_calls[0].function %}
                {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
                {{- '{"name": "' + call.name + '", "parameters": ' }}
                {{- call.arguments | tojson }}
                {{- '}<|eot_id|>' }}
            {%- elif message.role == 'tool' %}
                {{- '<|start_header_id|>ipython<|end_header_id|>\n\n' }}
                {{- message.content | tojson }}
                {{- '<|eot_id|>' }}
            {%- else %}
                {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}
                {{- message.content + '<|eot_id|>' }}
            {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}
            {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
        {%- endif %}
        """#

    /// Like Mistral Nemo: names of nine characters, or it refuses.
    static let mistral = #"""
        {{- bos_token }}
        {%- for message in messages %}
            {%- if message.role == 'user' %}
                {%- if tools is not none and loop.last %}
                    {{- '[AVAILABLE_TOOLS]' + tools | tojson + '[/AVAILABLE_TOOLS]' }}
                {%- endif %}
                {{- '[INST]' + message.content + '[/INST]' }}
            {%- elif message.tool_calls is defined and message.tool_calls is not none %}
                {{- '[TOOL_CALLS][' }}
                {%- for call in message.tool_calls %}
                    {%- if call.id is not defined or call.id | length != 9 %}
                        {{- raise_exception('nine') }}
                    {%- endif %}
                    {%- set text = call.function | tojson %}
                    {{- text[:-1] + ', "id": "' + call.id + '"}' }}
                    {{- ']' + eos_token if loop.last else ', ' }}
                {%- endfor %}
            {%- elif message.role == 'tool' %}
                {%- if message.tool_call_id is not defined or message.tool_call_id | length != 9 %}
                    {{- raise_exception('nine') }}
                {%- endif %}
                {{- '[TOOL_RESULTS]{"content": ' + message.content + ', "call_id": "' }}
                {{- message.tool_call_id + '"}[/TOOL_RESULTS]' }}
            {%- else %}{{- message.content + eos_token }}{%- endif %}
        {%- endfor %}
        """#

    /// Like Granite 3: it explains calls and does not write them.
    static let granite = #"""
        {{- '<|start_of_role|>system<|end_of_role|>When a tool is needed, answer with ' }}
        {{- '<|tool_call|> and a JSON list of tools.<|end_of_text|>\n' }}
        {%- if tools %}
            {{- '<|start_of_role|>available_tools<|end_of_role|>' + tools | tojson(indent=4) }}
            {{- '<|end_of_text|>\n' }}
        {%- endif %}
        {%- for message in messages %}
            {{- '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] }}
            {{- '<|end_of_text|>\n' }}
        {%- endfor %}
        {%- if add_generation_prompt %}
            {{- '<|start_of_role|>assistant<|end_of_role|>' }}
        {%- endif %}
        """#

    /// Like llama.cpp's for Phi-4-mini.
    static let phi = #"""
        {%- for message in messages %}
            {%- if message.role == 'tool' %}
                {{- '<|tool_response|>' + message.content | tojson + '<|end|>' }}
            {%- else %}
                {{- '<|' + message.role + '|>' + message.content }}
                {%- if loop.first and tools %}
                    {%- for tool in tools %}
                        {{- '<|tool|>' + tool.function | tojson + '<|/tool|>' }}
                    {%- endfor %}
                {%- endif %}
                {%- for call in message.tool_calls %}
                    {{- '<|tool_call|>' + call.function | tojson + '<|/tool_call|>' }}
                {%- endfor %}
                {{- '<|end|>' }}
            {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}
        """#

    /// Like SmolLM2: turns of text alone.
    static let plain = #"""
        {% for message in messages %}{% if loop.first and message['role'] != 'system' %}
        {{- '<|im_start|>system\nHelp.<|im_end|>\n' }}{% endif %}
        {{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}
        {%- endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}
        """#

    /// Like Gemma 2: user and model in turns, no system.
    static let turns = #"""
        {{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}
        {%- endif %}{% for message in messages %}
        {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('take turns') }}{% endif %}
        {{- '<start_of_turn>' + message['role'] + '\n' + message['content'] + '<end_of_turn>\n' }}
        {%- endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}
        """#

    /// Like Qwen 3 Coder: it shows tools, and writes calls as XML.
    static let otherCalls = #"""
        {%- for tool in tools or [] %}{{- tool | tojson }}{%- endfor %}
        {%- for message in messages %}
            {{- '<|im_start|>' + message.role + '\n' + message.content }}
            {%- for call in message.tool_calls %}
                {{- '<tool_call>\n<function=' + call.function.name + '>\n</function>\n</tool_call>' }}
            {%- endfor %}
            {{- '<|im_end|>\n' }}
        {%- endfor %}
        {%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
        """#
}

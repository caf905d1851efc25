/// Chat templates by the name of their format, for models without one or with a broken one. They are
/// written for Skein and give the format that the families document.
package enum BuiltInTemplate {
    package static var names: [String] { sources.keys.sorted() }

    package static func source(of name: String) -> String? { sources[name] }

    /// Bytes of a template file that are read; a longer one is refused as a template.
    package static let fileBytes = TemplateLimits.sourceBytes

    private static let sources: [String: String] = [
        "chatml": """
        {% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}\
        {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
        """,
        "llama3": """
        {{ bos_token }}{% for m in messages %}\
        {{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content|trim + '<|eot_id|>' }}\
        {% endfor %}{% if add_generation_prompt %}\
        {{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}
        """,
        "gemma": """
        {{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}\
        {{ raise_exception('System role not supported') }}{% endif %}\
        {% if (m.role == 'user') != (loop.index0 % 2 == 0) %}\
        {{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}\
        {% endif %}{% set role = 'model' if m.role == 'assistant' else m.role %}\
        {{ '<start_of_turn>' + role + '\\n' + m.content|trim + '<end_of_turn>\\n' }}{% endfor %}\
        {% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}
        """,
        "phi3": """
        {% for m in messages %}{% if m.role in ['system', 'user', 'assistant'] %}\
        {{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endif %}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}
        """,
        "mistral": """
        {{ bos_token }}{% set ns = namespace(system='') %}{% for m in messages %}\
        {% if m.role == 'system' %}{% set ns.system = m.content + '\\n\\n' %}\
        {% elif m.role == 'user' %}\
        {{ '[INST] ' + (ns.system + m.content) + ' [/INST]' }}{% set ns.system = '' %}\
        {% elif m.role == 'assistant' %}{{ ' ' + m.content|trim + eos_token }}\
        {% else %}{{ raise_exception('Only user, assistant and system roles are supported') }}\
        {% endif %}{% endfor %}
        """,
        "zephyr": """
        {% for m in messages %}{{ '<|' + m.role + '|>\\n' + m.content + eos_token + '\\n' }}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}
        """,
    ]
}

import SkeinBasics
import SkeinJSON
import SkeinText

@testable import SkeinRows

/// Templates, and what they make of rows.
protocol RendersRows {}

extension RendersRows {
    /// As templates of thinking models: the last answer has thoughts before it, empty ones if it has
    /// none, and so has the prompt for an answer, if `enable_thinking` is false.
    static var thinking: String {
        """
        {% for m in messages %}{{ '<|' + m.role + '|>' }}\
        {% if m.role == 'assistant' and loop.last %}\
        {{ '<think>' + (m.reasoning_content or '') + '</think>' }}{% endif %}\
        {{ m.content|trim + '<stop>' }}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|assistant|>' }}\
        {% if enable_thinking is defined and not enable_thinking %}{{ '<think></think>' }}{% endif %}\
        {% endif %}
        """
    }

    static var calls: String {
        """
        {% if tools %}{{ '<tools>' }}{% for t in tools %}{{ t|tojson }}{% endfor %}{% endif %}\
        {% for m in messages %}{{ '<|' + m.role + '|>' }}{{ m.content }}\
        {% for c in m.tool_calls or [] %}{{ '<call>' + (c.function|tojson) }}{% endfor %}\
        {{ '<stop>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
        """
    }

    static var plain: String {
        """
        {% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<stop>' }}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
        """
    }

    static var asking: String { "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}" }

    func encoder(
        _ template: String, format: PromptFormat = .chat, comparing: Bool = false,
        arguments: [JSONField] = []
    ) throws -> RowEncoder {
        try RowEncoder(
            encoder: TemplateTokenizer().encoder(template, arguments: arguments), format: format,
            trainedTurns: .all, maximumLength: 1000, comparesAnswers: comparing)
    }

    func row(_ line: String, comparing: Bool = false) throws(LineProblem) -> PairRow {
        var fields = RowFields()
        fields.comparesAnswers = comparing
        let bytes = Array(line.utf8)
        let row = bytes.withUnsafeBytes { bytes in
            Result { () throws(LineProblem) in try PairRow(line: bytes, fields: fields) }
        }
        return try row.get()
    }

    func texts(
        _ line: String, _ template: String, format: PromptFormat = .chat,
        comparing: Bool = false
    ) throws -> [String] {
        try encoder(template, format: format, comparing: comparing).marked(
            row(line, comparing: comparing))
    }
}

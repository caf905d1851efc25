import Testing

@testable import SkeinText

@Suite struct ChatTemplateTests {
    private func pieces(
        of source: String, _ contents: [String]
    ) throws -> [RenderedChat.Piece] {
        let messages = contents.map { ChatMessage(role: "user", content: $0) }
        return try ChatTemplate(source: source, name: "test").render(
            messages, addGenerationPrompt: false, tokens: TemplateTokens(begin: "", end: "")
        ).pieces
    }

    private func piece(_ text: String, _ messageIndex: Int?) -> RenderedChat.Piece {
        RenderedChat.Piece(text: text, messageIndex: messageIndex)
    }

    @Test("content keeps its origin when it is only cut or joined")
    func keptOrigin() throws {
        let cut: [(expression: String, text: String)] = [
            ("c", " one, two "), ("c|trim", "one, two"), ("c.strip()", "one, two"),
            ("c.lstrip()", "one, two "), ("c.rstrip(' ow')", " one, t"), ("c[1:4]", "one"),
            ("c[-2]", "o"), ("c[::2]", " n,to"), ("c[::-1]", " owt ,eno "),
            ("c.split(', ')[1]", "two "), ("c.split()[0]", "one,"), ("(c|trim)|last", "o"),
            ("c|default('')", " one, two "), ("c if c else ''", " one, two "),
            ("(c or 'x')|string", " one, two "), ("c|list|join", " one, two "),
            ("namespace(a=c).a", " one, two "), ("{'a': c}['a']", " one, two "),
        ]
        for (expression, text) in cut {
            let source = "{% set c = messages[0].content %}<{{ \(expression) }}>"
            #expect(
                try pieces(of: source, [" one, two "])
                    == [piece("<", nil), piece(text, 0), piece(">", nil)], "\(expression)")
        }
    }

    @Test("changed content is the template's own text")
    func lostOrigin() throws {
        for expression in ["c|upper", "c.lower()", "c|length", "c == 'a'"] {
            let source = "{% set c = messages[0].content %}{{ \(expression) }}"
            #expect(
                try pieces(of: source, ["a"]).map(\.messageIndex) == [nil], "\(expression)")
        }
    }

    @Test("neighbours of one origin are one piece, and empty contents give none")
    func merging() throws {
        let all = "{% for m in messages %}{{ m.content }}{% endfor %}"
        #expect(try pieces(of: all, ["a", "b"]) == [piece("a", 0), piece("b", 1)])
        #expect(try pieces(of: all, ["", "b", ""]) == [piece("b", 1)])
        #expect(try pieces(of: all, ["", ""]).isEmpty)
        let twice = "{{ messages[0].content }}{{ messages[0].content }}{{ 1 }}{{ 2 }}"
        #expect(try pieces(of: twice, ["ab"]) == [piece("abab", 0), piece("12", nil)])
        let joined = "{{ 'x' + messages[0].content ~ messages[1].content + messages[0].content }}"
        #expect(
            try pieces(of: joined, ["a", "b"])
                == [piece("x", nil), piece("a", 0), piece("b", 1), piece("a", 0)])
        let captured = "{% set t %}<{{ messages[0].content }}>{% endset %}{{ t[1:-1] }}{{ t }}"
        #expect(
            try pieces(of: captured, ["a\u{301}"])
                == [piece("a\u{301}", 0), piece("<", nil), piece("a\u{301}", 0), piece(">", nil)])
    }

    @Test("equal words of another message or of the template have their own origin")
    func sameWords() throws {
        let source = "yes {% for m in messages %}{{ m.content }} yes {% endfor %}"
        #expect(
            try pieces(of: source, ["yes", "yes"])
                == [
                    piece("yes ", nil), piece("yes", 0), piece(" yes ", nil), piece("yes", 1),
                    piece(" yes ", nil),
                ])
    }

    @Test("an answer that is split at its thought is still the answer")
    func thoughts() throws {
        let source = """
            {%- for message in messages -%}
            {%- set content = message.content -%}
            {%- if '</think>' in content -%}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1] -%}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') -%}
            {{- '[' + thought.strip('\\n') + ']' -}}
            {%- endif -%}
            {{- content -}}
            {%- endfor -%}
            """
        #expect(
            try pieces(of: source, ["why", "<think>\nhm\n</think>\n\nso"])
                == [
                    piece("why", 0), piece("[", nil), piece("hm", 1), piece("]", nil),
                    piece("so", 1),
                ])
    }

    @Test("the date is an argument, and 26 July 2024 unless it is given")
    func date() throws {
        let source = "{{ strftime_now('%d %b %Y, %A, day %j') }}"
        let day = try #require(TemplateDate(year: 2000, month: 2, day: 29))
        let given = try ChatTemplate(source: source, name: "test", date: day)
        let usual = try ChatTemplate(source: source, name: "test")
        for (template, text) in [
            (given, "29 Feb 2000, Tuesday, day 060"), (usual, "26 Jul 2024, Friday, day 208"),
        ] {
            let rendered = try template.render(
                [], addGenerationPrompt: false, tokens: TemplateTokens(begin: "", end: ""))
            #expect(rendered.text == text)
        }
        for (year, month, day) in [(2023, 2, 29), (1900, 2, 29), (2024, 13, 1), (0, 1, 1)] {
            #expect(TemplateDate(year: year, month: month, day: day) == nil)
        }
    }

    @Test("a template without tokens sees empty ones")
    func tokens() throws {
        let template = try ChatTemplate(
            source: "{{ bos_token + 'a' + eos_token }}{{ add_generation_prompt }}", name: "test")
        let rendered = try template.render(
            [], addGenerationPrompt: true, tokens: TemplateTokens(begin: "", end: "</s>"))
        #expect(rendered.text == "a</s>True")
    }
}

import Foundation
import Testing

@testable import SkeinText

/// Templates that try to exhaust stack, memory or time.
@Suite struct TemplateLimitsTests {
    /// What parsing and rendering `source` ends with, on a thread with the smallest stack that
    /// Skein may run on; nil when it renders.
    private func outcome(of source: String) throws -> TemplateError? {
        let box = Box()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            do {
                let template = try ChatTemplate(source: source, name: "t")
                _ = try template.render(
                    [ChatMessage(role: "user", content: "hi")], addGenerationPrompt: true,
                    tokens: TemplateTokens(begin: "", end: ""))
            } catch {
                box.error = error
            }
            done.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        done.wait()
        guard let error = box.error else { return nil }
        return try #require(error as? TemplateError)
    }

    /// Carries the error between two threads. Safe: the semaphore orders the accesses.
    private final class Box: @unchecked Sendable {
        var error: (any Error)?
    }

    private func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    @Test("nesting has a limit, and up to it the smallest stack suffices")
    func nesting() throws {
        let tower = "'' if 0 else none or not 0 and 1 == 'a' + 'b' ~ 4 % (5)|default("
        let shapes: [(String, (Int) -> String)] = [
            ("parentheses", { "{{ \(repeated("(", $0))1\(repeated(")", $0)) }}" }),
            ("lists", { "{{ \(repeated("[", $0))1\(repeated("]", $0))|length }}" }),
            ("all precedences", { "{{ \(repeated(tower, $0))1\(repeated(")", $0)) }}" }),
            ("signs", { "{{ \(repeated("-", $0))1 }}" }),
            ("negations", { "{{ \(repeated("not ", $0))1 }}" }),
            ("subscripts", { "{{ [0]\(repeated("[[0]", $0))[0]\(repeated("]", $0)) }}" }),
            ("inline ifs", { "{{ \(repeated("0 if 0 else ", $0))1 }}" }),
            ("filters", { "{{ \(repeated("1|default(", $0))1\(repeated(")", $0)) }}" }),
            ("ifs", { repeated("{% if 1 %}", $0) + repeated("{% endif %}", $0) }),
            ("loops", { repeated("{% for x in [1] %}", $0) + repeated("{% endfor %}", $0) }),
            ("captures", { repeated("{% set x %}", $0) + repeated("{% endset %}", $0) }),
        ]
        let refused = TemplateError.limit(
            .nesting(TemplateLimits.nesting), line: 1, template: "t")
        for (name, source) in shapes {
            #expect(try outcome(of: source(20)) == nil, "\(name)")
            for depth in [TemplateLimits.nesting / 2 - 1, TemplateLimits.nesting - 2] {
                let error = try outcome(of: source(depth))
                let isValueLimit =
                    error == .limit(.valueDepth(TemplateLimits.valueDepth), line: 1, template: "t")
                #expect(error == nil || isValueLimit || error == refused, "\(name), \(depth)")
            }
            #expect(try outcome(of: source(10_000)) == refused, "\(name)")
        }
    }

    @Test("long chains do not count as nesting")
    func chains() throws {
        for source in [
            "{{ 1\(repeated(" + 1", 10_000)) }}", "{{ 'a'\(repeated("|trim", 10_000)) }}",
            "{{ 1\(repeated(" or 0", 10_000)) }}", "{{ 'a'\(repeated(" ~ 'b'", 10_000)) }}",
            "{% if 0 %}\(repeated("{% elif 0 %}", 10_000)){% endif %}",
            "{{ 'a'\(repeated(".strip()", 10_000)) }}",
        ] {
            #expect(try outcome(of: source) == nil, "\(source.prefix(30))")
        }
    }

    @Test("growth ends at a limit")
    func growth() throws {
        let long = "'\(repeated("x", 1_000))'"
        func growing(_ start: String, _ step: String) -> String {
            "{% set n = namespace(x=\(start)) %}{% for a in \(long) %}"
                + "{% set n.x = \(step) %}{% endfor %}"
        }
        let table: [(source: String, limit: TemplateError.Limit)] = [
            (
                repeated("{% for a in \(long) %}", 4) + repeated("{% endfor %}", 4),
                .steps(4_000_000)
            ),
            (growing("'abcdefghij'", "n.x ~ n.x"), .textBytes(1 << 26)),
            (growing("'abcdefghij'", "n.x + n.x"), .textBytes(1 << 26)),
            (growing("'abcdefghij'", "[n.x, n.x]|join"), .textBytes(1 << 26)),
            (growing("[1]", "n.x + n.x"), .items(1 << 18)),
            (growing("[1]", "[n.x, n.x]"), .items(1 << 18)),
            (growing("[1]", "{'a': n.x, 'b': n.x}"), .items(1 << 18)),
            (growing("[1]", "[n.x]"), .valueDepth(32)),
            (growing("{}", "{'a': n.x}"), .valueDepth(32)),
        ]
        for (source, limit) in table {
            #expect(
                try outcome(of: source) == .limit(limit, line: 1, template: "t"),
                "\(source.prefix(60))")
        }
    }

    @Test("expensive operations on long texts are counted as work")
    func work() throws {
        let text =
            "{% set n = namespace(x='ab ') %}{% for a in '\(repeated("x", 21))' %}"
            + "{% set n.x = n.x ~ n.x %}{% endfor %}"
        let loop = "{% for a in '\(repeated("x", 1_000))' %}"
        for expression in [
            "n.x|upper", "n.x|lower", "n.x[::-1]", "n.x[5]", "n.x[1:-1]", "n.x.strip(n.x)",
            "(n.x ~ 'b') in n.x", "n.x == n.x", "n.x|length", "n.x.startswith(n.x)", "n.x|tojson",
            "messages[0][n.x]", "messages[n.x]", "{'a': 1}.get(n.x)", "n.x|first ~ n.x|last ~ n.x",
        ] {
            let source = "\(text)\(loop){% set y = \(expression) %}{% endfor %}"
            #expect(
                try outcome(of: source)
                    == .limit(.steps(TemplateLimits.steps), line: 1, template: "t"), "\(expression)"
            )
        }
    }

    @Test("a source that is too large is refused before it is read")
    func source() throws {
        let source = repeated("x", TemplateLimits.sourceBytes)
        #expect(try outcome(of: source) == nil)
        #expect(
            try outcome(of: source + "x")
                == .limit(.sourceBytes(TemplateLimits.sourceBytes), line: 1, template: "t"))
    }

    @Test("any cut of a template ends in a text or in a typed error")
    func cuts() throws {
        let source = """
            {%- set ns = namespace(a=1, b='x\\n') %}{# note #}
            {% for m in messages[::-1] if m.content|trim is not none %}
              {{- '<' + m['role'] ~ loop.index0 % 2 }}{{ [1, (2, 3), {'a': -1}]|tojson(indent=2) }}
              {%+ if m.content.split('a')[0].strip() in "b" or not loop.last %}x{% elif 1 %}
              {%- else -%}{% set ns.a = ns.a + 1 %}{% endif +%}
            {% endfor %}
            """
        let bytes = Array(source.utf8)
        for end in 0...bytes.count {
            _ = try outcome(of: String(decoding: bytes[..<end], as: UTF8.self))
        }
        for start in 0..<bytes.count {
            for junk in ["", "}", "'", "{{", "%}", "(", "|"] {
                var cut = bytes
                cut.replaceSubrange(start..<start + 1, with: Array(junk.utf8))
                _ = try outcome(of: String(decoding: cut, as: UTF8.self))
            }
        }
    }

    @Test("what grows from call to call, or works on many items for one step, ends at a limit")
    func filters() throws {
        let grown =
            "{% set ns = namespace(v=1) %}{% macro m() %}{% set ns.v = kwargs %}{% endmacro %}"
            + "{% for i in range(70) %}{{ m(x=ns.v, y=ns.v) }}{% endfor %}"
        guard case .limit? = try outcome(of: grown) else {
            Issue.record("kwargs grew without a limit")
            return
        }
        let nested = "{{ 'a'|map(" + repeated("'map',", 50) + "'upper')|list }}"
        guard case .unsupported? = try outcome(of: nested) else {
            Issue.record("map of map was not refused")
            return
        }
        for filter in ["sum", "max", "min"] {
            #expect(
                try outcome(
                    of: "{% set xs = range(100000) %}{% for i in range(1000) %}"
                        + "{% set y = xs|\(filter) %}{% endfor %}")
                    == .limit(.steps(TemplateLimits.steps), line: 1, template: "t"), "\(filter)")
        }
    }

    @Test("macros and loops that call themselves end at a limit, on the smallest stack")
    func recursion() throws {
        let refused = TemplateError.limit(.calls(TemplateLimits.callDepth), line: 1, template: "t")
        let calls = "{% macro f(a) %}{{ f(a) }}{% endmacro %}{{ f(1) }}"
        #expect(try outcome(of: calls) == refused)
        let blocks = "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}"
        #expect(try outcome(of: blocks + "{{ f() }}") == refused)
        let tower = repeated("{% if 1 %}{% for x in [1] %}", 20)
        let towerEnd = repeated("{% endfor %}{% endif %}", 20)
        let deep = "{% macro f(a) %}\(tower){{ f(a) }}\(towerEnd){% endmacro %}{{ f(1) }}"
        #expect(try outcome(of: deep) == refused)
        let loops = "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"
        #expect(try outcome(of: loops) == refused)
        // Ten levels of a macro that walks a nested schema are nothing unusual.
        let walk = """
            {% macro f(n) %}{% if n %}{% for x in [1] %}{% set y = f(n - 1) %}{{ y }}{% endfor %}\
            {% endif %}{% endmacro %}{{ f(10) }}
            """
        #expect(try outcome(of: walk) == nil)
    }
}

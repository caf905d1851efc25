import SkeinBasics
import Testing

@testable import SkeinText

@Suite struct TemplateErrorTests {
    private func error(parsing source: String) -> TemplateError? {
        do {
            _ = try ChatTemplate(source: source, name: "t")
            return nil
        } catch {
            return error as? TemplateError
        }
    }

    private func error(rendering source: String) throws -> TemplateError? {
        let template = try ChatTemplate(source: source, name: "t")
        do {
            _ = try template.render(
                [ChatMessage(role: "user", content: "hi")], addGenerationPrompt: true,
                tokens: TemplateTokens(begin: "", end: ""))
            return nil
        } catch {
            return error as? TemplateError
        }
    }

    @Test("a malformed template is refused with what is wrong and its line")
    func malformed() {
        let table: [(source: String, fault: TemplateError.SyntaxFault, line: Int)] = [
            ("a\n{% if 1 %}\nb", .unclosedBlock(tag: "if"), 2),
            ("{% if 1 %}{% else %}\nb", .unclosedBlock(tag: "if"), 1),
            ("\n\n{% for x in y %}{% if x %}{% endif %}", .unclosedBlock(tag: "for"), 3),
            ("{% set x %}", .unclosedBlock(tag: "set"), 1),
            ("{% generation %}", .unclosedBlock(tag: "generation"), 1),
            ("a\n{% else %}", .unexpectedTag("else"), 2),
            ("{% endif %}", .unexpectedTag("endif"), 1),
            ("{% for x in y %}{% elif %}{% endfor %}", .unexpectedTag("elif"), 1),
            ("{% if 1 %}{% else %}{% elif 2 %}{% endif %}", .unexpectedTag("elif"), 1),
            ("{% if 1 %}{% endfor %}", .unexpectedTag("endfor"), 1),
            ("a\n{{ 'b }}\n", .unterminatedString, 2),
            ("{{ \"a\\\" }}", .unterminatedString, 1),
            ("{{ 'a\\", .unterminatedString, 1),
            ("\n{{ a", .unterminatedTag, 2),
            ("{% if a", .unterminatedTag, 1),
            ("{{ (a }}", .unbalancedBracket("}"), 1),
            ("{{", .unterminatedTag, 1),
            ("\n{# a", .unterminatedComment, 2),
            ("{#}", .unterminatedComment, 1),
            ("{{ a ? b }}", .unexpectedCharacter("?"), 1),
            ("{{ \u{e9} }}", .unexpectedCharacter("\u{e9}"), 1),
            ("{{ a ! }}", .unexpectedCharacter("!"), 1),
            ("{{ a) }}", .unbalancedBracket(")"), 1),
            ("{{ [a) }}", .unbalancedBracket(")"), 1),
            ("{{ '\\xg1' }}", .invalidEscape("\\xg1"), 1),
            ("{{ '\\u12' }}", .invalidEscape("\\u12"), 1),
            ("{{ '\\ud800' }}", .invalidEscape("\\ud800"), 1),
            ("{{ 99999999999999999999 }}", .integerTooLarge("99999999999999999999"), 1),
            ("{{ }}", .unexpectedToken(found: "\"}}\"", expected: "an expression"), 1),
            ("{{ a b }}", .unexpectedToken(found: "\"b\"", expected: "\"}}\""), 1),
            (
                "{% if %}a{% endif %}",
                .unexpectedToken(found: "\"%}\"", expected: "an expression"), 1
            ),
            (
                "{% %}", .unexpectedToken(found: "\"%}\"", expected: "the name of a tag"), 1
            ),
            (
                "{% for x of y %}{% endfor %}",
                .unexpectedToken(found: "\"of\"", expected: "\"in\""), 1
            ),
            (
                "{{ a. }}", .unexpectedToken(found: "\"}}\"", expected: "the name of an attribute"),
                1
            ),
            ("{{ a| }}", .unexpectedToken(found: "\"}}\"", expected: "the name of a filter"), 1),
            ("{{ a is }}", .unexpectedToken(found: "\"}}\"", expected: "the name of a test"), 1),
            ("{{ a[] }}", .unexpectedToken(found: "\"]\"", expected: "an expression"), 1),
            ("{{ a[1:2:3:4] }}", .unexpectedToken(found: "\":\"", expected: "\"]\""), 1),
            ("{{ {'a' 1} }}", .unexpectedToken(found: "the number 1", expected: "\":\""), 1),
            ("{{ [1 2] }}", .unexpectedToken(found: "the number 2", expected: "\",\" or \"]\""), 1),
            (
                "{{ 012 }}", .unexpectedToken(found: "the number 012", expected: "no leading zero"),
                1
            ),
            (
                "{{ x|join(d=1, 2) }}",
                .unexpectedToken(found: "the number 2", expected: "an argument with a name"), 1
            ),
            (
                "{{ f(*a, 2) }}",
                .unexpectedToken(found: "the number 2", expected: "an argument with a name"), 1
            ),
            (
                "{{ f(*a, *b) }}",
                .unexpectedToken(found: "\"*\"", expected: "an argument with a name"), 1
            ),
            ("{{ f(**a, b=2) }}", .unexpectedToken(found: "\"b\"", expected: "\")\" after **"), 1),
            ("{{ f(**a, *b) }}", .unexpectedToken(found: "\"*\"", expected: "\")\" after **"), 1),
            ("{% set true = 1 %}", .cannotAssign(to: "true"), 1),
            ("{% for not in x %}{% endfor %}", .cannotAssign(to: "not"), 1),
            ("{{ a is string is string }}", .chainedTests, 1),
        ]
        for (source, fault, line) in table {
            #expect(
                error(parsing: source) == .syntax(fault, line: line, template: "t"), "\(source)")
        }
    }

    @Test("what Jinja has and this interpreter lacks is named, with its line")
    func unsupported() {
        let table: [(source: String, construct: String, line: Int)] = [
            ("\n{% do f(x) %}", "{% do %}", 2),
            ("{% include 'a' %}", "{% include %}", 1),
            ("{% import 'a' as b %}", "{% import %}", 1),
            ("{% extends 'a' %}", "{% extends %}", 1),
            ("{% block a %}{% endblock %}", "{% block %}", 1),
            ("{% for loop in x %}{% endfor %}", "assignment to \"loop\"", 1),
            ("{{ a\n|xmlattr }}", "the filter \"xmlattr\"", 2),
            ("{{ a|no.such }}", "the filter \"no.such\"", 1),
            ("{{ a is escaped }}", "the test \"escaped\"", 1),
            ("{{ 0x1F }}", "a number that is not decimal", 1),
            ("{{ a[1, 2] }}", "a subscript with several items", 1),
            ("{{ '\\N{BULLET}' }}", "the escape \"\\N\"", 1),
        ]
        for (source, construct, line) in table {
            #expect(
                error(parsing: source)
                    == .unsupported(construct: construct, line: line, template: "t"), "\(source)")
        }
    }

    @Test("as in Jinja, an unknown filter or test in a branch is an error when the branch is taken")
    func unknownInBranch() throws {
        let table = [
            ("{% if A %}{{ 1|from_json }}{% endif %}", "the filter \"from_json\""),
            ("{{ 1|from_json if A else 2 }}", "the filter \"from_json\""),
            ("{{ 2 if not A else 1 is odder }}", "the test \"odder\""),
        ]
        for (source, construct) in table {
            #expect(try error(rendering: source.replacing("A", with: "false")) == nil, "\(source)")
            #expect(
                try error(rendering: source.replacing("A", with: "true"))
                    == .unsupported(construct: construct, line: 1, template: "t"), "\(source)")
        }
    }

    @Test("what only its values show to be unsupported is named at run time")
    func unsupportedValues() throws {
        let table: [(source: String, construct: String)] = [
            ("{{ namespace() }}", "the conversion of a Namespace to text"),
            ("{{ '%5d' % 1 }}", "formatting with \"%\" and more than s and d"),
            ("{{ {none: 2} }}", "a dict whose keys are neither strings nor integers"),
            ("{{ {true: 2} }}", "a dict with true or false as a key"),
            ("{{ messages[0].items }}", "the conversion of a function to text"),
            ("{{ messages.append(1) }}", "the method \"append\", which changes a list"),
            ("{{ messages[0].update(a=1) }}", "the method \"update\", which changes a dict"),
            ("{{ '{:d}'.format(1) }}", "the field \":d\" in format()"),
            ("{{ cycler(1) }}", "the function \"cycler\""),
            ("{{ [1]|select('escaped') }}", "a test that is not known by name"),
            ("{{ strftime_now('%c') }}", "\"%c\" in the format of strftime_now"),
            ("{{ [namespace()] }}", "a Namespace inside a list"),
            ("{% set n = namespace() %}{% set n.n = n %}", "a Namespace inside a namespace"),
            (
                "{% set n = namespace(_a=1) %}",
                "a namespace attribute that begins with an underscore"
            ),
            (
                "{% for x in [1] %}{% for y in loop %}{% endfor %}{% endfor %}",
                "iteration over \"loop\""
            ),
            ("{{ 1|tojson(separators=1) }}", "tojson with this value of \"separators\""),
        ]
        for (source, construct) in table {
            #expect(
                try error(rendering: source)
                    == .unsupported(construct: construct, line: 1, template: "t"), "\(source)")
        }
    }

    @Test("a failure says which values did not work, and where")
    func failures() throws {
        #expect(
            try error(rendering: "a\n{{ 'b' +\n 1 }}")
                == .evaluation(
                    .operands(operator: "+", left: "str", right: "int"), line: 2, template: "t"))
        #expect(
            try error(rendering: "{{ 9223372036854775807 + 1 }}")
                == .evaluation(.integerOverflow, line: 1, template: "t"))
        #expect(
            try error(rendering: "{{ (-9223372036854775807 - 1) // -1 }}")
                == .evaluation(.integerOverflow, line: 1, template: "t"))
        #expect(
            try error(rendering: "{% for a, b in [(1, 2, 3)] %}{% endfor %}")
                == .evaluation(.unpacking(expected: 2, found: 3), line: 1, template: "t"))
        #expect(
            try error(rendering: "\n{{ messages[1].content }}")
                == .undefined(hint: "list object has no element 1", line: 2, template: "t"))
        #expect(
            try error(rendering: "{{ 'a' + messages[0].name }}")
                == .undefined(
                    hint: "'dict object' has no attribute 'name'", line: 1, template: "t"))
        #expect(
            try error(rendering: "\n\n{{ raise_exception('no ' ~ messages[0].content) }}")
                == .raised(message: "no hi", line: 3, template: "t"))
    }

    @Test("every error says how to go on without the template, and is bad data")
    func prose() throws {
        let errors: [TemplateError?] = [
            error(parsing: "{% if"), error(parsing: "{% block a %}"),
            try error(rendering: "{{ raise_exception('a') }}"), try error(rendering: "{{ a.b }}"),
            try error(rendering: "{{ 1 + 'a' }}"),
            error(parsing: String(repeating: "x", count: TemplateLimits.sourceBytes + 1)),
        ]
        for error in errors {
            let explanation = try #require(error).explanation
            #expect(explanation.place == "t, line 1")
            #expect(explanation.remedy.contains("--chat-template NAME|FILE"))
            #expect(explanation.remedy.contains("--prompt-format eos|raw"))
            #expect(explanation.status == .badData)
        }
        let block = try #require(errors[1]).explanation
        #expect(block.what == "the chat template uses {% block %}, which is not supported")
    }
}

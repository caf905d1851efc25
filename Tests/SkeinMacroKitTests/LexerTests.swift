import Testing

@testable import SkeinMacroKit

@Suite struct LexerTests {
    static func tokens(_ source: String) -> [String] {
        let lexer = Lexer(Array(source.utf8))
        return lexer.tokens.map { String(decoding: lexer.bytes[$0.range], as: UTF8.self) }
    }

    static let cuts: [(String, [String])] = [
        ("", []),
        ("a b.c", ["a", "b", ".", "c"]),
        ("`a b`", ["`a b`"]),
        ("`a\nb", ["`", "a", "b"]),
        ("1_000.5e3...0xFF", ["1_000.5e3", ".", ".", ".", "0xFF"]),
        ("a->b-c", ["a", "->", "b", "-", "c"]),
        ("a//b\nc/*d/*e*/f*/g", ["a", "c", "g"]),
        ("/* open", []),
        (#""a\"b"c"#, [#""a\"b""#, "c"]),
        (#""\(f("x", (1)))" y"#, [#""\(f("x", (1)))""#, "y"]),
        (##"#"a"b\#("c")"# d"##, [##"#"a"b\#("c")"#"##, "d"]),
        (##"#"""# x"##, [##"#"""#"##, "x"]),
        ("\"open\nx", ["\"open", "x"]),
        ("\"\"\"\na \"b\" \"\"\nc\"\"\" d", ["\"\"\"\na \"b\" \"\"\nc\"\"\"", "d"]),
        ("\"\" x", ["\"\"", "x"]),
        ("\"\\", ["\"\\"]),
        ("(/a\\/b/, 3)", ["(", "/a\\/b/", ",", "3", ")"]),
        ("a / b / c", ["a", "/", "b", "/", "c"]),
        ("x = 6/2/1", ["x", "=", "6", "/", "2", "/", "1"]),
        ("x = .in / 2 / y", ["x", "=", ".", "in", "/", "2", "/", "y"]),
        ("\\/a/", ["\\", "/", "a", "/"]),
        ("(/ a/)", ["(", "/", "a", "/", ")"]),
        ("#/a/b\"/# c", ["#/a/b\"/#", "c"]),
        ("#/\na }\n/# c", ["#/\na }\n/#", "c"]),
        ("#/open\nx", ["#/open", "x"]),
        ("#if x", ["#", "if", "x"]),
        ("größe 名", ["größe", "名"]),
    ]

    @Test("sources are cut into tokens", arguments: cuts)
    func cut(source: String, tokens: [String]) {
        #expect(Self.tokens(source) == tokens)
    }

    @Test("texts inside texts have a limit")
    func depth() {
        let source = String(repeating: "\"\\(", count: MacroLimits.textDepth + 1)
        #expect(Lexer(Array(source.utf8)).tooDeep == source.utf8.count - 3)
        #expect(Lexer(Array(source.dropLast(3).utf8)).tooDeep == nil)
    }

    @Test("a row of one mark is read in time that grows with its length")
    func rows() {
        let marks = [
            "#", "#/\n", "\"", "\"\"\"", "#\"\"\"", "/*", "\\(", "<", "(", "/", "`", "a<", "\\/",
        ]
        for mark in marks {
            let source = String(repeating: mark, count: 60_000 / mark.utf8.count)
            let declaration = "struct A { var a: Int = \(source) }"
            _ = AttachedExpansion.of(
                AttachedRequest(
                    macro: "GenerableMacro", role: "member", declaration: declaration))
        }
    }

    @Test("texts become literals of Swift")
    func literals() {
        #expect(SwiftLiteral.text("a\"\\\n\r\t\u{1}é") == #""a\"\\\n\r\t\u{1}é""#)
        #expect(Name("`a b`").plain == "a b")
        #expect(Name("`").plain == "`")
    }
}

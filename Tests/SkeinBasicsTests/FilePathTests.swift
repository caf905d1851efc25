import Testing

@testable import SkeinBasics

@Suite struct FilePathTests {
    /// As dirname(3) and basename(3), except that basename("") is ".".
    static let cases: [(path: String, parent: String, name: String)] = [
        ("x", ".", "x"), ("y/", ".", "y"), ("ü", ".", "ü"), ("-", ".", "-"), ("q//r", "q", "r"),
        ("/", "/", "/"), ("//", "/", "/"), ("", ".", ""), (".", ".", "."), ("..", ".", ".."),
        ("a/..", "a", ".."), ("a/b", "a", "b"), ("a/b/", "a", "b"), ("a//b//", "a", "b"),
        ("/x", "/", "x"), ("//x/", "/", "x"), ("/a/b", "/a", "b"), ("./x", ".", "x"),
        ("../x", "..", "x"), ("a/ü", "a", "ü"), ("ü/a", "ü", "a"), ("a b/c d", "a b", "c d"),
        // A slash followed by a combining mark is one Character and still a slash.
        ("a/\u{301}b", "a", "\u{301}b"), ("a.b/c.d", "a.b", "c.d"), (" ", ".", " "),
    ]

    @Test("parent and name of a path", arguments: cases.indices)
    func parts(index: Int) {
        let (path, parent, name) = Self.cases[index]
        // Compared as bytes: Swift takes "ü" of one and of two scalars for equal.
        #expect(Array(FilePath.parent(of: path).utf8) == Array(parent.utf8), "\(path)")
        #expect(Array(FilePath.name(of: path).utf8) == Array(name.utf8), "\(path)")
    }

    @Test("a path without slashes at its end")
    func trimmed() {
        for (path, expected) in [
            ("a/", "a"), ("a//", "a"), ("/", "/"), ("//", "/"), ("", ""), ("a/b", "a/b"),
        ] { #expect(FilePath.trimmed(path) == expected) }
    }

    @Test("a name in a directory")
    func join() {
        #expect(FilePath.join("a", "b") == "a/b")
        #expect(FilePath.join("a/", "b") == "a/b")
        #expect(FilePath.join("/", "b") == "/b")
        #expect(FilePath.join("", "b") == "b")
        #expect(FilePath.join(".", "b") == "./b")
    }
}

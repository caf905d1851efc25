import SkeinBasics
import Testing

@testable import SkeinLaunch

@Suite struct LaunchTextTests {
    private static func shown(_ prefixer: inout LinePrefixer, _ texts: [String]) -> String {
        texts.map { text in
            prefixer.lines(of: Array(text.utf8)).map(\.shown).joined()
        }.joined() + (prefixer.rest()?.shown ?? "")
    }

    @Test("lines get a name, however their bytes are split")
    func prefixes() {
        let text = "one\n\ntwo é\r\nthree"
        let expected = "[w1] one\n[w1] \n[w1] two é\n[w1] three\n"
        let bytes = Array(text.utf8)
        for size in 1...bytes.count {
            var prefixer = LinePrefixer(name: "w1", format: .text)
            var out = ""
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = bytes[start..<min(start + size, bytes.count)]
                out += prefixer.lines(of: piece).map(\.shown).joined()
            }
            out += prefixer.rest()?.shown ?? ""
            #expect(out == expected, "pieces of \(size)")
            #expect(prefixer.rest() == nil)
        }
    }

    @Test("a line without an end is passed on in pieces")
    func endless() {
        var prefixer = LinePrefixer(name: "w1", format: .text)
        let bytes = [UInt8](repeating: 120, count: LinePrefixer.longestLine + 3)
        #expect(prefixer.lines(of: bytes).map(\.text.count) == [LinePrefixer.longestLine])
        #expect(prefixer.rest()?.text == "xxx")
    }

    @Test("JSON lines stay JSON lines")
    func json() {
        var prefixer = LinePrefixer(name: "w1", format: .json)
        #expect(
            Self.shown(&prefixer, ["{\"level\":\"info\"}\nFatal \"error\"\n{}\n"]) == """
                {"from":"w1","level":"info"}
                {"from":"w1","level":"info","message":"Fatal \\"error\\""}
                {"from":"w1","level":"info","message":"{}"}

                """)
    }

    private static let lines: [(String, CoordinatorLine)] = [
        ("listening on 127.0.0.1:40011", .listening(address: "127.0.0.1:40011")),
        ("listening on [::1]:40011", .listening(address: "[::1]:40011")),
        ("listening on what", .listening(address: "what:7534")),
        ("listening on ; rm", .other), ("x listening on h:1", .other),
        ("step 12/170  epoch 1  loss 2.3140", .step), ("step 50  checkpoint x", .step),
        ("worker w1 (10.0.0.7:4011) joins with 8 threads", .joined(name: "w1")),
        ("worker a-b.c (10.0.0.7:4011) joins with 1 thread", .joined(name: "a-b.c")),
        ("worker w1 (10.0.0.7:4011) is gone: reset", .other),
        (
            "{\"level\":\"info\",\"message\":\"worker w1 (h:1) joins with 1 thread\"}",
            .joined(name: "w1")
        ),
        ("stepping", .other), ("", .other), ("{", .other), ("{\"message\":3}", .other),
        (
            "{\"level\":\"info\",\"message\":\"listening on h:1\",\"address\":\"h:1\"}",
            .listening(address: "h:1")
        ),
        ("{\"level\":\"info\",\"message\":\"step\",\"step\":1}", .step),
    ]

    @Test("launch reads its coordinator's lines", arguments: lines.indices)
    func coordinatorLine(index: Int) {
        let (line, expected) = Self.lines[index]
        #expect(CoordinatorLine(line) == expected, "\(line)")
    }

    @Test("words are quoted so that a shell reads them back unchanged")
    func shellWords() {
        #expect(ShellWords.line(["a-b", "c d", "", "e'f", "$x"]) == "a-b 'c d' '' 'e'\\''f' '$x'")
        #expect(ShellWords.quoted("--a=/b:c@d.e,f%g+h") == "--a=/b:c@d.e,f%g+h")
        #expect(ShellWords.quoted("~/x") == "'~/x'")
    }
}

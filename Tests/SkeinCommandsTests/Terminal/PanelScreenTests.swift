import SkeinTestSupport
import Testing

@testable import SkeinCommands

@Suite("what the panel writes, on a terminal") struct PanelScreenTests {
    private struct Desk {
        var screen = PanelScreen()
        var terminal: TerminalEmulator

        init(columns: Int, rows: Int) {
            terminal = TerminalEmulator(columns: columns, rows: rows) {
                TerminalText.columns($0)
            }
        }

        mutating func write(_ text: String?, _ panel: [String]) {
            let size = TerminalSize(columns: terminal.columns, rows: terminal.rows)
            terminal.feed(
                screen.bytes(
                    text: text, panel: panel.map { PanelLine($0, .good) }, size: size,
                    colours: true))
        }
    }

    @Test("lines scroll above the panel, which stays at the bottom")
    func scrolling() {
        var desk = Desk(columns: 20, rows: 6)
        for number in 1...20 {
            desk.write(nil, ["step \(number)", "waits"])
            desk.write("line \(number)\n", ["step \(number)", "waits"])
        }
        #expect(desk.terminal.screen == ["line 18", "line 19", "line 20", "step 20", "waits"])
        #expect(desk.terminal.everything.count == 22)
        #expect(desk.terminal.column == 0)
        #expect(desk.terminal.unknown.isEmpty)
    }

    @Test("a panel that gets shorter or longer, and one that ends, leave nothing")
    func sizes() {
        var desk = Desk(columns: 20, rows: 8)
        desk.write("first\n", ["a", "bbbbbb", "c"])
        desk.write(nil, ["bb"])
        #expect(desk.terminal.screen == ["first", "bb"])
        desk.write(nil, ["a", "b", "c", "d"])
        #expect(desk.terminal.screen == ["first", "a", "b", "c", "d"])
        desk.write("last\n", [])
        #expect(desk.terminal.screen == ["first", "last"])
        #expect(desk.terminal.row == 2)
    }

    @Test("a long line is wrapped by the terminal, and a text without a line break gets one")
    func longLines() {
        var desk = Desk(columns: 10, rows: 6)
        desk.write(nil, ["panel"])
        desk.write("abcdefghijklm", ["panel"])
        desk.write("x\ny\n", ["panel"])
        #expect(desk.terminal.screen == ["abcdefghij", "klm", "x", "y", "panel"])
    }

    @Test(
        "after a change of the size no part of the old panel is left",
        arguments: [(30, 10), (12, 10), (5, 12), (60, 10), (29, 6), (30, 3)])
    func resizing(columns: Int, rows: Int) {
        var desk = Desk(columns: 30, rows: 10)
        let panel = [String(repeating: "p", count: 40), "waits for a worker", "w1 idle"]
        desk.write("one\n", panel)
        desk.write("two\n", panel)
        desk.terminal.resize(columns: columns, rows: rows)
        desk.write("three\n", ["new"])
        #expect(desk.terminal.everything.suffix(2) == ["three", "new"])
        if rows >= 6, columns >= 12 {
            #expect(desk.terminal.everything == ["one", "two", "three", "new"])
        }
        desk.write("four\n", [])
        #expect(desk.terminal.everything.last == "four")
    }

    @Test("a panel that stands there already is not written again")
    func unchanged() {
        var screen = PanelScreen()
        let size = TerminalSize.usual
        let panel = [PanelLine("a")]
        #expect(!screen.bytes(text: nil, panel: panel, size: size, colours: false).isEmpty)
        #expect(screen.bytes(text: nil, panel: panel, size: size, colours: false).isEmpty)
        screen.forget()
        #expect(
            screen.bytes(text: nil, panel: panel, size: size, colours: false)
                == "\ra\u{1b}[K\r\n\u{1b}[J")
    }

    @Test("without colours there is no look; with them each piece ends its own")
    func colours() {
        var line = PanelLine("a", .bold)
        line.append("b\u{1b}[31m", .plain)
        #expect(line.rendered(colours: false) == "ab?[31m")
        #expect(line.rendered(colours: true) == "\u{1b}[1ma\u{1b}[0mb?[31m")
    }

    @Test("a wide character is never cut in half")
    func wide() {
        #expect(PanelLine("日本語").columns == 6)
        #expect(PanelLine("日本語").cut(columns: 5).text == "日本")
        #expect(TerminalText.cut("日本語日本語", columns: 6, mark: "…") == "日本…")
        var desk = Desk(columns: 6, rows: 4)
        desk.write(nil, ["日本語"])
        desk.write("x\n", ["日本語"])
        #expect(desk.terminal.screen == ["x", "日本"])
    }
}

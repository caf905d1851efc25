/// A line of the panel: pieces of printable text, each with a look.
struct PanelLine: Sendable, Equatable {
    enum Look: Sendable, Equatable { case plain, bold, faint, good, bad }

    struct Piece: Sendable, Equatable {
        var text: String
        var look: Look
    }

    private(set) var pieces: [Piece] = []

    init(_ text: String = "", _ look: Look = .plain) {
        append(text, look)
    }

    var text: String { pieces.map(\.text).joined() }
    var columns: Int { pieces.reduce(0) { $0 + TerminalText.columns($1.text) } }

    /// Appends a text, of which only what is printable is shown.
    mutating func append(_ text: String, _ look: Look = .plain) {
        guard !text.isEmpty else { return }
        pieces.append(Piece(text: TerminalText.printable(text), look: look))
    }

    /// Its beginning, at most `limit` columns wide.
    func cut(columns limit: Int) -> PanelLine {
        var line = PanelLine()
        var room = limit
        for piece in pieces where room > 0 {
            let text = TerminalText.prefix(piece.text, columns: room)
            line.pieces.append(Piece(text: text, look: piece.look))
            if text.unicodeScalars.count < piece.text.unicodeScalars.count { break }
            room -= TerminalText.columns(text)
        }
        return line
    }

    /// The line as a terminal wants it (ECMA-48, SGR).
    func rendered(colours: Bool) -> String {
        guard colours else { return text }
        return pieces.map { piece in
            let code: String
            switch piece.look {
            case .plain: return piece.text
            case .bold: code = "1"
            case .faint: code = "2"
            case .good: code = "32"
            case .bad: code = "33"
            }
            return "\u{1b}[\(code)m\(piece.text)\u{1b}[0m"
        }.joined()
    }
}

/// Columns and rows of a terminal.
struct TerminalSize: Sendable, Equatable {
    var columns: Int
    var rows: Int

    /// What is assumed of a terminal that does not tell.
    static let usual = TerminalSize(columns: 80, rows: 24)
}

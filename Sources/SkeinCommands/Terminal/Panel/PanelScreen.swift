/// What the panel has on the screen, and the bytes that bring something else there. Pure.
///
/// The cursor rests in the first column of an empty row below the panel: whatever comes from elsewhere,
/// such as results, a shell after Ctrl-Z or the end by a signal, begins on a line of its own. The cursor
/// is never hidden and no mode of the terminal is changed, so nothing needs to be restored.
struct PanelScreen: Sendable {
    /// Columns of each line that stands there.
    private var drawn: [Int] = []
    private var last = ""
    private var lastSize = TerminalSize.usual

    /// Forgets what stands there: the next panel begins below it.
    mutating func forget() {
        (drawn, last) = ([], "")
    }

    /// The bytes for a text and a panel below it.
    ///
    /// - Parameters:
    ///   - text: Goes above the panel and stays; nil: none.
    ///   - panel: As many lines as `size` has room for, none wider than it.
    ///   - size: The terminal's size now, which may have changed since the last call.
    ///   - colours: Whether looks are shown.
    /// - Returns: Nothing if the panel stands there already.
    mutating func bytes(
        text: String?, panel: [PanelLine], size: TerminalSize, colours: Bool
    ) -> String {
        let lines = panel.prefix(max(0, size.rows - 1)).map { $0.cut(columns: size.columns - 1) }
        let rendered = lines.map { $0.rendered(colours: colours) }
        let picture = rendered.joined(separator: "\n")
        if text == nil, picture == last, size == lastSize { return "" }
        var bytes = "\r"
        let rows = rowsAbove(size)
        if rows > 0 { bytes += "\u{1b}[\(rows)A" }
        if let text {
            bytes += "\u{1b}[J" + text
            if !text.utf8.isEmpty, text.utf8.last != 0x0A { bytes += "\n" }
        } else if size != lastSize {
            bytes += "\u{1b}[J"
        }
        // Each line erases the rest of its row, so that a redraw does not flicker.
        bytes += rendered.map { $0 + "\u{1b}[K\r\n" }.joined() + "\u{1b}[J"
        drawn = lines.map(\.columns)
        (last, lastSize) = (picture, size)
        return bytes
    }

    /// Rows from the panel's first to the cursor's. A terminal that was made narrower has wrapped the
    /// lines anew.
    private func rowsAbove(_ size: TerminalSize) -> Int {
        let width = max(1, size.columns)
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
        return min(rows, max(0, size.rows - 1))
    }
}

/// What a terminal shows below the lines of a log. Only the thread that writes the lines calls it, so
/// lines and panel never mix, and a terminal that stops reading stops nothing else.
package protocol LogPanel: Sendable {
    /// What to write for a text above the panel.
    ///
    /// - Parameter text: Usually whole lines; nil: the panel alone is drawn again.
    /// - Returns: Bytes that also draw the panel below the text.
    func bytes(writing text: [UInt8]?) -> [UInt8]

    /// What to write when the panel ends.
    func closingBytes() -> [UInt8]
}

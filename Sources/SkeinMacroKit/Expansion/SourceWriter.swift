/// Writes an expansion line by line.
struct SourceWriter {
    private(set) var source = ""
    private var depth = 0

    /// A line at the depth reached. What a user wrote may have lines of its own: they stay as they
    /// are, because a text of several lines depends on its indentation.
    mutating func line(_ text: String) {
        source += String(repeating: "    ", count: depth) + text + "\n"
    }

    /// `head {`, the lines that `body` writes one step deeper, and `}`.
    mutating func block(_ head: String, _ body: (inout SourceWriter) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    /// Lines one step deeper.
    mutating func indented(_ body: (inout SourceWriter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }
}

/// Names of the run-time library, with the module: a user's own types may be called the same.
enum Library {
    static let module = "SkeinSessions"
    static let content = "SkeinSessions.GeneratedContent"
    static let generable = "SkeinSessions.Generable"
    static let id = "SkeinSessions.GenerationID"
    static let schema = "SkeinSessions.GenerationSchema"
    static let property = "SkeinSessions.GenerationSchema.Property"
    static let unionCase = "SkeinSessions.GenerationSchema.Case"
    static let writer = "SkeinSessions.PropertyWriter"
    static let fromContent = "SkeinSessions.ConvertibleFromGeneratedContent"
}

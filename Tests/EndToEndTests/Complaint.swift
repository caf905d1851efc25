import SkeinLab
import SkeinTestSupport
import Testing

/// What a command that fails must print.
struct Complaint {
    var status: Int32
    /// Texts that the message must contain.
    var mentions: [String]

    /// The row of a table that is being checked, for the message of a failure.
    @TaskLocal static var current = ""

    init(_ status: Int32, _ mentions: String...) {
        self.status = status
        self.mentions = mentions
    }

    /// Checks the exit status and the message's three lines: what, where, how to mend it.
    ///
    /// - Parameters:
    ///   - ending: how the process ended.
    ///   - isPlaced: whether the error has a place.
    ///   - sourceLocation: the caller's.
    func check(
        _ ending: SkeinProcess.Ending, isPlaced: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let lines = ending.error.split(separator: "\n")
        let message = lines[(lines.firstIndex { $0.hasPrefix("error: ") } ?? lines.endIndex)...]
        let remark = Comment(rawValue: "\(Self.current): \(ending.error)")
        #expect(ending.status == status, remark, sourceLocation: sourceLocation)
        let beginnings = message.map { $0.prefix(5) }
        #expect(
            beginnings == (isPlaced ? ["error", "  at:", "  fix"] : ["error", "  fix"]), remark,
            sourceLocation: sourceLocation)
        for mention in mentions {
            #expect(
                message.contains { $0.contains(mention) }, "no \"\(mention)\" in \(remark)",
                sourceLocation: sourceLocation)
        }
    }
}

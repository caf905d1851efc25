import SkeinBasics

/// Renders an error for people or for readers of a JSON log.
enum ErrorReport {
    /// An error that does not explain itself is a bug in this program, not a fault of the input.
    static func explanation(of error: any Error) -> Explanation {
        if let explained = error as? any Explained { return explained.explanation }
        return Explanation(
            what: "internal error: \(error)",
            remedy: "report it with the command line and the model's name", status: .internalError)
    }

    /// Up to three lines, or one JSON object for `--log-format json`; ends with a line break.
    static func text(of explanation: Explanation, format: Log.Format) -> String {
        switch format {
        case .text:
            var text = "error: \(explanation.what)\n"
            if !explanation.place.isEmpty { text += "  at: \(explanation.place)\n" }
            if !explanation.remedy.isEmpty { text += "  fix: \(explanation.remedy)\n" }
            return text
        case .json:
            return JSONLine([
                ("level", .string("error")), ("message", .string(explanation.what)),
                ("at", .string(explanation.place)), ("fix", .string(explanation.remedy)),
                ("status", .integer(Int(explanation.status.rawValue))),
            ]).text + "\n"
        }
    }
}

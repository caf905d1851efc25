/// Text from a file that another tool or person wrote, for a sentence on a terminal or in a log.
package enum ForeignText {
    /// Characters that are shown.
    private static let limit = 200

    /// - Parameter text: any text.
    /// - Returns: its beginning, without characters that a terminal would obey.
    package static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar in
            // Names of files have icons of private use.
            scalar.isVisible || scalar.properties.generalCategory == .privateUse ? scalar : "?"
        }
        return String(String.UnicodeScalarView(scalars))
            + (text.unicodeScalars.count > limit ? "..." : "")
    }

    /// - Parameters:
    ///   - text: any text.
    ///   - limit: how many characters are kept, at most.
    ///   - mark: what stands in place of a control character.
    /// - Returns: the beginning of the text, in one line, without what a terminal would obey.
    package static func withoutControls(
        _ text: String, limit: Int, mark: Unicode.Scalar = "?"
    ) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.properties.generalCategory == .control ? mark : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension Unicode.Scalar {
    /// Whether it is no control, mark of direction or end of a line, which a terminal obeys, and no
    /// character without a meaning, which it does not show.
    package var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        default: true
        }
    }
}

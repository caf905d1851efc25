/// Text from a file that another tool or person wrote, for a sentence on a terminal or in a log.
package enum ForeignText {
    /// Characters that are shown.
    private static let limit = 200

    /// - Parameter text: any text.
    /// - Returns: its beginning, without characters that a terminal would obey.
    package static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
                "?"
            default: String(scalar)
            }
        }
        return scalars.joined() + (text.unicodeScalars.count > limit ? "..." : "")
    }
}

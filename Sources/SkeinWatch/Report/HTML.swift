import SkeinBasics

/// Text for a page: everything that comes from a run passes through `text`.
enum HTML {
    /// A text as content or as the value of an attribute in quotation marks. Control characters, which
    /// HTML forbids, become U+FFFD; so do those that turn the direction of what follows.
    static func text(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            case _ where isHidden(scalar): escaped.unicodeScalars.append("\u{FFFD}")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }

    /// A number with at most two digits behind the point, for coordinates.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let text = Figures.fixed(value, 2)
        if text.hasSuffix(".00") { return String(text.dropLast(3)) }
        return text.hasSuffix("0") ? String(text.dropLast()) : text
    }

    /// A table whose first column names the rows.
    ///
    /// - Parameters:
    ///   - caption: says what it is, also to those who cannot see it.
    ///   - columns: the heads of the other columns; none: no line of heads.
    ///   - rows: texts, which are escaped here.
    /// - Returns: the table in a box that scrolls.
    static func table(caption: String, columns: [String], rows: [ReportFacts.Row]) -> String {
        let heads = columns.map { "<th scope=\"col\">\(text($0))</th>" }.joined()
        let head = columns.isEmpty ? "" : "<thead><tr><td></td>\(heads)</tr></thead>"
        let body = rows.map { row in
            "<tr><th scope=\"row\">\(text(row.name))</th>"
                + row.values.map { "<td>\(text($0))</td>" }.joined() + "</tr>"
        }
        return """
            <div class="scroll" role="region" aria-label="\(text(caption))" tabindex="0">\
            <table><caption>\(text(caption))</caption>\(head)\
            <tbody>\(body.joined(separator: "\n"))</tbody></table></div>
            """
    }
}

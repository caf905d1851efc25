import SkeinBasics
import SkeinJSON
import SkeinRows
import SkeinTraining

/// What `skein data` shows of a study: for people, and as JSON.
struct DataPage {
    let study: DataStudy
    let files: DataFiles
    let advice: DataAdvice
    let decode: @Sendable ([Int32]) -> String

    private static let barColumns = 40
    private static let longestRows = 5
    /// Characters of a part of a row; its middle is left out.
    private static let partCharacters = 400

    var findings: [DataStudy.Finding] { study.findings }

    // MARK: - For people

    func lines(rows count: Int) -> [PanelLine] {
        examples(count) + [PanelLine(heading)] + histogram + longest + advice.lines + verdict
    }

    private func examples(_ count: Int) -> [PanelLine] {
        var lines: [PanelLine] = []
        for row in study.rows.prefix(count) {
            let trained = row.sequences.reduce(0) { $0 + $1.lossTokenCount }
            let title =
                row.sequences.isEmpty
                ? "\(row.place.text): left out, \(Figures.count(row.tokens, "token"))"
                : "\(row.place.text): \(Figures.count(row.tokens, "token")), \(trained) trained"
            lines.append(PanelLine(title, .bold))
            for sequence in row.parts(decode: decode, limit: Self.partCharacters) {
                lines += Self.lines(of: sequence)
            }
            lines.append(PanelLine())
        }
        return lines
    }

    /// Trained parts stand between `>>>` and `<<<`, so that they show without colours, too.
    private static func lines(of parts: [DataReport.Part]) -> [PanelLine] {
        var lines = [PanelLine("  | ")]
        for part in parts {
            let text = part.isTrained ? ">>>" + part.text + "<<<" : part.text
            for (index, piece) in text.split(
                omittingEmptySubsequences: false, whereSeparator: \.isNewline
            ).enumerated() {
                if index > 0 { lines.append(PanelLine("  | ")) }
                lines[lines.count - 1].append(String(piece), part.isTrained ? .good : .faint)
            }
        }
        return lines
    }

    private var heading: String {
        let share =
            study.tokenCount == 0 ? 0 : Double(study.lossTokenCount) / Double(study.tokenCount)
        let weighted = files.train.contains { $0.weight != 1 }
        let epoch = weighted ? " (\(Figures.grouped(study.epochRows)) in an epoch)" : ""
        return
            "\(Figures.count(study.rows.count, "row"))\(epoch), \(Figures.count(study.tokenCount, "token")), "
            + "\(Figures.percent(share)) of them trained; format \(study.format.rawValue), "
            + "\(Figures.count(study.validationRows, "validation row"))"
    }

    private var bars: LengthHistogram {
        LengthHistogram(study.rows.map(\.tokens).filter { $0 > 0 }, border: study.maximumLength)
    }

    private var histogram: [PanelLine] {
        let bars = bars.bars
        let most = bars.map(\.rows).max() ?? 0
        let names = bars.map { "\($0.tokens.lowerBound)-\($0.tokens.upperBound)" }
        let width = names.map(\.count).max() ?? 0
        return [PanelLine("tokens of a row:")]
            + zip(bars, names).map { bar, name in
                let isCut = bar.tokens.lowerBound > study.maximumLength
                // A bar with rows is never invisible.
                let columns = most == 0 ? 0 : (bar.rows * Self.barColumns + most - 1) / most
                var line = PanelLine(
                    "  " + String(repeating: " ", count: width - name.count) + name + " ")
                line.append(String(repeating: "█", count: columns), isCut ? .bad : .good)
                line.append(" \(Figures.grouped(bar.rows))")
                if isCut { line.append(" (cut at \(study.maximumLength))", .bad) }
                return line
            }
    }

    private var longest: [PanelLine] {
        [PanelLine("longest rows:")]
            + study.longest(Self.longestRows).map {
                PanelLine("  \($0.place.text): \(Figures.count($0.tokens, "token"))")
            }
    }

    private var verdict: [PanelLine] {
        var lines: [PanelLine] = []
        if !study.duplicates.isEmpty {
            lines.append(
                PanelLine("duplicates: \(Figures.count(study.duplicates.count, "row"))"))
        }
        guard !findings.isEmpty else {
            return lines + [PanelLine("nothing in the data would silently hurt", .good)]
        }
        lines.append(PanelLine("would silently hurt:", .bold))
        for finding in findings {
            lines.append(PanelLine("  \(finding.text)", .bad))
            lines += finding.places.map { PanelLine("    \($0)") }
        }
        return lines
    }

    // MARK: - For machines

    func fields(rows count: Int) -> [(String, JSONValue)] {
        [
            (
                "files",
                .list(
                    files.train.map {
                        .fields([("path", .text($0.path)), ("weight", .decimal($0.weight))])
                    })
            ),
            ("rows", .integer(study.rows.count)),
            ("bad_lines", .integer(study.lines.badLineCount)),
            ("validation_rows", .integer(study.validationRows)),
            ("epoch_rows", .integer(study.epochRows)),
            ("tokens", .integer(study.tokenCount)),
            ("loss_tokens", .integer(study.lossTokenCount)),
            ("prompt_format", .text(study.format.rawValue)),
            ("max_length", .integer(study.maximumLength)),
            (
                "histogram",
                .list(
                    bars.bars.map {
                        .fields([
                            ("from", .integer($0.tokens.lowerBound)),
                            ("to", .integer($0.tokens.upperBound)), ("rows", .integer($0.rows)),
                        ])
                    })
            ),
            ("longest", .list(study.longest(Self.longestRows).map(Self.json))),
            ("without_loss", .integer(study.withoutLoss.count)),
            ("without_end", .integer(study.withoutEnd.count)),
            ("cut", .integer(study.cut.count)),
            ("duplicates", .integer(study.duplicates.count)),
            ("leaks", .integer(study.leaks.count)),
            (
                "findings",
                .list(
                    findings.map {
                        .fields([
                            ("what", .text($0.text)),
                            ("places", .list($0.places.map { .text($0) })),
                        ])
                    })
            ),
            ("advice", .fields(advice.fields)),
            ("examples", .list(study.rows.prefix(count).map(example))),
        ]
    }

    private static func json(_ row: DataStudy.Row) -> JSONValue {
        .fields([("place", .text(row.place.text)), ("tokens", .integer(row.tokens))])
    }

    private func example(_ row: DataStudy.Row) -> JSONValue {
        let sequences = row.parts(decode: decode, limit: .max).map { parts in
            JSONValue.list(
                parts.map {
                    .fields([("text", .text($0.text)), ("trained", .bool($0.isTrained))])
                })
        }
        return .fields([
            ("place", .text(row.place.text)), ("tokens", .integer(row.tokens)),
            ("sequences", .list(sequences)),
        ])
    }
}

import SkeinBasics

extension DataStudy {
    /// Something because of which a run would be worse than it looks.
    package struct Finding: Sendable, Equatable {
        /// A sentence without a full stop.
        package let text: String
        /// Where the first few rows are.
        package let places: [String]
    }

    /// All of them; none if the data is as it should be.
    package var findings: [Finding] {
        var findings: [Finding] = []
        func add(_ rows: [Row], _ text: (Int) -> String) {
            guard !rows.isEmpty else { return }
            findings.append(
                Finding(text: text(rows.count), places: Self.few(rows.map(\.place.text))))
        }
        add(withoutLoss.filter { $0.tokens == 0 }) {
            "\(Figures.count($0, "row")) without a token to learn: left out of the run"
        }
        add(withoutLoss.filter { $0.tokens > 0 }) {
            "\(Figures.count($0, "row")) without a token to learn within --max-length "
                + "\(maximumLength): left out of the run"
        }
        add(withoutEnd.filter { $0.tokens > maximumLength }) {
            "\(Figures.count($0, "row")) longer than --max-length \(maximumLength): the end is cut "
                + "off, and the model does not learn to stop there"
        }
        add(withoutEnd.filter { $0.tokens <= maximumLength }) {
            "\(Figures.count($0, "row")) ending without an end-of-turn: the model does not learn to "
                + "stop there"
        }
        add(rows.filter { !$0.sequences.isEmpty && $0.endsATurn && $0.tokens > maximumLength }) {
            "\(Figures.count($0, "row")) longer than --max-length \(maximumLength): what the model should "
                + "learn beyond it is cut off"
        }
        for remark in RowRemark.allCases where DataWarning.matters(remark, lines, format) {
            add(rows.filter { $0.remarks.contains(remark) }, remark.text)
        }
        let usable = rows.count - withoutLoss.count
        if duplicates.count * 100 > usable {
            findings.append(
                Finding(
                    text: "\(Figures.count(duplicates.count, "row")) of \(usable) the same as an "
                        + "earlier one: each counts as often as it stands there",
                    places: Self.few(duplicates.map { "\($0.row.text) = \($0.first.text)" })))
        }
        if !leaks.isEmpty {
            findings.append(
                Finding(
                    text:
                        "\(leaks.count) of \(Figures.count(validationRows, "validation row")) trained "
                        + "on, too: the validation loss will look too good",
                    places: Self.few(leaks.map { "\($0.validation.text) = \($0.training.text)" })))
        }
        for warning in warnings {
            switch warning {
            // Said above, with places.
            case .skipped, .manyCut, .repeatedRows, .leaked, .remark: continue
            // A user who holds nothing out knows it.
            case .noValidation: continue
            default: findings.append(Finding(text: warning.text, places: []))
            }
        }
        return findings
    }

    private static func few(_ places: [String]) -> [String] {
        Array(places.prefix(Limits.keptBadLines))
    }
}

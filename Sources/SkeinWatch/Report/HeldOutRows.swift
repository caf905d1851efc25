import SkeinRows
import SkeinTensors
import SkeinTraining

/// Which rows a run's validation losses are of, as far as its records say.
///
/// Losses can be compared where the rows are the same and are read in the same way: they come from
/// the same file, or are the same share of the same data; as many tokens of them carry loss; format
/// and kind of the loss agree. Equal encoded rows are the same whatever else differs.
struct HeldOutRows: Sendable, Equatable {
    private let source: [String]
    private let tokens: Int
    private let reading: [String]
    private let loss: PreferenceLoss?
    private let encoded: String?

    /// - Returns: nil for a run whose records have no loss of held-out rows.
    init?(_ run: ReportedRun) {
        guard let validation = run.bestValidation ?? run.startValidation, validation.tokens > 0
        else { return nil }
        let (file, configuration) = (run.run, run.run.configuration)
        source =
            file.validationDigest.map { ["file", $0] } ?? [
                "share", file.dataDigest, "\(configuration.validationSplit)",
                "\(configuration.splitBy ?? .row)", "\(configuration.addressedSplitSeed)",
            ]
        tokens = validation.tokens
        reading = [
            "\(configuration.promptFormat)", "\(configuration.trainOn)", file.templateDigest ?? "",
        ]
        loss = configuration.preferenceLoss
        encoded = file.rowsDigest
    }

    /// Whether losses of the two can be compared.
    func isComparable(to other: HeldOutRows) -> Bool {
        guard loss == other.loss, tokens == other.tokens else { return false }
        if let encoded, encoded == other.encoded { return true }
        return source == other.source && reading == other.reading
    }

    /// Runs whose validation losses can be compared, by their places in the list.
    ///
    /// - Returns: the groups in the order of their first runs; none holds a run without such losses.
    static func groups(_ runs: [ReportedRun]) -> [[Int]] {
        var groups: [(rows: HeldOutRows, places: [Int])] = []
        for (place, run) in runs.enumerated() {
            guard let rows = HeldOutRows(run) else { continue }
            if let group = groups.firstIndex(where: { $0.rows.isComparable(to: rows) }) {
                groups[group].places.append(place)
            } else {
                groups.append((rows, [place]))
            }
        }
        return groups.map(\.places)
    }

    /// What a reader of several runs' validation losses must know; nil: all can be compared.
    static func remark(_ runs: [ReportedRun]) -> String? {
        let groups = groups(runs)
        guard groups.count > 1 else { return nil }
        let together = groups.filter { $0.count > 1 }.map { places in
            places.map { runs[$0].name }.joined(separator: ", ")
        }
        return
            "The validation losses are not comparable: they are of different rows, or of rows that "
            + "were read in different ways"
            + (together.isEmpty
                ? "." : "; those of these runs are: \(together.joined(separator: " | ")).")
    }
}

import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTraining

/// What the runs of a sweep have ended with, for people and for machines.
struct SweepTable {
    /// One run.
    struct Row: Equatable {
        var name: String
        /// Texts of the options in which recipes differ.
        var settings: [String?]
        var steps: Int
        var isComplete = false
        var keptStep = 0
        var validationLoss: Double?
        var testLoss: Double?
        /// nil: nothing is known of the beginning.
        var improvement: Improvement?
        /// SHA-256 of the adapter; nil if there is none yet.
        var digest: String?
        /// What ended it, if that was an error.
        var problem: String?
    }

    /// In the sweep's directory, with all rows.
    static let fileName = "sweep.json"

    /// Names of the options in which recipes differ.
    let options: [String]
    let rows: [Row]
    /// Whether all validation losses are of the same rows and of the same kind.
    let isComparable: Bool

    /// - Parameters:
    ///   - sweep: that has run.
    ///   - texts: of each recipe, by option name.
    ///   - endings: of its runs.
    /// - Throws: `FileError` when an adapter cannot be read.
    init(_ sweep: SweepRun, texts: [[String: String]], endings: [SweepRun.Ending]) throws {
        let options = Set(texts.flatMap(\.keys)).sorted()
        self.options = options
        let jobs = sweep.runs.map(\.job)
        isComparable = jobs.allSatisfy { job in
            job.hasSameValidation(as: jobs[0])
                && (job.configuration.bestMetric ?? .loss) == .loss
        }
        rows = try zip(zip(sweep.members, sweep.runs), zip(texts, endings)).map { run, end in
            var row = Row(
                name: run.0.name,
                settings: options.map { option in
                    // What a recipe leaves to the run, others may name.
                    run.1.job.resolved.first { $0.name == option }?.text ?? end.0[option]
                },
                steps: run.1.job.plan.stepCount)
            switch end.1 {
            case .ended(let ending):
                row.steps = ending.outcome.step
                row.isComplete = ending.outcome.isComplete
                row.keptStep = ending.outcome.keptStep
                row.validationLoss = ending.outcome.bestValidationLoss
                row.testLoss = ending.test?.loss
                row.improvement = ending.outcome.improvement
                if row.isComplete { row.digest = try ending.directory.adapterDigest().description }
            case .failed(let error):
                row.steps = 0
                row.problem = (error as? any Explained)?.explanation.what ?? "\(error)"
            }
            return row
        }
    }

    /// The complete run with the lowest validation loss; nil if there is none, or if losses cannot be
    /// compared.
    var best: Row? {
        guard isComparable else { return nil }
        return rows.filter { $0.isComplete && $0.validationLoss != nil }.min {
            ($0.validationLoss ?? .infinity) < ($1.validationLoss ?? .infinity)
        }
    }

    /// Lines for people; the best first.
    var text: String {
        let sorted = rows.enumerated().sorted {
            let (left, right) = (rank($0.element), rank($1.element))
            return (left, $0.offset) < (right, $1.offset)
        }.map(\.element)
        let hasTest = rows.contains { $0.testLoss != nil }
        var cells = [
            ["recipe"] + options + ["steps", "best step", "validation loss"]
                + (hasTest ? ["test loss"] : []) + ["sha256"]
        ]
        for row in sorted {
            cells.append(
                [row.name] + row.settings.map { $0 ?? "-" } + [
                    "\(row.steps)", row.isComplete ? "\(row.keptStep)" : "-",
                    Self.decimals(row.validationLoss),
                ] + (hasTest ? [Self.decimals(row.testLoss)] : []) + [
                    row.digest.map { String($0.prefix(12)) }
                        ?? (row.problem == nil ? "interrupted" : "failed")
                ])
        }
        return TextTable.text(cells)
    }

    /// Failed runs last, then those that were stopped.
    private func rank(_ row: Row) -> Double {
        if row.problem != nil { return .infinity }
        return row.isComplete
            ? (isComparable ? row.validationLoss : nil) ?? .greatestFiniteMagnitude / 2
            : .greatestFiniteMagnitude
    }

    /// One JSON object, as `sweep.json` has it.
    var json: String {
        let runs = rows.map { row in
            JSONValue.fields([
                ("name", .text(row.name)),
                (
                    "recipe",
                    .fields(
                        zip(options, row.settings).map { ($0, $1.map { .text($0) } ?? .null) })
                ),
                ("steps", .integer(row.steps)), ("complete", .bool(row.isComplete)),
                ("best_step", .integer(row.keptStep)),
                ("validation_loss", row.validationLoss.map { .decimal($0) } ?? .null),
                ("test_loss", row.testLoss.map { .decimal($0) } ?? .null),
                ("sha256", row.digest.map { .text($0) } ?? .null),
                ("error", row.problem.map { .text($0) } ?? .null),
            ]).written
        }
        return "{\"best\": \(best.map { JSONValue.quoted($0.name) } ?? "null"), \"runs\": [\n  "
            + runs.joined(separator: ",\n  ") + "\n]}\n"
    }

    private static func decimals(_ number: Double?) -> String {
        number.map { String(format: "%.4f", $0) } ?? "-"
    }
}

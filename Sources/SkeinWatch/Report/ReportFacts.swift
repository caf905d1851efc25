import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinTraining

/// What HTML and Markdown both say, as rows of text: a name and a value for each run.
enum ReportFacts {
    struct Row: Sendable, Equatable {
        var name: String
        var values: [String]
    }

    /// What came out.
    static func results(_ runs: [ReportedRun]) -> [Row] {
        func row(_ name: String, _ value: (ReportedRun) -> String) -> Row {
            Row(name: name, values: runs.map(value))
        }
        let isGivenUp = runs.contains { $0.run.otherEnginesFrom != nil }
        let hash = row("one hash") { run in
            run.run.otherEnginesFrom.map {
                "given up: workers with other engines were admitted from step \(Figures.grouped($0)) on"
            } ?? "kept"
        }
        let start = row("validation loss before the first step") { run in
            guard let start = run.startValidation else { return "none" }
            let isBetter = run.improvement?.isBetter
            return loss(start.loss) + (isBetter == false ? ", and no better afterwards" : "")
        }
        let best = row("best validation loss") { run in
            guard let best = run.bestValidation else { return "none" }
            let accuracy = best.tokenAccuracy.map { ", accuracy \(loss($0))" } ?? ""
            return "\(loss(best.loss))\(accuracy) after step \(Figures.grouped(best.step))"
        }
        let hasBest = runs.contains { $0.bestValidation != nil }
        let hasStart = runs.contains { $0.startValidation != nil }
        var rows = [
            row("steps") { Figures.grouped($0.totals.lastStep) },
            row("epochs") { Figures.grouped($0.totals.epoch) },
            row("first loss") { loss($0.totals.firstLoss) },
            row("last loss") { loss($0.totals.lastLoss) },
        ]
        if hasBest { rows.append(best) }
        rows += [
            row("tokens") { Figures.grouped($0.totals.tokens) },
            row("tokens with loss") { Figures.grouped($0.totals.lossTokens) },
            row("adapter SHA-256") { $0.adapter ?? "no adapter yet" },
        ]
        if hasStart { rows.append(start) }
        if isGivenUp { rows.append(hash) }
        return rows
    }

    /// Whether all runs came to the same adapter; nil where this cannot be said.
    static func equality(_ runs: [ReportedRun]) -> String? {
        let adapters = runs.compactMap(\.adapter)
        guard runs.count > 1, adapters.count == runs.count else { return nil }
        return Set(adapters).count == 1
            ? "All adapters are the same, to the last bit." : "The adapters are not all the same."
    }

    /// Where the time went.
    static func timing(_ runs: [ReportedRun]) -> [Row] {
        func row(_ name: String, _ value: (ReportedRun.Totals) -> String?) -> Row? {
            let values = runs.map { value($0.totals) }
            guard values.contains(where: { $0 != nil }) else { return nil }
            return Row(name: name, values: values.map { $0 ?? "one process" })
        }
        func perStep(_ total: Double, _ totals: ReportedRun.Totals) -> Double {
            totals.steps > 0 ? total / Double(totals.steps) : 0
        }
        func bytes(_ name: String, _ value: @escaping (ReportedRun.Totals) -> Int?) -> Row? {
            row(name) { totals in
                value(totals).map {
                    "\(Figures.bytes($0)), \(Figures.bytes($0 / max(1, totals.steps))) a step"
                }
            }
        }
        return [
            row("seconds of all steps") { Figures.seconds($0.seconds) },
            row("a step") { Figures.seconds(perStep($0.seconds, $0)) },
            row("slowest step") {
                $0.slowest.map {
                    "\(Figures.seconds($0.seconds)), step \(Figures.grouped($0.step))"
                } ?? "none"
            },
            row("tokens per second") { Figures.significant($0.tokensPerSecond) },
            row("coordinator's processor") { totals in
                totals.coordinatorSeconds.map {
                    "\(Figures.seconds($0)), "
                        + Figures.percent(totals.seconds > 0 ? $0 / totals.seconds : 0)
                        + " of the steps' time"
                }
            },
            bytes("sent to workers") { $0.sentBytes },
            bytes("received from workers") { $0.receivedBytes },
            bytes("packed gradients") { $0.payloadBytes },
        ].compactMap(\.self)
    }

    /// Options and origins. With several runs those that differ come from `differences`.
    static func configuration(_ runs: [ReportedRun]) -> [Row] {
        func shown(_ value: JSONValue?) -> String {
            switch value {
            case nil, .null: "none"
            case .text(let text): text
            case .some(let value): value.written
            }
        }
        func row(_ name: String, _ value: (RunFile) -> String?) -> Row {
            Row(name: name, values: runs.map { value($0.run) ?? "none" })
        }
        let origin = [
            row("model") { $0.model }, row("model SHA-256") { $0.modelDigest },
            row("data") { $0.data }, row("data SHA-256") { $0.dataDigest },
            row("validation SHA-256") { $0.validationDigest },
            row("initial adapter SHA-256") { $0.initAdapterDigest },
            row("rows SHA-256") { $0.rowsDigest }, row("plan SHA-256") { $0.planDigest },
            row("engine") { $0.fingerprint }, row("skein") { $0.version },
        ]
        let fields = runs.map {
            Dictionary($0.run.configuration.fields, uniquingKeysWith: { first, _ in first })
        }
        let names = runs.first?.run.configuration.fields.map(\.0) ?? []
        return origin
            + names.map { name in Row(name: "--\(name)", values: fields.map { shown($0[name]) }) }
    }

    /// Rows whose values are not all the same.
    static func differences(_ runs: [ReportedRun]) -> [Row] {
        configuration(runs).filter { Set($0.values).count > 1 }
    }

    /// Losses at so many steps of each run, from its first to its last.
    static func losses(_ run: ReportedRun, rows: Int = 12) -> [(step: Int, loss: Double)] {
        let points = run.history.points
        guard points.count > rows else { return points.map { ($0.step, $0.loss) } }
        return (0..<rows).map { row in
            let point = points[row * (points.count - 1) / (rows - 1)]
            return (point.step, point.loss)
        }
    }

    static func loss(_ loss: Double?) -> String {
        loss.map { Figures.fixed($0, 4) } ?? "none"
    }

    /// The prompts of all runs, in the order in which they appear.
    static func prompts(_ runs: [ReportedRun]) -> [String] {
        var found: [String] = []
        for sample in runs.flatMap(\.history.samples) where !found.contains(sample.prompt) {
            found.append(sample.prompt)
        }
        return found
    }
}

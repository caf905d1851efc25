import Foundation
import SkeinBasics
import SkeinCluster
import SkeinTraining

/// A report as Markdown, as summaries of continuous integration show it.
package enum ReportMarkdown {
    package static func text(_ runs: [ReportedRun]) -> String {
        var lines = ["# " + runs.map { escaped($0.name) }.joined(separator: ", "), ""]
        for run in runs {
            for warning in run.warnings {
                lines += ["**\(escaped(run.name))**: \(escaped(warning))", ""]
            }
        }
        var results = ReportFacts.results(runs)
        results.insert(
            ReportFacts.Row(
                name: "loss",
                values: runs.map {
                    Sparkline.text($0.history.points.map(\.loss), columns: 40, unicode: true)
                }), at: 0)
        lines += table(runs.map(\.name), results)
        if let equality = ReportFacts.equality(runs) { lines += [equality, ""] }
        if let remark = HeldOutRows.remark(runs) { lines += [escaped(remark), ""] }
        let differences = ReportFacts.differences(runs)
        if !differences.isEmpty {
            lines += ["## What differs", ""] + table(runs.map(\.name), differences)
        }
        lines += ["## Time and traffic", ""] + table(runs.map(\.name), ReportFacts.timing(runs))
        for run in runs {
            let all = run.shownWorkers
            guard !all.isEmpty else { continue }
            lines += ["## Workers of \(escaped(run.name))", ""]
            lines += table(
                ["micro-batches", "tokens", "steps", "over the run"],
                all.map { worker in
                    ReportFacts.Row(
                        name: worker.name,
                        values: [
                            Figures.grouped(worker.microBatches), Figures.grouped(worker.tokens),
                            "\(Figures.grouped(worker.firstStep))-"
                                + Figures.grouped(worker.lastStep),
                            Sparkline.text(
                                worker.parts.map(Double.init), columns: 30, unicode: true),
                        ])
                })
        }
        for prompt in ReportFacts.prompts(runs) {
            lines += ["## \(escaped(prompt))", ""]
            for run in runs {
                guard let last = run.history.samples.last(where: { $0.prompt == prompt }) else {
                    continue
                }
                lines += [
                    "**\(escaped(run.name))**, step \(Figures.grouped(last.step)): "
                        + escaped(
                            String((last.text ?? "nothing: the logits are not finite").prefix(2000))
                        ), "",
                ]
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func table(_ columns: [String], _ rows: [ReportFacts.Row]) -> [String] {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
        return [
            line([""] + columns.map(escaped)),
            line([String](repeating: "---", count: columns.count + 1)),
        ] + rows.map { line([escaped($0.name)] + $0.values.map(escaped)) } + [""]
    }

    /// A text on one line that Markdown shows as it is.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\n", "\r", "\t": escaped += " "
            case _ where HTML.isHidden(scalar): escaped += "\u{FFFD}"
            case "\\", "`", "*", "_", "[", "]", "|", "#", "!", "~", "$", "@", ":":
                // A character reference: a backslash does not stop mentions and addresses, nor `|` in
                // every table.
                escaped += "&#\(scalar.value);"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped.replacingOccurrences(of: "www.", with: "www&#46;")
    }
}

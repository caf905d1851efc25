import SkeinBasics
import SkeinCluster
import SkeinNetwork
import SkeinTraining

/// A report as one HTML page: no script, nothing from elsewhere.
package enum ReportPage {
    package static func html(_ runs: [ReportedRun]) -> String {
        let title = runs.map(\.name).joined(separator: ", ")
        let sections = [
            heading(runs, title), results(runs), curves(runs), differences(runs), timing(runs),
            runs.map(workers).joined(separator: "\n"), samples(runs), configuration(runs),
        ]
        return Page(
            title: "\(HTML.text(title)) - Skein",
            styles: [PageStyle.base, PageStyle.document, ReportStyle.text],
            body: sections.filter { !$0.isEmpty }.joined(separator: "\n"), policy: .held
        ).html
    }

    private static func heading(_ runs: [ReportedRun], _ title: String) -> String {
        let key = runs.enumerated().map { index, run in
            "<li><span class=\"t\(index % ReportChart.colors)\" aria-hidden=\"true\">■</span> "
                + "\(HTML.text(run.name)) <span class=\"quiet\">\(HTML.text(run.path)), model "
                + "\(HTML.text(FilePath.name(of: run.run.model)))</span></li>"
        }
        let warnings = runs.flatMap { run in
            run.warnings.map { "<p class=\"warning\">\(HTML.text("\(run.name): \($0)"))</p>" }
        }
        return """
            <header><h1>\(HTML.text(title))</h1>
            <p class="quiet">\(runs.count == 1 ? "A run" : "\(runs.count) runs") of Skein \
            \(HTML.text(Version.text))</p>
            <ul class="runs">\(key.joined())</ul>\(warnings.joined())</header><main>
            """
    }

    private static func section(_ title: String, _ body: String) -> String {
        body.isEmpty ? "" : "<section><h2>\(HTML.text(title))</h2>\n\(body)</section>"
    }

    private static func table(
        _ caption: String, _ runs: [ReportedRun], _ rows: [ReportFacts.Row]
    ) -> String {
        rows.isEmpty
            ? "" : HTML.table(caption: caption, columns: runs.map(\.name), rows: rows)
    }

    private static func results(_ runs: [ReportedRun]) -> String {
        let equality = ReportFacts.equality(runs).map { "<p>\(HTML.text($0))</p>" } ?? ""
        let remark = HeldOutRows.remark(runs).map { "<p>\(HTML.text($0))</p>" } ?? ""
        return section(
            "Result", table("Result", runs, ReportFacts.results(runs)) + equality + remark)
    }

    private static func timing(_ runs: [ReportedRun]) -> String {
        section("Time and traffic", table("Time and traffic", runs, ReportFacts.timing(runs)))
    }

    private static func differences(_ runs: [ReportedRun]) -> String {
        guard runs.count > 1 else { return "" }
        let rows = ReportFacts.differences(runs)
        return section(
            "What differs",
            rows.isEmpty
                ? "<p>Nothing: model, data and options are the same.</p>"
                : table("What differs", runs, rows))
    }

    private static func configuration(_ runs: [ReportedRun]) -> String {
        let all = table("All options", runs, ReportFacts.configuration(runs))
        return section("Configuration", "<details><summary>All options</summary>\(all)</details>")
            + "</main>"
    }

    // MARK: - Curves

    private static func curves(_ runs: [ReportedRun]) -> String {
        func chart(
            _ title: String, smooth: Bool = false, _ value: (RunHistory.Point) -> Double
        ) -> String {
            let curves = runs.enumerated().flatMap { index, run -> [ReportChart.Curve] in
                let points = run.history.points.map { (step: $0.step, value: value($0)) }
                let raw = ReportChart.Curve(
                    name: run.name, points: points, run: index, style: smooth ? .faint : .line)
                guard smooth else { return [raw] }
                return [
                    raw,
                    ReportChart.Curve(
                        name: run.name, points: ReportChart.smoothed(points), run: index),
                ]
            }
            return ReportChart(title: title, curves: curves).svg
        }
        // Losses that cannot be compared do not share an axis.
        let groups = HeldOutRows.groups(runs)
        let validations = groups.map { places -> String in
            let names = places.map { runs[$0].name }.joined(separator: ", ")
            let curves = places.map { place -> ReportChart.Curve in
                let points = runs[place].history.validations.compactMap { metrics in
                    metrics.loss.map { (step: metrics.step, value: $0) }
                }
                return ReportChart.Curve(
                    name: runs[place].name, points: points, run: place, style: .marked)
            }
            let title = groups.count == 1 ? "Validation loss" : "Validation loss of \(names)"
            return ReportChart(title: title, curves: curves).svg
        }
        let others = [
            chart("Learning rate") { $0.learningRate },
            chart("Gradient norm", smooth: true) { $0.gradientNorm },
            chart("Tokens per second", smooth: true) { $0.tokensPerSecond },
            chart("Seconds per step", smooth: true) { $0.seconds },
        ]
        let loss = chart("Training loss", smooth: true) { $0.loss }
        let charts = ([loss] + validations + others).filter { !$0.isEmpty }
        guard !charts.isEmpty else { return section("Curves", "<p>No step is done yet.</p>") }
        let strides = runs.filter { $0.history.stride > 1 }.map {
            "<p class=\"quiet\">\(HTML.text($0.name)): one of \($0.history.stride) steps is drawn.</p>"
        }
        let numbers = runs.map { run in
            HTML.table(
                caption: "Training loss of \(run.name)", columns: ["loss"],
                rows: ReportFacts.losses(run).map {
                    ReportFacts.Row(
                        name: "step \(Figures.grouped($0.step))",
                        values: [ReportFacts.loss($0.loss)])
                })
        }
        return section(
            "Curves",
            "<div class=\"charts\">\(charts.joined(separator: "\n"))</div>\(strides.joined())"
                + "<details><summary>Losses as numbers</summary>\(numbers.joined())</details>")
    }

    // MARK: - Workers

    private static func workers(_ run: ReportedRun) -> String {
        let all = run.shownWorkers
        guard !all.isEmpty else { return "" }
        let tokens = all.reduce(0.0) { $0 + max(0, Double($1.tokens)) }
        let most = max(1, all.flatMap(\.parts).max() ?? 1)
        let rows = all.enumerated().map { index, worker in
            let share = tokens > 0 ? Double(worker.tokens) / tokens : 0
            let cells = [
                Figures.grouped(worker.microBatches), Figures.grouped(worker.tokens),
                Figures.percent(share), Figures.grouped(worker.again),
                "\(Figures.grouped(worker.firstStep))-\(Figures.grouped(worker.lastStep))",
            ]
            return "<tr><th scope=\"row\">\(HTML.text(worker.name))</th>"
                + cells.map { "<td>\(HTML.text($0))</td>" }.joined()
                + "<td class=\"strip\">\(strip(worker, most: most, color: index))</td></tr>"
        }
        let heads = ["micro-batches", "tokens", "share", "leased again", "steps", "over the run"]
            .map { "<th scope=\"col\">\($0)</th>" }
        let caption = HTML.text("Workers of \(run.name)")
        return section(
            "Workers of \(run.name)",
            """
            <div class="scroll" role="region" aria-label="\(caption)" tabindex="0"><table>\
            <caption>\(caption)</caption><thead><tr><td></td>\(heads.joined())</tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            <p class="quiet">A cell is a sixtieth of the steps up to \
            \(Figures.grouped(run.totals.lastStep)); the fuller it is, the more tokens the worker \
            computed.</p>
            """)
    }

    /// What a worker computed in each part of a run, as a row of bars.
    private static func strip(_ worker: ReportedRun.Worker, most: Int, color: Int) -> String {
        let bars = worker.parts.enumerated().compactMap { index, tokens -> String? in
            guard tokens > 0 else { return nil }
            let height = max(1, 20 * Double(tokens) / Double(most))
            return "<rect x=\"\(index * 10)\" y=\"\(HTML.number(20 - height))\" width=\"9\" "
                + "height=\"\(HTML.number(height))\"/>"
        }
        let busy = worker.parts.count { $0 > 0 }
        return "<svg class=\"f\(color % ReportChart.colors)\" viewBox=\"0 0 600 20\" "
            + "preserveAspectRatio=\"none\" role=\"img\" aria-label=\""
            + HTML.text(
                "\(worker.name) computed in \(busy) of \(ReportedRun.parts) parts of the run")
            + "\">\(bars.joined())</svg>"
    }

    // MARK: - Samples

    private static func samples(_ runs: [ReportedRun]) -> String {
        let prompts = ReportFacts.prompts(runs).map { prompt in
            let boxes = runs.map { run in
                let texts = run.history.samples.filter { $0.prompt == prompt }.map {
                    "<p class=\"text\"><b>\(HTML.text(run.name)), step "
                        + "\(Figures.grouped($0.step))</b>"
                        + HTML.text($0.text ?? "nothing: the logits are not finite") + "</p>"
                }
                return "<div>\(texts.joined(separator: "\n"))</div>"
            }
            return "<h3>\(HTML.text(prompt))</h3><div class=\"samples\">\(boxes.joined())</div>"
        }
        return section("Samples", prompts.joined(separator: "\n"))
    }
}

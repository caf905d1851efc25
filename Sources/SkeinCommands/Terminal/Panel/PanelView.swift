import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinWatch

/// What the panel shows of a run at one moment.
struct PanelFacts: Sendable {
    var snapshot: RunSnapshot
    /// Losses of the steps so far, in order, thinned out in a long run.
    var losses: [Double] = []
}

/// The panel of a run: progress, loss, what is waited for, workers. Pure: facts and a size make lines.
struct PanelView: Sendable {
    let size: TerminalSize
    /// Whether the terminal shows more than ASCII.
    let unicode: Bool

    /// Lines leave the last column free, where terminals differ.
    private var columns: Int { max(1, size.columns - 1) }

    /// Half of the screen, and the row below the panel is free.
    var mostLines: Int {
        size.rows < 2 ? 0 : min(40, max(1, min(size.rows - 2, max(3, size.rows / 2))))
    }

    func lines(_ facts: PanelFacts) -> [PanelLine] {
        let run = facts.snapshot.run
        var lines = [progress(run)]
        let room = mostLines
        if room >= 2 { lines.append(contentsOf: waiting(facts.snapshot, most: room >= 5 ? 2 : 1)) }
        if room >= 3, run.loss != nil { lines.insert(loss(run, facts.losses), at: 1) }
        lines += workers(facts.snapshot, most: room - lines.count)
        return lines.prefix(room).map { $0.cut(columns: columns) }
    }

    /// Bar and figures; a narrow terminal gets the first ones of what matters most.
    private func progress(_ run: RunSnapshot.Progress) -> PanelLine {
        let step = "step \(run.step)/\(run.stepCount)"
        // Which part matters more, and its place in the line.
        var parts: [(rank: Int, text: String)] = []
        if let epoch = run.epoch {
            parts.append((4, "epoch \(epoch)" + (run.epochCount.map { "/\($0)" } ?? "")))
        }
        if let loss = run.loss { parts.append((1, "loss \(Self.loss(loss))")) }
        if let pace = run.tokensPerSecond, pace.isFinite {
            parts.append((3, "\(Figures.significant(pace)) tokens/s"))
        }
        if let rest = run.etaSeconds, rest.isFinite, run.step < run.stepCount {
            parts.append((2, "ETA " + ProgressLine.duration(.seconds(min(max(rest, 0), 1e9)))))
        }
        if let from = run.otherEnginesFromStep {
            parts.append((5, "other engines from step \(from)"))
        }
        var room = columns - step.count
        var shown: Set<Int> = []
        for part in parts.sorted(by: { $0.rank < $1.rank }) where part.text.count + 2 <= room {
            shown.insert(part.rank)
            room -= part.text.count + 2
        }
        var line = PanelLine()
        // Brackets and a blank beside the bar.
        if room >= 9, run.stepCount > 0 {
            let width = min(30, room - (unicode ? 1 : 3))
            let share = Double(min(max(run.step, 0), run.stepCount)) / Double(run.stepCount)
            let done = Int(share * Double(width))
            line.append(unicode ? "" : "[")
            line.append(String(repeating: unicode ? "█" : "#", count: done), .good)
            line.append(String(repeating: unicode ? "░" : "-", count: width - done), .faint)
            line.append(unicode ? " " : "] ")
        }
        line.append(step, .bold)
        for part in parts where shown.contains(part.rank) { line.append("  " + part.text) }
        return line
    }

    private func loss(_ run: RunSnapshot.Progress, _ losses: [Double]) -> PanelLine {
        var validation = ""
        if let loss = run.validationLoss {
            validation = "  validation \(Self.loss(loss))"
            if let best = run.bestValidationLoss, let step = run.bestStep {
                let start = run.startValidationLoss.map { "; \(Self.loss($0)) before step 1" } ?? ""
                validation += " (best \(Self.loss(best)), step \(step)\(start))"
            }
        }
        var line = PanelLine("loss ", .faint)
        let last = run.loss ?? .nan
        // The first loss alone would be taken for the present one.
        let way =
            losses.first(where: \.isFinite).map { "\(Self.short($0)) -> \(Self.short(last))" } ?? ""
        let room = columns - 5 - validation.count - way.count - 1
        let curve = Sparkline.text(losses, columns: min(60, room), unicode: unicode)
        if curve.isEmpty {
            line.append(Self.loss(last))
        } else {
            line.append(way + " ", .faint)
            line.append(curve, .good)
        }
        line.append(validation)
        return line
    }

    private func waiting(_ snapshot: RunSnapshot, most: Int) -> [PanelLine] {
        let text = TerminalText.printable(snapshot.waiting.brief)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, TerminalText.columns(line) + 1 + TerminalText.columns(word) > columns
            {
                if lines.count == most - 1 {
                    // The last line is cut where it is full, not at a word.
                    line += " " + word
                    break
                }
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
        let mark = unicode ? "…" : "..."
        return lines.map { PanelLine(TerminalText.cut($0, columns: columns, mark: mark), .faint) }
    }

    /// Heading and rows of the workers; the last row counts those for which there is no room.
    private func workers(_ snapshot: RunSnapshot, most: Int) -> [PanelLine] {
        guard most >= 2, !snapshot.workers.isEmpty else { return [] }
        let (total, overflows) = (
            max(snapshot.workerCount, snapshot.workers.count), snapshot.workerCount < 0
        )
        let fits = total <= most - 1
        let shown = snapshot.workers.prefix(fits ? total : max(0, most - 2))
        var rows = [["worker", "state", "computes", "tokens/s", "heard"]]
        rows += shown.map { worker in
            [
                TerminalText.cut(
                    TerminalText.printable(worker.name), columns: 24, mark: unicode ? "…" : "..."),
                worker.state.rawValue, computes(worker),
                worker.work?.tokensPerSecond.map { Figures.significant($0) } ?? "-",
                Figures.seconds(worker.lastHeardSeconds) + " ago",
            ]
        }
        let widths = rows[0].indices.map { column in
            rows.map { TerminalText.columns($0[column]) }.max() ?? 0
        }
        var lines = rows.enumerated().map { index, row in
            var line = PanelLine()
            for (column, cell) in row.enumerated() {
                let space = String(
                    repeating: " ", count: widths[column] - TerminalText.columns(cell))
                let look: PanelLine.Look =
                    index == 0 ? .faint : column == 1 ? Self.look(of: cell) : .plain
                if column > 0 { line.append("  ") }
                line.append(column < 3 ? cell + space : space + cell, look)
            }
            return line
        }
        if !fits, !overflows {
            lines.append(PanelLine("and \(Figures.grouped(total - shown.count)) more", .faint))
        }
        return lines
    }

    private func computes(_ worker: RunSnapshot.Worker) -> String {
        if let bytes = worker.preparedBytes { return "\(bytes >> 20) MiB of the model" }
        guard let lease = worker.work?.leases.first else { return "-" }
        let share = lease.progress.isFinite ? min(max(lease.progress, 0), 1) : 0
        return "mb \(lease.microBatch) (\(Figures.fixed(share * 100, 0)) %)"
    }

    private static func look(of state: String) -> PanelLine.Look {
        switch RunSnapshot.Worker.State(rawValue: state.trimmingCharacters(in: .whitespaces)) {
        case .computing: .good
        case .suspect, .draining: .bad
        default: .plain
        }
    }

    /// Three digits, of small losses four decimals.
    private static func short(_ number: Double) -> String {
        abs(number) >= 1 && number.isFinite ? Figures.significant(number) : loss(number)
    }

    /// Four decimals; `nan` or `inf` for a run that diverged.
    private static func loss(_ loss: Double) -> String {
        loss.isFinite ? Figures.fixed(loss, 4) : "\(loss)"
    }
}

import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels

/// What `skein fuse` says at its end.
enum FuseText {
    static func lines(
        _ report: FuseReport, _ comparison: FusedComparison?, _ path: String, seconds: Double
    ) -> [String] {
        let types = report.types.sorted { $0.count > $1.count }
            .map { "\(Figures.grouped($0.count)) \($0.type.name)" }
        var lines = [
            "wrote \(path): \(Figures.bytes(report.byteCount)) in "
                + "\(Figures.count(report.tensorCount, "tensor")) "
                + "(\(types.joined(separator: ", "))) in \(Figures.seconds(seconds))",
            "\(Figures.count(report.changedCount, "tensor")) changed by the adapter, "
                + "\(Figures.grouped(report.copiedCount)) with the base model's bytes, "
                + "\(Figures.grouped(report.encoded.count)) written anew",
        ]
        let others = Dictionary(grouping: report.otherTypes) { $0.type.name }
        for (name, entries) in others.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "\(name) for \(Figures.grouped(entries.count)) of them, such as "
                    + "\(entries[0].name)")
        }
        if let worst = report.worst, report.deviation.errorSquares > 0 {
            lines.append(
                "relative RMS error: \(number(report.deviation.relative)) of all, "
                    + "\(number(worst.deviation.relative)) at most (\(worst.name))")
        }
        if let comparison {
            lines.append(
                "logits of \(Figures.count(comparison.positions, "token")): "
                    + "\(number(comparison.largest)) off at most "
                    + "(largest logit \(number(comparison.scale))), same choice at "
                    + "\(comparison.equalChoices) of \(comparison.positions)")
        }
        return lines
    }

    /// Three digits that count, also of small numbers.
    private static func number(_ number: Double) -> String {
        String(format: "%.3g", number)
    }

    static func fields(
        _ report: FuseReport, _ comparison: FusedComparison?, _ path: String
    ) -> [(String, JSONValue)] {
        var fields: [(String, JSONValue)] = [
            ("output", .text(path)), ("files", .list(report.files.map { .text($0) })),
            ("bytes", .integer(report.byteCount)), ("tensors", .integer(report.tensorCount)),
            (
                "types",
                .fields(
                    report.types.sorted { $0.count > $1.count }
                        .map { ($0.type.name, .integer($0.count)) })
            ), ("changed", .integer(report.changedCount)),
            ("copied", .integer(report.copiedCount)),
            (
                "other_types",
                .fields(report.otherTypes.map { ($0.name, .text($0.type.name)) })
            ), ("relative_rms_error", .decimal(report.deviation.relative)),
        ]
        if let worst = report.worst {
            fields.append(
                (
                    "worst",
                    .fields([
                        ("tensor", .text(worst.name)),
                        ("relative_rms_error", .decimal(worst.deviation.relative)),
                    ])
                ))
        }
        guard let comparison else { return fields }
        return fields + [
            (
                "logits",
                .fields([
                    ("positions", .integer(comparison.positions)),
                    ("largest_difference", .decimal(comparison.largest)),
                    ("largest", .decimal(comparison.scale)),
                    ("equal_choices", .integer(comparison.equalChoices)),
                ])
            )
        ]
    }
}

/// How much of a model is written, on standard error.
struct FuseProgress {
    private let io: CommandIO
    private let elements: Int
    private let bytes: Int
    private let path: String
    private let began = ContinuousClock.now
    private var shown = ContinuousClock.now
    private var done = 0
    private var isLineOpen = false

    /// Time between two lines.
    private static let interval = Duration.seconds(1)

    /// `bytes`: of all `elements`, as they are written.
    init(_ io: CommandIO, elements: Int, bytes: Int, path: String) {
        (self.io, self.elements, self.bytes, self.path) = (io, elements, bytes, path)
    }

    /// - Throws: `FuseError.interrupted` after a signal.
    mutating func add(_ count: Int) throws {
        done += count
        if io.interrupt.isSet { throw FuseError.interrupted(path: path) }
        let now = ContinuousClock.now
        guard now - shown >= Self.interval, done < elements else { return }
        shown = now
        let share = Double(done) / Double(max(1, elements))
        let rest = (now - began) * ((1 - share) / share)
        let text =
            "\(Figures.percent(share)) of \(Figures.bytes(bytes))  ETA "
            + ProgressLine.duration(rest)
        if io.isTerminal, io.log.format == .text {
            io.writeError("\r\u{1b}[K" + text)
            isLineOpen = true
        } else {
            io.log.info(text)
        }
    }

    mutating func finish() {
        guard isLineOpen else { return }
        io.writeError("\r\u{1b}[K")
        isLineOpen = false
    }
}

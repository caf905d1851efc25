import SkeinBasics
import SkeinJSON

/// The figures of recovery beside their bars.
struct RecoveryResult: Sendable {
    /// One figure over all blows.
    struct Figure: Sendable, Equatable {
        var name: String
        var text: String
        var seconds: [Double]
        /// Seconds that its 99th percentile must stay below; nil: only shown.
        var bar: Double?

        /// The smallest value that at least `share` of all values do not exceed; nil if there are
        /// none.
        func percentile(_ share: Double) -> Double? {
            let sorted = seconds.sorted()
            guard !sorted.isEmpty else { return nil }
            let rank = Int((share * Double(sorted.count)).rounded(.up))
            return sorted[min(max(rank, 1), sorted.count) - 1]
        }

        var isMet: Bool {
            guard let bar else { return true }
            return percentile(0.99).map { $0 < bar } ?? false
        }
    }

    var record: RecoveryRecord
    var kills: Int
    var stops: Int
    /// Runs that the blows are spread over.
    var runs: Int
    var seed: UInt64
    var seconds: Double

    var figures: [Figure] {
        [
            Figure(
                name: "leased_again", text: "killed: its leases at others",
                seconds:
                    record.leasedAgain, bar: 1),
            Figure(
                name: "kill_noticed", text: "killed: noticed", seconds: record.killNoticed,
                bar: nil),
            Figure(
                name: "stop_noticed", text: "stopped: noticed", seconds: record.stopNoticed,
                bar: stops > 0 ? 3 : nil),
            Figure(
                name: "first_accepted", text: "joined again: first gradient accepted",
                seconds: record.firstAccepted, bar: 2),
            Figure(
                name: "idle", text: "survivors: idle while there was work", seconds: record.idle,
                bar: 1),
        ]
    }

    var missed: [Figure] { figures.filter { !$0.isMet } }

    var json: [(String, JSONValue)] {
        [
            ("kills", .integer(kills)), ("stops", .integer(stops)), ("runs", .integer(runs)),
            ("seed", .integer(Int(clamping: seed))), ("seconds", .decimal(seconds)),
            (
                "figures",
                .list(
                    figures.map { figure in
                        .fields([
                            ("name", .text(figure.name)),
                            ("count", .integer(figure.seconds.count)),
                            ("p50", Self.value(figure.percentile(0.5))),
                            ("p99", Self.value(figure.percentile(0.99))),
                            ("most", Self.value(figure.percentile(1))),
                            ("bar", Self.value(figure.bar)), ("met", .bool(figure.isMet)),
                        ])
                    })
            ),
        ]
    }

    private static func value(_ number: Double?) -> JSONValue {
        number.map { .decimal($0) } ?? .null
    }

    /// Rows of cells, the heading first.
    var table: [[String]] {
        func cell(_ number: Double?) -> String { number.map { Figures.seconds($0) } ?? "-" }
        return [["seconds from the blow", "count", "p50", "p99", "most", "bar", ""]]
            + figures.map { figure in
                [
                    figure.text, String(figure.seconds.count), cell(figure.percentile(0.5)),
                    cell(figure.percentile(0.99)), cell(figure.percentile(1)),
                    figure.bar.map { "< \(Figures.seconds($0))" } ?? "",
                    figure.bar == nil ? "" : figure.isMet ? "met" : "MISSED",
                ]
            }
    }
}

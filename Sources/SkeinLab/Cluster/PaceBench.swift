import Foundation
import SkeinBasics
import SkeinJSON

/// Tokens per second of `train` with two threads and of a cluster of two workers with one thread
/// each, alternated on the same run.
package struct PaceBench {
    /// Tokens per second.
    package struct Medians: Sendable {
        var alone: Double
        var cluster: Double

        private var ratio: Double { alone > 0 ? cluster / alone : 0 }

        package var text: String {
            "median: alone \(Figures.fixed(alone, 1)), cluster \(Figures.fixed(cluster, 1)) tokens/s, "
                + "ratio \(Figures.fixed(ratio, 3))"
        }

        package var json: [(String, JSONValue)] {
            [
                ("alone", .decimal(alone)), ("cluster", .decimal(cluster)),
                ("ratio", .decimal(ratio)),
            ]
        }
    }

    package enum Kind: String, Sendable, CaseIterable { case alone, cluster }

    private let work: Workload
    private let options: [String]

    /// - Parameters:
    ///   - work: what is trained.
    ///   - options: further options of every run.
    package init(_ work: Workload, options: [String]) {
        self.work = work
        self.options = options
    }

    /// Runs both kinds repeatedly, and demands the same adapter of both each time.
    ///
    /// - Parameters:
    ///   - repetitions: how often.
    ///   - report: called with the tokens per second of each run.
    /// - Returns: the medians.
    /// - Throws: `BenchError`.
    package func run(
        _ repetitions: Int, report: (Kind, _ number: Int, _ rate: Double) throws -> Void
    ) throws -> Medians {
        var rates: [Kind: [Double]] = [:]
        for number in 1...repetitions {
            for kind in Kind.allCases {
                let output = "\(kind.rawValue)-\(number)"
                switch kind {
                case .alone: try work.train(output, options + ["--threads", "2"])
                case .cluster: try runCluster(output)
                }
                let rate = try Self.rate(of: work.path(output))
                rates[kind, default: []].append(rate)
                try report(kind, number, rate)
            }
            let (alone, cluster) = ("alone-\(number)", "cluster-\(number)")
            guard try work.adapterDigest(of: alone) == work.adapterDigest(of: cluster) else {
                throw BenchError.adaptersDiffer(place: work.path(cluster))
            }
        }
        return Medians(
            alone: Measurement.median(of: rates[.alone] ?? []),
            cluster: Measurement.median(of: rates[.cluster] ?? []))
    }

    private func runCluster(_ output: String) throws {
        let cluster = try ClusterHarness(work, output, options + ["--min-workers", "2"])
        for name in ["w1", "w2"] { try cluster.startWorker(name) }
        try cluster.finish(seconds: Workload.longest)
    }

    /// Tokens per second over all steps but the first, which waits for workers to join.
    private static func rate(of output: String) throws -> Double {
        var (tokens, seconds) = (0, 0.0)
        for line in try String(contentsOfFile: output + "/metrics.jsonl", encoding: .utf8)
            .split(separator: "\n")
        {
            let fields = try JSONReader.read(Array(line.utf8), .foundation)
            guard let step = fields["step"]?.integer, step > 1, fields["loss_tokens"] != nil,
                let count = fields["tokens"]?.integer, let time = fields["seconds"]?.double
            else { continue }
            tokens += count
            seconds += time
        }
        return seconds > 0 ? Double(tokens) / seconds : 0
    }
}

import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinTraining

/// What the wire carried, and what it cost the coordinator.
struct WireResult: Sendable {
    /// What this machine can do at best, measured in the same run.
    struct Machine: Sendable, Equatable {
        /// Bytes per second of one TCP connection over loopback, without looking at them.
        var loopback: Double
        /// Bytes per second of SHA-256 on one thread.
        var hash: Double
    }

    /// Processor seconds of those who look, and of all of the coordinator's process.
    struct Watched: Sendable, Equatable {
        var seconds: Double
        var allSeconds: Double

        var share: Double { allSeconds > 0 ? seconds / allSeconds : 0 }
    }

    var load: WireLoad
    /// nil: the run was not shown.
    var watched: Watched?
    var steps: [WireBench.Step]
    var limits: Machine
    /// The peak of the coordinator's process; the workers are in another.
    var peakBytes: UInt64?

    /// First steps that do not count: connections, first parameters, memory that still grows.
    var warmUp: Int { min(max(1, steps.count / 10), max(0, steps.count - 1)) }
    private var counted: ArraySlice<WireBench.Step> { steps.dropFirst(warmUp) }

    private func sum(_ value: (WireBench.Step) -> Double) -> Double {
        counted.reduce(0) { $0 + value($1) }
    }
    private func mean(_ value: (WireBench.Step) -> Double) -> Double {
        counted.isEmpty ? 0 : sum(value) / Double(counted.count)
    }

    var seconds: Double { mean { $0.seconds } }
    var stepsPerSecond: Double { seconds > 0 ? 1 / seconds : 0 }
    var resultsPerSecond: Double { stepsPerSecond * Double(load.workers) }
    /// Bytes per second.
    var inRate: Double { mean { Double($0.receivedBytes) } * stepsPerSecond }
    var outRate: Double { mean { Double($0.sentBytes) } * stepsPerSecond }
    /// What the coordinator's two threads use in a step.
    var processorSeconds: Double { mean { $0.processorSeconds } }
    var payloadBytes: Double { mean { Double($0.payloadBytes) } }
    var rawBytes: Double { Double(4 * load.parameterCount * load.workers) }
    var ratio: Double { payloadBytes > 0 ? rawBytes / payloadBytes : 0 }

    /// The bound on what this load's gradients take in the coordinator's memory.
    var memoryBound: Int { load.coordinatorMemory.totalBytes(workers: load.workers) }

    /// Processor seconds of SHA-256 alone in a step: over what is received, every gradient and the
    /// parameters. What is sent is the same for all workers and hashed once.
    var hashSeconds: Double {
        let tagged = mean { Double($0.receivedBytes + $0.sentBytes / max(1, load.workers)) }
        return (tagged + rawBytes + Double(4 * load.parameterCount)) / limits.hash
    }
    var hashShare: Double { processorSeconds > 0 ? hashSeconds / processorSeconds : 0 }
    var loopbackShare: Double { (inRate + outRate) / limits.loopback }

    /// Median resident bytes in the first and in the last tenth of the steps that count.
    var memory: (early: Double, late: Double)? {
        let bytes = counted.compactMap(\.residentBytes).map { Double($0) }
        guard !bytes.isEmpty else { return nil }
        let tenth = max(1, bytes.count / 10)
        return (
            Measurement.median(of: Array(bytes.prefix(tenth))),
            Measurement.median(of: Array(bytes.suffix(tenth)))
        )
    }

    var json: [(String, JSONValue)] { speeds + costs }

    private var costs: [(String, JSONValue)] {
        guard let watched else { return [] }
        return [
            ("status_cpu_seconds", .decimal(watched.seconds)),
            ("process_cpu_seconds", .decimal(watched.allSeconds)),
            ("status_share", .decimal(watched.share)),
        ]
    }

    private var speeds: [(String, JSONValue)] {
        [
            ("workers", .integer(load.workers)), ("steps", .integer(steps.count)),
            ("warm_up_steps", .integer(warmUp)),
            ("gradient_codec", .text(load.codec.rawValue)),
            ("parameters", .integer(load.parameterCount)),
            ("steps_per_second", .decimal(stepsPerSecond)),
            ("results_per_second", .decimal(resultsPerSecond)),
            ("received_per_second", .decimal(inRate)), ("sent_per_second", .decimal(outRate)),
            ("cpu_seconds", .decimal(processorSeconds)),
            ("hash_seconds", .decimal(hashSeconds)), ("hash_share", .decimal(hashShare)),
            ("payload_bytes", .decimal(payloadBytes)), ("raw_bytes", .decimal(rawBytes)),
            ("ratio", .decimal(ratio)),
            ("peak_bytes", peakBytes.map { .integer(Int(clamping: $0)) } ?? .null),
            ("memory_bound", .integer(memoryBound)),
            ("early_bytes", memory.map { .decimal($0.early) } ?? .null),
            ("late_bytes", memory.map { .decimal($0.late) } ?? .null),
            ("loopback_limit", .decimal(limits.loopback)),
            ("loopback_share", .decimal(loopbackShare)), ("hash_limit", .decimal(limits.hash)),
        ]
    }

    /// Labels and values.
    var table: [[String]] {
        func bytes(_ number: Double) -> String { Figures.bytes(Int(number)) }
        var rows = [
            ["steps", "\(steps.count), \(warmUp) of them to warm up"],
            ["steps/s", Figures.significant(stepsPerSecond)],
            ["results/s", Figures.significant(resultsPerSecond)],
            ["in", Figures.rate(inRate, unit: "B")],
            ["out", Figures.rate(outRate, unit: "B")],
            ["limit: loopback, one way", Figures.rate(limits.loopback, unit: "B")],
            ["share, in + out", Figures.percent(loopbackShare)],
            ["coordinator's CPU in a step", Figures.seconds(processorSeconds)],
            ["limit: SHA-256", Figures.rate(limits.hash, unit: "B")],
            ["SHA-256 alone in a step", Figures.seconds(hashSeconds)],
            ["share of the CPU", Figures.percent(hashShare)],
            ["payload of a step", bytes(payloadBytes)],
            ["raw gradients of a step", bytes(rawBytes)],
            ["ratio", Figures.significant(ratio)],
        ]
        if let watched {
            rows.append(["status's CPU, all steps", Figures.seconds(watched.seconds)])
            rows.append(["share of the process's CPU", Figures.percent(watched.share)])
        }
        if let peakBytes { rows.append(["coordinator's peak memory", bytes(Double(peakBytes))]) }
        rows.append(["bound: sums, results, versions", bytes(Double(memoryBound))])
        if let memory {
            let growth = memory.late - memory.early
            rows += [
                ["memory after warm-up", bytes(memory.early)],
                ["memory at the end", bytes(memory.late)],
                [
                    "growth",
                    (growth < 0 ? "-" : "") + bytes(abs(growth)),
                ],
            ]
        }
        return rows
    }
}

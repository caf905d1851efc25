import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTensors

/// What the speeds of machines say about a run's `--compute`. It changes nothing: the mode is a part of
/// what is learned, and so it is for people to choose.
package struct ComputeAdvice: Sendable, Equatable {
    /// One that takes part, and its operations per second by mode.
    typealias Machine = (name: String, speeds: [String: Double])

    /// The name of the machine on which this process runs.
    static let here = "this machine"

    /// Whether the mode is slower than fp32, and not only another one faster than the mode.
    let isWarning: Bool
    let sentence: String
    let facts: [(String, JSONValue)]

    package static func == (left: ComputeAdvice, right: ComputeAdvice) -> Bool {
        (left.isWarning, left.sentence) == (right.isWarning, right.sentence)
    }

    /// Two runs of one loop differ by less.
    private static let noise = 0.95
    /// A mode that is less faster than this is not worth another result.
    private static let worthwhile = 1.2
    /// A machine of a fleet whose ratio is below this share of the fleet's is named.
    private static let straggling = 0.9

    /// Adds up the machines' speeds, as micro-batches go to those that return first, and compares modes
    /// by their sums; nil if there is nothing to say.
    ///
    /// - Parameters:
    ///   - compute: the run's mode.
    ///   - machines: with speeds of all modes that the run could have.
    init?(_ compute: String, machines: [Machine]) {
        let modes = RegisterRates.Mode.allCases.map(\.rawValue)
        /// How many times as fast as another one a mode is, all machines together.
        func ratio(_ mode: String, to other: String) -> Double? {
            var sums = (mode: 0.0, other: 0.0)
            for machine in machines {
                guard let own = machine.speeds[mode], let others = machine.speeds[other],
                    own > 0, others > 0
                else { return nil }
                sums = (sums.mode + own, sums.other + others)
            }
            return sums.other > 0 ? sums.mode / sums.other : nil
        }
        let fp32 = RegisterRates.Mode.fp32.rawValue
        let isSlower = ratio(compute, to: fp32).map { $0 < Self.noise } ?? false
        let base = isSlower ? fp32 : compute
        let faster = modes.compactMap { mode in
            ratio(mode, to: base).map { (mode: mode, ratio: $0) }
        }.filter { $0.mode != compute && $0.ratio >= Self.worthwhile }
            .sorted { ($1.ratio, $0.mode) < ($0.ratio, $1.mode) }
        guard isSlower || !faster.isEmpty else { return nil }

        /// A ratio in figures.
        func times(_ mode: String) -> String { Self.text(ratio(mode, to: base) ?? 0) + " times" }
        /// The machine where the ratio is much smaller than that of all together.
        func aside(_ mode: String) -> String {
            let least = machines.map { machine in
                (
                    name: machine.name,
                    ratio: (machine.speeds[mode] ?? 0) / (machine.speeds[base] ?? 1)
                )
            }.min { $0.ratio < $1.ratio }
            let whole = ratio(mode, to: base) ?? 0
            guard let least, least.ratio < whole * Self.straggling else { return "" }
            return " (\(least.name): \(Self.text(least.ratio)))"
        }
        let place =
            switch machines.count {
            case 1 where machines[0].name == Self.here: "this CPU's registers"
            case 1: "the registers of \(machines[0].name)"
            case let count: "the registers of \(Figures.count(count, "machine"))"
            }
        isWarning = isSlower
        sentence =
            (isSlower
                ? "--compute \(compute) is \(times(compute)) as fast as fp32 in \(place)\(aside(compute))"
                    + faster.map { "; \($0.mode) is \(times($0.mode))\(aside($0.mode))" }.joined()
                : "--compute \(compute) is not the fastest in \(place): "
                    + faster.map { "\($0.mode) is \(times($0.mode)) as fast\(aside($0.mode))" }
                    .joined(separator: ", "))
            + "; another one gives another result, and a run keeps its own"
        facts = [
            ("event", .text("compute_rates")), ("compute", .text(compute)),
            (
                "rates",
                .fields(
                    modes.compactMap { mode in
                        let speeds = machines.compactMap { $0.speeds[mode] }
                        guard speeds.count == machines.count else { return nil }
                        // Hosts may say anything; this stays below 2^63.
                        return (mode, .integer(Int(min(speeds.reduce(0, +), 1e18))))
                    })
            ), ("machines", .list(machines.map { .text($0.name) })),
        ]
    }

    /// Two digits for what is below one.
    private static func text(_ ratio: Double) -> String {
        Figures.fixed(ratio, ratio < 0.995 ? 2 : 1)
    }

    /// Says in the log what this machine's rates say about a run that begins, if that is something.
    ///
    /// - Parameters:
    ///   - compute: the run's mode.
    ///   - log: told also why the rates cannot be kept.
    ///   - directory: where they are; nil: in the cache directory.
    package static func tell(_ compute: ComputeType, _ log: Log, directory: String? = nil) {
        warnOfSoftware(compute, log)
        let cache = directory.map { RegisterRateCache(directory: $0) } ?? RegisterRateCache()
        let (rates, flaw) = cache.rates()
        if let flaw {
            let why = ErrorReport.explanation(of: flaw)
            log.info(
                "this CPU's rates are measured again at each start, as they cannot be kept: "
                    + why.located)
        }
        let known = Set(ComputeType.allCases.map(\.rawValue))
        let speeds = rates.named.filter { known.contains($0.key) }.mapValues { Double($0) }
        ComputeAdvice(compute.rawValue, machines: [(Self.here, speeds)])?.tell(log)
    }

    /// Says in the log when this CPU computes a mode in software, which looks like a hang.
    static func warnOfSoftware(_ compute: ComputeType, _ log: Log) {
        guard compute == .int8 && !RegisterRates.fusesQuickly else { return }
        log.warning(
            "--compute int8 needs fused multiply-add, which this CPU does not have or "
                + "SKEIN_CPU_LEVEL hides: in software it takes some hundred times as long")
    }

    /// Writes the sentence into a log.
    func tell(_ log: Log) {
        log.write(isWarning ? .warning : .info, sentence, facts)
    }
}

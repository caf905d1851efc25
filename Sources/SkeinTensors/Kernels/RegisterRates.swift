import CSkeinKernels
import Foundation

/// How fast one thread multiplies and adds in its registers in each mode of computing: the limit of
/// that mode's products, by which the modes can be compared on a processor.
package struct RegisterRates: Sendable, Equatable {
    /// A way to multiply by frozen weights, under its name in `--compute`.
    package enum Mode: String, Sendable, CaseIterable {
        case fp32
        case bf16
        case int8

        /// Runs the loop of this mode, and returns how many operations it took.
        fileprivate func run() -> Int {
            switch self {
            case .fp32: skein_peak_fp32(skein_level(), Self.rounds)
            case .bf16: skein_peak_bf16(skein_level(), Self.rounds)
            case .int8: skein_peak_int8(skein_level(), Self.rounds)
            }
        }

        /// One to four milliseconds: long enough for a clock, short enough to alternate.
        private static let rounds = 400_000
    }

    /// Operations per second.
    package var fp32: Int
    /// The same of bf16.
    package var bf16: Int
    /// The same of int8, whose operations are on integers.
    package var int8: Int

    package init(fp32: Int, bf16: Int, int8: Int) {
        self.fp32 = fp32
        self.bf16 = bf16
        self.int8 = int8
    }

    /// Operations per second of a mode.
    package subscript(mode: Mode) -> Int {
        switch mode {
        case .fp32: fp32
        case .bf16: bf16
        case .int8: int8
        }
    }

    /// The modes' rates under their names. Without fused multiply-add there is none of int8: around its
    /// products that is computed in software, some hundred times slower, which no register tells.
    package var named: [String: Int] {
        let modes = Mode.allCases.filter { $0 != .int8 || Self.fusesQuickly }
        return Dictionary(uniqueKeysWithValues: modes.map { ($0.rawValue, self[$0]) })
    }

    /// Whether the kernels in use multiply and add in one instruction.
    package static var fusesQuickly: Bool {
        #if arch(arm64)
            return ProcessorLevel.current != .plain
        #else
            return ![.plain, .fused].contains(ProcessorLevel.current)
        #endif
    }

    /// Measures on the calling thread, at the level in use.
    ///
    /// The modes alternate, and each has its best run: a moment in which another program has the
    /// processor does not decide. The thread's own clock leaves out most of such moments anyway.
    ///
    /// - Parameter time: how long, at least; each mode runs at least three times.
    /// - Returns: the rates.
    package static func measure(for time: Duration = .milliseconds(60)) -> RegisterRates {
        var best: [Mode: Double] = [:]
        let began = ContinuousClock.now
        var turns = 0
        while turns < 3 || ContinuousClock.now - began < time {
            for mode in Mode.allCases {
                let start = seconds()
                let operations = Double(mode.run())
                // A clock that stands still makes no rate infinite.
                best[mode] = max(best[mode] ?? 0, operations / max(1e-6, seconds() - start))
            }
            turns += 1
        }
        func rate(_ mode: Mode) -> Int { Int((best[mode] ?? 0).rounded()) }
        return RegisterRates(fp32: rate(.fp32), bf16: rate(.bf16), int8: rate(.int8))
    }

    /// The time that the calling thread has had a processor.
    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Whether the processor has AMX's units for int8, which no kernel uses.
    package static var hasAMXInt8: Bool { skein_has_amx_int8() != 0 }
}

import SkeinBasics

/// A run that does not fit into the memory of this machine.
package enum MemoryError: Error, Equatable {
    /// The run needs `needed` bytes, more than `available`; `fitting` names flags that would make
    /// it fit, and what it needs with them; `smallest` is the least that it needs with any flags; `bound`
    /// is what allows less than the system has (`SystemMemory.bound`).
    case tooLarge(
        needed: Int, available: Int, fitting: Way?, smallest: Int, bound: String? = nil)

    /// Flags and the bytes that a run needs with them.
    package struct Way: Sendable, Equatable {
        package var flags: String
        package var bytes: Int

        package init(flags: String, bytes: Int) {
            self.flags = flags
            self.bytes = bytes
        }
    }
}

extension MemoryError: Explained {
    package var explanation: Explanation {
        switch self {
        case .tooLarge(let needed, let available, let fitting, let smallest, let bound):
            var remedy =
                if let fitting {
                    "give \(fitting.flags), which needs \(Self.gibibytes(fitting.bytes))"
                } else {
                    "give a smaller --micro-batch-tokens, --max-length or --rank, or use a smaller "
                        + "model: even with the flags that save most it needs "
                        + Self.gibibytes(smallest)
                }
            if bound != nil { remedy += "; or raise that limit" }
            return Explanation(
                what: "the run needs about \(Self.gibibytes(needed)) of memory, and "
                    + "\(Self.gibibytes(available)) is available"
                    + (bound.map { ", which is what \($0) allows" } ?? ""),
                remedy: remedy, status: .badData)
        }
    }

    /// `1.31 GiB`, or `52 MiB` where that says more.
    package static func gibibytes(_ bytes: Int) -> String {
        if bytes > 0, bytes < (1 << 30) / 10 { return "\(max(1, bytes >> 20)) MiB" }
        let hundredths = Int((Double(bytes) / Double(1 << 30) * 100).rounded())
        let digits = hundredths % 100
        return "\(hundredths / 100).\(digits < 10 ? "0" : "")\(digits) GiB"
    }
}

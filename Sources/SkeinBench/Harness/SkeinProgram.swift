import Foundation
import SkeinBasics
import SkeinFormats

/// The `skein` that a harness starts, and what ends its waiting.
package struct SkeinProgram: Sendable {
    package var path: String
    /// Asked while the harness waits; true ends the wait with `BenchError.interrupted`.
    package var shouldStop: @Sendable () -> Bool

    package init(path: String, shouldStop: @escaping @Sendable () -> Bool = { false }) {
        self.path = path
        self.shouldStop = shouldStop
    }

    /// Runs a command to its good end, half an hour at most.
    func run(_ arguments: [String]) throws {
        let process = try SkeinProcess(self, arguments, isHeld: true)
        _ = try process.wait(seconds: 1800)
        try process.demandSuccess()
    }

    /// Proves that a run has each micro-batch of its ledger exactly once.
    func verifyLedger(of output: String) throws {
        try run(["inspect", "--verify-ledger", output])
    }

    /// What a run ends with.
    static func adapterDigest(of output: String) throws -> SHA256.Digest {
        try MappedFile(path: output + "/adapter/" + AdapterFiles.weightsName).withBytes {
            SHA256.digest(of: $0)
        }
    }
}

import SkeinBasics
import SkeinFormats
import SkeinTraining

/// The `skein` that a harness starts, and what ends its waiting.
package struct SkeinProgram: Sendable {
    package var path: String
    /// Asked while the harness waits; true ends the wait with `BenchError.interrupted`.
    package var shouldStop: @Sendable () -> Bool

    package init(path: String, shouldStop: @escaping @Sendable () -> Bool = { false }) {
        self.path = path
        self.shouldStop = shouldStop
    }

    /// Runs a command and demands that it succeeds.
    ///
    /// - Returns: what it wrote to standard output.
    @discardableResult
    func run(_ arguments: [String], seconds: Double) throws -> String {
        let process = try SkeinProcess(self, arguments, isHeld: true)
        let ending = try process.wait(seconds: seconds)
        try process.demandSuccess()
        return ending.output
    }
}

/// What a program trains, and where its runs are.
package struct Workload: Sendable {
    package var program: SkeinProgram
    package var model: String
    package var data: String
    /// Where all runs and their logs are.
    package var directory: String

    package init(program: SkeinProgram, model: String, data: String, directory: String) {
        self.program = program
        self.model = model
        self.data = data
        self.directory = directory
    }

    /// The directory of a run.
    package func path(_ output: String) -> String { directory + "/" + output }

    /// The options that every run has; those that follow may say otherwise.
    func words(_ output: String) -> [String] {
        ["--model", model, "--data", data, "--output", path(output)]
            + TrainingConfiguration.fixedWords
    }

    /// Seconds that a run may take: longer than any that is measured.
    static let longest = 24 * 3600.0

    /// Trains in one process and demands that it succeeds.
    func train(_ output: String, _ options: [String]) throws {
        try program.run(["train"] + words(output) + options, seconds: Self.longest)
    }

    /// Proves that a run has each micro-batch of its ledger exactly once.
    func verifyLedger(of output: String) throws {
        try program.run(["inspect", "--verify-ledger", path(output)], seconds: Self.longest)
    }

    /// SHA-256 of a run's final adapter.
    func adapterDigest(of output: String) throws -> SHA256.Digest {
        try MappedFile(path: path(output) + "/adapter/" + AdapterFiles.weightsName).withBytes {
            SHA256.digest(of: $0)
        }
    }
}

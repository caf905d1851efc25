import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// A short run for tests of faults, and its result without any.
enum FaultBench {
    /// 16 steps of four micro-batches, and checkpoints. The first lease is one of the first step.
    static let run = [
        "--epochs", "2", "--checkpoint-every", "5", "--micro-batch-tokens", "1",
        "--validate-at-start", "off",
    ]
    static let steps = 16

    /// The files of the run in one process.
    private static let quiet = Result {
        var files: [String: String] = [:]
        try Workbench.with { bench in
            try bench.train("quiet", run)
            files = try bench.result(of: "quiet")
        }
        return files
    }

    /// Makes a bench and starts a coordinator for the run there.
    static func withCluster(
        _ options: [String] = [], _ body: (ClusterHarness) throws -> Void
    ) throws {
        try Workbench.with { bench in
            try body(try ClusterHarness(bench, "run", run + options))
        }
    }

    /// Lets a healthy worker finish the run, and checks its result.
    static func finish(
        _ cluster: ClusterHarness, worker: String? = "healthy", _ options: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if let worker { try cluster.startWorker(worker, options) }
        try cluster.finish()
        try verify(cluster.bench, "run", sourceLocation: sourceLocation)
    }

    /// Checks that a finished run has the bytes of a quiet one, and that its ledger verifies.
    static func verify(
        _ bench: Workbench, _ output: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            try bench.result(of: output) == quiet.get(), "\(output)",
            sourceLocation: sourceLocation)
        try verifyLedger(bench, of: output, steps: steps, sourceLocation: sourceLocation)
    }

    /// A token file, of mode 0600 unless told otherwise.
    static func token(
        _ bench: Workbench, _ name: String = "token", text: String, mode: Int = 0o600
    ) throws -> String {
        let path = try bench.write(text, to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// Bytes of memory that a process uses.
    static func residentBytes(_ process: SkeinProcess) throws -> Int {
        let data = FileManager.default.contents(atPath: "/proc/\(process.identifier)/status")
        let text = String(decoding: data ?? Data(), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let words = try #require(line, "no VmRSS").split(separator: " ")
        return try #require(Int(words[1])) * 1024
    }

    /// Blocks until `isTrue`, or records that it timed out.
    static func wait(
        seconds: Double = SkeinProcess.patience, for what: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ isTrue: () throws -> Bool
    ) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try !isTrue() {
            guard ContinuousClock.now < deadline else {
                Issue.record("timed out waiting for \(what)", sourceLocation: sourceLocation)
                return
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }
}

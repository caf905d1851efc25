import SkeinLab
import SkeinTensors
import SkeinTestSupport
import Testing

/// `--compute int8`: sums of integers are exact, so one hash holds whichever instructions a processor
/// has.
@Suite struct IntegerComputeTests {
    private static let run = ["--compute", "int8"] + FaultBench.run

    /// All but those of Arm, which elsewhere are `fused` once more, slowly.
    private static var levels: [ProcessorLevel] {
        #if arch(arm64)
            return ProcessorLevel.allCases
        #else
            return ProcessorLevel.allCases.filter { ![.dotprod, .i8mm].contains($0) }
        #endif
    }

    /// These levels have three kernels for products of integers, where the processor has them all.
    private static var mixed: [ProcessorLevel] {
        #if arch(arm64)
            return [.plain, .dotprod, .i8mm]
        #else
            return [.plain, .avx2, .avx512]
        #endif
    }

    private static func shell(_ level: ProcessorLevel) -> String {
        "SKEIN_CPU_LEVEL=\(level.rawValue) exec \"$@\""
    }

    @Test("one process gives one hash at every level, with any threads, and with streamed weights")
    func levels() throws {
        try Workbench.with { bench in
            try bench.train("here", Self.run + ["--threads", "2", "--weights", "streamed"])
            let expected = try bench.result(of: "here")
            for level in Self.levels {
                let words = bench.trainWords(level.rawValue, Self.run + ["--threads", "1"])
                let ending = try SkeinProcess.run(words, shell: Self.shell(level))
                #expect(ending.status == 0, "\(level): \(ending.error)")
                #expect(try bench.result(of: level.rawValue) == expected, "\(level)")
            }
            let inspected = try SkeinProcess.run(["inspect", bench.path("here")])
            #expect(inspected.output.contains("int8"), "\(inspected.output)")
        }
    }

    @Test("a cluster of a coordinator and workers at any levels ends with the hash of one process")
    func mixedCluster() throws {
        try Workbench.with { bench in
            try bench.train("alone", Self.run)
            var work = try bench.work()
            // The coordinator, which takes the steps and writes the adapter, has no FMA.
            let plain = bench.path("plain-skein")
            try ShellScript.write(
                "set -- '\(work.program.path)' \"$@\"\n" + Self.shell(.plain), at: plain)
            work.program.path = plain
            let cluster = try ClusterHarness(work, "run", Self.run)
            for level in Self.mixed {
                try cluster.startWorker(
                    level.rawValue, model: bench.model, shell: Self.shell(level))
            }
            try cluster.finish()
            #expect(try bench.result(of: "run") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "run", steps: FaultBench.steps)
        }
    }
}

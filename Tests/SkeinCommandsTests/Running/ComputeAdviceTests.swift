import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinCommands

@Suite("what the modes' speeds say")
struct ComputeAdviceTests {
    private struct Case: Sendable {
        var compute: String
        /// The speeds of fp32, bf16 and int8; 0: the run could not have the mode.
        var speeds: [(String, [Double])]
        /// nil: nothing is said.
        var isWarning: Bool?
        var sentence = ""
    }

    private static let end = "; another one gives another result, and a run keeps its own"
    private static let here = ComputeAdvice.here

    private static let cases: [Case] = [
        // Intel Emerald Rapids.
        Case(
            compute: "bf16", speeds: [(here, [100, 48, 410])], isWarning: true,
            sentence: "--compute bf16 is 0.48 times as fast as fp32 in this CPU's registers; "
                + "int8 is 4.1 times"),
        Case(
            compute: "bf16", speeds: [(here, [100, 48, 0])], isWarning: true,
            sentence: "--compute bf16 is 0.48 times as fast as fp32 in this CPU's registers"),
        Case(
            compute: "fp32", speeds: [(here, [100, 48, 410])], isWarning: false,
            sentence:
                "--compute fp32 is not the fastest in this CPU's registers: int8 is 4.1 times "
                + "as fast"),
        Case(compute: "int8", speeds: [(here, [100, 48, 410])]),
        // AMD Zen 4.
        Case(
            compute: "fp32", speeds: [(here, [100, 199, 398])], isWarning: false,
            sentence:
                "--compute fp32 is not the fastest in this CPU's registers: int8 is 4.0 times "
                + "as fast, bf16 is 2.0 times as fast"),
        Case(
            compute: "bf16", speeds: [(here, [100, 199, 0])]),
        // AVX2, where bf16 is multiplied as fp32 is.
        Case(compute: "fp32", speeds: [(here, [100, 99, 119])]),
        Case(compute: "bf16", speeds: [(here, [100, 96, 110])]),
        Case(
            compute: "int8", speeds: [(here, [100, 99, 94])], isWarning: true,
            sentence: "--compute int8 is 0.94 times as fast as fp32 in this CPU's registers"),
        // The sum counts, and the machine that is behind is named.
        Case(
            compute: "bf16", speeds: [("a", [100, 200, 0]), ("attic", [100, 50, 0])]),
        Case(
            compute: "fp32", speeds: [("a", [100, 200, 0]), ("attic", [100, 50, 0])],
            isWarning: false,
            sentence:
                "--compute fp32 is not the fastest in the registers of 2 machines: bf16 is 1.2 "
                + "times as fast (attic: 0.50)"),
        Case(
            compute: "bf16", speeds: [("a", [100, 95, 300]), ("attic", [100, 48, 310])],
            isWarning: true,
            sentence:
                "--compute bf16 is 0.71 times as fast as fp32 in the registers of "
                + "2 machines (attic: 0.48); int8 is 3.0 times"),
        Case(
            compute: "bf16", speeds: [("a", [100, 60, 0])], isWarning: true,
            sentence: "--compute bf16 is 0.60 times as fast as fp32 in the registers of a"),
        // A mode that one of them cannot have is not compared.
        Case(compute: "fp32", speeds: [("a", [100, 200, 400]), ("b", [100, 0, 0])]),
        Case(compute: "bf16", speeds: [("a", [0, 200, 0])]),
        Case(compute: "fp32", speeds: []),
    ]

    @Test("a mode slower than fp32 is warned of; a faster one is told", arguments: cases.indices)
    func sentences(index: Int) {
        let one = Self.cases[index]
        let machines = one.speeds.map { name, speeds in
            let named = zip(["fp32", "bf16", "int8"], speeds).filter { $0.1 > 0 }
            return (name: name, speeds: Dictionary(uniqueKeysWithValues: named))
        }
        let advice = ComputeAdvice(one.compute, machines: machines)
        #expect(advice?.isWarning == one.isWarning)
        #expect(advice?.sentence == (one.isWarning == nil ? nil : one.sentence + Self.end))
    }

    @Test("a program reads the rates from the line")
    func facts() throws {
        let advice = try #require(
            ComputeAdvice(
                "bf16",
                machines: [
                    ("a", ["fp32": 100, "bf16": 50]), ("b", ["fp32": 1e30, "bf16": 2]),
                ]))
        #expect(
            JSONValue.fields(advice.facts).written
                == "{\"event\":\"compute_rates\",\"compute\":\"bf16\",\"rates\":"
                + "{\"fp32\":1000000000000000000,\"bf16\":52},\"machines\":[\"a\",\"b\"]}")
    }

    @Test("a cache that cannot be written is told, and the rates all the same")
    func unwritable() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("a file", to: directory + "/file")
            let process = CapturedProcess()
            ComputeAdvice.tell(.fp32, process.log, directory: directory + "/file/rates")
            #expect(
                process.error.hasPrefix(
                    "this CPU's rates are measured again at each start, as they cannot be kept: "))
            #expect(process.error.contains(directory + "/file"))
        }
    }

    @Test("a run keeps its mode: it is not told of another one when it is resumed")
    func resumed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let words = ["--model", "m", "--data", "d", "--output", directory]
            var options = try TrainCommand(
                ArgumentParser.parse(words, by: TrainCommand.table)
            ).options
            #expect(options.beginsRun)
            options.resume = true
            #expect(options.beginsRun)
            try AtomicFile.write("{}", to: directory + "/run.json")
            #expect(!options.beginsRun)
            options.resume = false
            #expect(options.beginsRun)
        }
    }
}

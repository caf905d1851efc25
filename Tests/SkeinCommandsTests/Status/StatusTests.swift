import Foundation
import SkeinBasics
import Testing

@testable import SkeinCommands

@Suite struct StatusTests {
    private static let report = """
        {"run":{"output":"run","term":2,"step":12,"step_count":170,"phase":"training",
        "loss":2.314},"why":"step 13 waits for mb 17 on w3","waiting_seconds":3.1,
        "workers":[{"name":"w3","address":"10.0.0.7:5","threads":2,"state":"computing","lease_count":2,
        "leases":[{"round":14,"micro_batch":17,"seconds":2.8,"progress":0.61}],
        "tokens_per_second":183.2,"last_heard_seconds":0.21,"accepted":1204,"refused":0},
        {"name":"w4","state":"idle"}],
        "counters":{"leases":31000,"releases":2}}
        """

    private static func show(_ report: String, _ words: String...) throws -> String {
        let process = CapturedProcess()
        let command = try StatusCommand(
            ArgumentParser.parse(
                ["--coordinator", "localhost"] + words, by: StatusCommand.table))
        try command.show(Array(report.utf8), process.io())
        return process.output
    }

    @Test("people get a table")
    func table() throws {
        #expect(
            try Self.show(Self.report) == """
                run  step 12/170  training  loss 2.3140  term 2
                step 13 waits for mb 17 on w3 (for 3.10 s)

                worker  state      address     computes                         threads  tokens/s       heard  accepted  refused
                w3      computing  10.0.0.7:5  mb 17 (61 %, 2.80 s) and 1 more        2       183  210 ms ago     1,204        0
                w4      idle       ?           -                                      -         -           -         -        -

                leases 31,000  releases 2

                """)
    }

    @Test("--why is the sentence, --json the report as it came")
    func others() throws {
        #expect(try Self.show(Self.report, "--why") == "step 13 waits for mb 17 on w3\n")
        #expect(try Self.show(Self.report, "--json") == Self.report + "\n")
    }

    private static let poor = [
        "{}", "{\"run\":[],\"workers\":{},\"counters\":3,\"why\":null}",
        "{\"workers\":[1,null,{\"leases\":[{},\"x\"],\"threads\":1e300,\"name\":7}]}",
        "{\"run\":{\"step\":1.5,\"loss\":\"x\",\"term\":-1},\"waiting_seconds\":1e308}",
        "{\"workers\":[{\"leases\":[{\"progress\":-1e300},{\"progress\":7},{},{}]}]}",
        "{\"workers\":[{\"lease_count\":-9000000000000000000}]}",
    ]

    @Test("fields that are missing or of another type are left out", arguments: poor)
    func lacks(report: String) throws {
        #expect(!(try Self.show(report)).isEmpty)
        #expect(
            try Self.show(report, "--why") == "the coordinator does not say what it waits for\n")
    }

    @Test("what is no JSON object is an error", arguments: ["", "[]", "{", "3", "\"x\""])
    func noObject(report: String) {
        let error = CommandError.badInput(.noStatus, place: "localhost:7534")
        for form in ["--why", "--json"] {
            #expect(throws: error) { try Self.show(report, form) }
        }
    }

    @Test("a report cannot speak to the terminal")
    func controls() throws {
        let text = try Self.show("{\"why\":\"a\\u001b[2Jb\\u0007\\nc\"}", "--why")
        #expect(text == "a?[2Jb??c\n")
    }
}

import Testing

@testable import SkeinCommands

@Suite("what is said of a run")
struct TrainingReporterTests {
    @Test("a run whose rows were not recorded is told of the begin token where there is one")
    func rowsNotRecorded() {
        let plain = TrainingReporter.rowsNotRecorded("run/run.json", beginToken: nil)
        #expect(plain.contains("did not record its rows") && plain.hasSuffix("(run/run.json)"))
        let begun = TrainingReporter.rowsNotRecorded("run/run.json", beginToken: "<s>")
        #expect(begun.hasPrefix(plain))
        #expect(begun.contains("rows of text") && begun.contains("now begin with <s>"))
        #expect(begun.contains("start a new run with another --output"))
    }
}

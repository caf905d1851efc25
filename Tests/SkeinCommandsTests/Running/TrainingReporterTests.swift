import Testing

@testable import SkeinCommands

@Suite("what is reported of a run")
struct TrainingReporterTests {
    @Test("the warning about rows that were not recorded names the begin token, if there is one")
    func rowsNotRecorded() {
        let plain = TrainingReporter.rowsNotRecorded("run/run.json", beginToken: nil)
        #expect(plain.contains("did not record its rows") && plain.hasSuffix("(run/run.json)"))
        let begun = TrainingReporter.rowsNotRecorded("run/run.json", beginToken: "<s>")
        #expect(begun.hasPrefix(plain))
        #expect(begun.contains("rows of text") && begun.contains("now begin with <s>"))
        #expect(begun.contains("start a new run with another --output"))
    }

    @Test("Ctrl-C while the kept adapter is measured does not speak of a step and a checkpoint")
    func stopping() {
        let training = TrainingReporter.stopping(isMeasuring: false)
        #expect(training.contains("after this step") && training.contains("with a checkpoint"))
        let measuring = TrainingReporter.stopping(isMeasuring: true)
        #expect(measuring.contains("the run is complete") && !measuring.contains("step"))
        for text in [training, measuring] { #expect(text.hasSuffix("again to stop at once")) }
    }
}

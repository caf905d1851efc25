import Testing

@testable import SkeinTraining

@Suite("steps whose results turn out wrong")
struct StepSpoiledTests {
    @Test("a step is computed again until it is not spoiled, and that value is returned")
    func again() throws {
        var times = 0
        let value = try StepSpoiled.repeating("step 3") {
            times += 1
            if times < Limits.spoiledAttempts { throw StepSpoiled() }
            return times
        }
        #expect(value == Limits.spoiledAttempts)
    }

    @Test("a step that is spoiled each time ends the run with an error that names it")
    func never() throws {
        var times = 0
        let stopped = #expect(throws: SourceStopped.self) {
            try StepSpoiled.repeating("step 3") {
                times += 1
                throw StepSpoiled()
            }
        }
        #expect(times == Limits.spoiledAttempts)
        guard case .failed(let error as TrainingError) = stopped?.reason else {
            Issue.record("another end: \(stopped as Any)")
            return
        }
        #expect(error == .spoiled(what: "step 3", times: times))
    }
}

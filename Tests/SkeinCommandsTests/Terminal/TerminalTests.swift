import Foundation
import SkeinBasics
import SkeinCoordination
import Synchronization
import Testing

@testable import SkeinCommands

@Suite struct ProgressLineTests {
    static let began = ContinuousClock.now

    static func progress(
        step: Int, of count: Int, firstStep: Int = 0, loss: Double = 2.31401
    ) -> TrainingProgress {
        var run = RunSnapshot.Progress()
        (run.step, run.stepCount, run.loss, run.tokensPerSecond) = (step, count, loss, 385.4)
        return TrainingProgress(run: run, epoch: 1, began: began, firstStep: firstStep)
    }

    @Test("a line shows step, loss, speed and the remaining time")
    func line() {
        let text = ProgressLine.text(
            Self.progress(step: 12, of: 170), now: Self.began + .seconds(24))
        #expect(text == "step 12/170  epoch 1  loss 2.3140  385 tokens/s  ETA 5m 16s")
    }

    @Test("the remaining time of a resumed run follows from its own steps only")
    func resumed() {
        let progress = Self.progress(step: 110, of: 200, firstStep: 100)
        let rest = ProgressLine.remaining(progress, now: Self.began + .seconds(20))
        #expect(rest == .seconds(180))
        let atStart = Self.progress(step: 100, of: 200, firstStep: 100)
        #expect(ProgressLine.remaining(atStart, now: Self.began + .seconds(20)) == nil)
    }

    @Test("the last step has no remaining time, and a NaN loss is shown")
    func edges() {
        let done = ProgressLine.text(Self.progress(step: 170, of: 170), now: Self.began)
        #expect(!done.contains("ETA"))
        let broken = Self.progress(step: 1, of: 170, loss: .nan)
        #expect(ProgressLine.text(broken, now: Self.began).contains("loss nan"))
    }

    @Test(
        "durations have two units",
        arguments: [
            (0.2, "0s"), (59.4, "59s"), (59.6, "1m 00s"), (312, "5m 12s"), (11220, "3h 07m"),
            (183_600, "2d 03h"),
        ])
    func durations(seconds: Double, text: String) {
        #expect(ProgressLine.duration(.seconds(seconds)) == text)
    }

    @Test("a terminal gets one line, which is rewritten and cut to the width")
    func terminal() {
        let process = CapturedProcess()
        var display = ProgressDisplay(process.io(isTerminal: true), columns: 12)
        display.show(Self.progress(step: 1, of: 2), now: Self.began)
        display.show(Self.progress(step: 2, of: 2), now: Self.began)
        display.finishLine()
        display.finishLine()
        #expect(process.error == "\r\u{1b}[Kstep 1/2  e\r\u{1b}[Kstep 2/2  e\n")
    }

    @Test("a file gets a line for each report")
    func file() {
        let process = CapturedProcess()
        var display = ProgressDisplay(process.io(), columns: 12)
        display.show(Self.progress(step: 1, of: 1), now: Self.began)
        display.finishLine()
        #expect(process.error == "step 1/1  epoch 1  loss 2.3140  385 tokens/s\n")
    }

    @Test("a JSON log gets objects, even on a terminal")
    func json() {
        let process = CapturedProcess()
        let io = process.io(isTerminal: true, log: Log(format: .json))
        var display = ProgressDisplay(io, columns: 12)
        display.show(Self.progress(step: 1, of: 2), now: Self.began)
        #expect(
            process.error == """
                {"level":"info","message":"step","step":1,"steps":2,"epoch":1,"loss":2.31401,\
                "tokens_per_second":385.4}

                """)
    }
}

@Suite struct InterruptFlagTests {
    @Test("the first signal sets the flag, the second ends at once")
    func signals() async throws {
        let flag = InterruptFlag()
        let calls = Mutex<[String]>([])
        // Not SIGINT, which the test runner handles itself.
        flag.listen(
            to: [SIGUSR2], first: { calls.withLock { $0.append("first") } },
            second: { calls.withLock { $0.append("second") } })
        #expect(!flag.isSet)
        kill(getpid(), SIGUSR2)
        try await wait { calls.withLock { $0.count } == 1 }
        #expect(flag.isSet)
        #expect(calls.withLock { $0 } == ["first"])
        kill(getpid(), SIGUSR2)
        try await wait { calls.withLock { $0.count } == 2 }
        #expect(calls.withLock { $0 } == ["first", "second"])
    }

    @Test("a flag that listens after another one has ended gets its signals")
    func again() async throws {
        for _ in 0..<3 {
            let flag = InterruptFlag()
            flag.listen(to: [SIGUSR1], second: {})
            kill(getpid(), SIGUSR1)
            try await wait { flag.isSet }
            flag.forget()
        }
    }

    private func wait(until isDone: () -> Bool) async throws {
        for _ in 0..<6000 where !isDone() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(isDone())
    }
}

import SkeinCoordination
import SkeinWatch
import Testing

@testable import SkeinCommands

@Suite("what the panel shows") struct PanelViewTests {
    private static func facts(workers: [RunSnapshot.Worker] = []) -> PanelFacts {
        var run = RunSnapshot.Progress()
        (run.step, run.stepCount, run.epoch, run.epochCount) = (12, 48, 1, 3)
        (run.loss, run.tokensPerSecond, run.etaSeconds) = (2.31401, 385.4, 316)
        (run.validationLoss, run.bestValidationLoss, run.bestStep) = (2.5, 2.41, 10)
        let waiting = Waiting(round: .step(13), reason: .computingHere, seconds: 3.1)
        return PanelFacts(
            snapshot: RunSnapshot(run: run, waiting: waiting, workers: workers),
            losses: [3, 2.9, 2.5, 2.4, 2.31])
    }

    private static func lines(
        _ facts: PanelFacts, _ columns: Int, _ rows: Int, unicode: Bool = false
    ) -> [String] {
        PanelView(size: TerminalSize(columns: columns, rows: rows), unicode: unicode)
            .lines(facts).map(\.text)
    }

    private static func worker(_ name: String) -> RunSnapshot.Worker {
        RunSnapshot.Worker(name: name, address: "", state: .idle, lastHeardSeconds: 0.2)
    }

    @Test("a wide terminal shows bar, figures, curve and what is waited for")
    func wide() {
        #expect(
            Self.lines(Self.facts(), 100, 24) == [
                "[#######-----------------------] step 12/48  epoch 1/3  loss 2.3140  385 tokens/s  "
                    + "ETA 5m 16s",
                "loss 3.00 -> 2.31 #%-._  validation 2.5000 (best 2.4100, step 10)",
                "computes step 13 (3.1 s)",
            ])
        #expect(Self.lines(Self.facts(), 100, 24, unicode: true)[1].contains("█▇▃▂▁"))
    }

    @Test(
        "a narrow terminal keeps what matters most",
        arguments: [
            (61, "step 12/48  epoch 1/3  loss 2.3140  385 tokens/s  ETA 5m 16s"),
            (40, "step 12/48  loss 2.3140  ETA 5m 16s"), (25, "step 12/48  loss 2.3140"),
            (14, "step 12/48"), (6, "step "), (1, "s"),
        ])
    func narrow(columns: Int, first: String) {
        #expect(Self.lines(Self.facts(), columns, 24)[0] == first)
    }

    @Test(
        "a low terminal gets fewer lines, and none without room for one",
        arguments: [(1, 0), (2, 1), (3, 1), (4, 2), (6, 3), (24, 7), (1000, 7)])
    func low(rows: Int, count: Int) {
        let workers = (1...3).map { Self.worker("w\($0)") }
        #expect(Self.lines(Self.facts(workers: workers), 100, rows).count == count)
    }

    @Test("every line fits, whatever the size and the facts")
    func fits() {
        let odd = ["日本語の名前", "a\u{1b}[2Jb\u{7}", String(repeating: "x", count: 500), "\u{202e}é"]
        for workers in [0, 1, 4, 200] {
            let names = (0..<workers).map { odd[$0 % odd.count] + "\($0)" }
            let facts = Self.facts(workers: names.map(Self.worker))
            for columns in 1...90 {
                for rows in [1, 2, 3, 5, 9, 24, 60] {
                    let view = PanelView(
                        size: TerminalSize(columns: columns, rows: rows), unicode: columns % 2 == 0)
                    let lines = view.lines(facts)
                    #expect(lines.count <= max(0, rows - 1))
                    for line in lines {
                        #expect(line.columns <= max(1, columns - 1))
                        #expect(!line.text.unicodeScalars.contains { $0.value < 0x20 })
                    }
                }
            }
        }
    }

    @Test("the workers that fit are listed, and the others are counted")
    func workers() {
        let lines = Self.lines(Self.facts(workers: (0..<50).map { Self.worker("w\($0)") }), 80, 20)
        #expect(lines.count == 10)
        #expect(lines[3] == "worker  state  computes  tokens/s       heard")
        #expect(lines[4].hasPrefix("w0      idle   -") && lines[4].hasSuffix(" ago"))
        #expect(lines[9] == "and 45 more")
    }

    @Test("numbers that no run could have computed are shown and do not stop anything")
    func oddNumbers() {
        var facts = Self.facts()
        facts.snapshot.run.loss = .nan
        facts.snapshot.run.etaSeconds = .infinity
        facts.snapshot.run.tokensPerSecond = -.infinity
        facts.losses = [.nan, .infinity, 1e308, -1e308, 0]
        #expect(Self.lines(facts, 100, 24)[0].hasSuffix("step 12/48  epoch 1/3  loss nan"))
        (facts.snapshot.run.step, facts.snapshot.run.stepCount) = (7, 0)
        #expect(Self.lines(facts, 100, 24)[0].hasPrefix("step 7/0"))
        facts.snapshot.run.stepCount = 3
        #expect(Self.lines(facts, 100, 24)[0].contains("step 7/3"))
    }

    @Test(
        "a curve has a sign for each group of values",
        arguments: [
            ([], 10, ""), ([1], 10, ""), ([1, 2], 10, "_#"), ([2, 2, 2], 10, "___"),
            ([8, 6, 4, 2], 2, "#_"), ([1, 2], 0, ""), ([.nan, 1, 2], 9, "_#"),
        ] as [([Double], Int, String)])
    func curves(values: [Double], columns: Int, text: String) {
        #expect(Sparkline.text(values, columns: columns, unicode: false) == text)
    }

    @Test("the way of the loss has digits that tell, also where it is small or not finite")
    func way() {
        var facts = Self.facts()
        facts.losses = [.nan, 4.1254, 0.5, 0.0432]
        facts.snapshot.run.loss = 0.0432
        #expect(Self.lines(facts, 100, 24)[1].hasPrefix("loss 4.13 -> 0.0432 "))
        facts.snapshot.run.loss = .infinity
        #expect(Self.lines(facts, 100, 24)[1].hasPrefix("loss 4.13 -> inf "))
        facts.losses = [4.1254]
        facts.snapshot.run.loss = 4.1254
        #expect(Self.lines(facts, 100, 24)[1].hasPrefix("loss 4.1254  validation"))
    }

    @Test("the line that stays has no remaining time, since the run may be interrupted")
    func lastLine() {
        #expect(
            TerminalPanel.lastLine(Self.facts().snapshot.run)
                == "step 12/48  epoch 1  loss 2.3140  385 tokens/s")
    }

    @Test("a terminal that cannot move its cursor has no panel")
    func dumb() {
        #expect(TerminalPanel.moves(["TERM": "xterm-256color"]))
        #expect(!TerminalPanel.moves(["TERM": "dumb"]))
        #expect(!TerminalPanel.moves([:]))
    }
}

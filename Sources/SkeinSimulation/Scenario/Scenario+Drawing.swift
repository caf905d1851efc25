// What goes wrong in the world of a seed. How often is drawn, too: a run with a fault each second and one
// with a fault a minute find different things.

extension Scenario {
    /// The scenario of a seed.
    ///
    /// - Parameters:
    ///   - seed: any number.
    ///   - recipe: how it trains.
    ///   - workers: nil: from 1 to 12, mostly few.
    ///   - steps: nil: as many as the run's epochs have.
    ///   - faults: nil: those of the seed.
    /// - Returns: what happens in it, as far as that is known before.
    package static func drawn(
        _ seed: UInt64, _ recipe: Recipe, workers: Int? = nil, steps: Int? = nil,
        faults: [Fault]? = nil
    ) -> Scenario {
        var random = SplitMix(state: seed &* 0xD6E8_FEB8_6659_FD93 &+ (recipe == .local ? 1 : 0))
        let most = [4, 4, 4, 4, 4, 4, 8, 8, 8, 12][Int(random.next() % 10)]
        let count = Int.random(in: 1...most, using: &random)
        var scenario = Scenario(
            seed: seed, recipe: recipe, workers: workers ?? count, steps: steps,
            faults: faults ?? [])
        if faults == nil {
            var draw = FaultDraw(random: SplitMix(state: random.next()))
            scenario.faults = draw.faults(workers: scenario.workers)
            if scenario.fetches || scenario.keepsFeatures {
                // Drawn apart: what goes wrong in other worlds stays as it was.
                var draw = FetchDraw(random: SplitMix(state: random.next()))
                scenario.faults += draw.faults(workers: scenario.workers)
                scenario.faults.sort { ($0.at, $0.who.text) < ($1.at, $1.who.text) }
            }
        }
        return scenario
    }
}

/// Draws the faults of a scenario.
private struct FaultDraw {
    var random: SplitMix
    /// After this time all goes well: a run must end.
    private var horizon = 0.0
    private var found: [Fault] = []

    init(random: SplitMix) { self.random = random }

    mutating func faults(workers: Int) -> [Fault] {
        // Nearly all runs end before the second and the third.
        horizon = [40, 150, 400][Int(random.next() % 3)]
        let gap = [4.0, 8, 8, 20, 60][Int(random.next() % 5)]
        for worker in 0..<workers {
            // One in eight is never troubled.
            if random.happens(0.125) { continue }
            work(worker, gap)
        }
        coordinator()
        strangers(workers)
        if random.happens(0.25) {
            add(random.number(in: 1...20), .coordinator, .term, random.number(in: 0.3...2))
        }
        return found.sorted { ($0.at, $0.who.text) < ($1.at, $1.who.text) }
    }

    private mutating func add(
        _ at: Double, _ who: Fault.Who, _ what: Fault.What, _ seconds: Double = 0,
        _ number: Int = 0
    ) {
        guard at < horizon else { return }
        // Milliseconds: the line of a file says all of it.
        found.append(
            Fault(
                at: (at * 1000).rounded() / 1000, who: who, what: what,
                seconds: (seconds * 1000).rounded() / 1000, number: number))
    }

    private mutating func work(_ worker: Int, _ gap: Double) {
        let who = Fault.Who.worker(worker)
        // One worker is always right: what none agrees with has no end.
        if worker > 0, random.happens(0.2) { add(0, who, .wrong, 0, 30) }
        if random.happens(0.2) {
            add(0, who, .drift, 0, Int.random(in: -900...900, using: &random))
        }
        var time = 0.0
        while true {
            time += random.number(in: 0.1...gap)
            guard time < horizon else { return }
            switch Int.random(in: 0..<20, using: &random) {
            case 0...2: add(time, who, .kill, random.number(in: 0.2...6))
            case 3...5: add(time, who, .stop, random.number(in: 0.2...6))
            case 6, 7: add(time, who, .silence)
            case 8, 9: add(time, who, .reset)
            case 10, 11: add(time, who, .leave)
            case 12: if random.happens(0.3) { add(time, who, .hang) }
            case 13: add(time, who, .cut, random.number(in: 0.1...9))
            case 14: add(time, who, .mute, random.number(in: 0.1...9))
            case 15: add(time, who, .deaf, random.number(in: 0.1...9))
            case 16: flap(time, who)
            case 17:
                add(time, who, .unreachable, random.number(in: 0.5...12), Int(random.next() % 3))
                add(time + 0.05, who, .reset)
            case 18: add(time, who, .twin, random.number(in: 0.5...10))
            default: partition(time, gap)
            }
        }
    }

    /// A line that comes and goes.
    private mutating func flap(_ time: Double, _ who: Fault.Who) {
        var time = time
        for _ in 0..<Int.random(in: 3...8, using: &random) {
            let seconds = random.number(in: 0.05...1)
            add(time, who, .cut, seconds)
            time += seconds + random.number(in: 0.05...0.6)
        }
    }

    /// Some workers are cut off at once.
    private mutating func partition(_ time: Double, _ gap: Double) {
        let seconds = random.number(in: 0.2...9)
        let what = [Fault.What.cut, .mute, .deaf][Int(random.next() % 3)]
        for worker in 0..<12 where random.happens(0.4) { add(time, .worker(worker), what, seconds) }
    }

    private mutating func coordinator() {
        if random.happens(0.2) {
            add(0, .coordinator, .drift, 0, Int.random(in: -900...900, using: &random))
        }
        if random.happens(0.15) {
            for _ in 0..<3 {
                add(random.number(in: 0.5...30), .coordinator, .stop, random.number(in: 0.2...6))
            }
        }
        if random.happens(0.1) { add(random.number(in: 0.5...30), .coordinator, .second) }
        if random.happens(0.15) {
            add(
                random.number(in: 0.1...20), .coordinator, .takeover, random.number(in: 0.3...3),
                Int.random(in: 1...150, using: &random))
        }
        disk()
        let restores = random.happens(0.15)
        guard restores || random.happens(0.45) else { return }
        var time = 0.0
        var isCopied = false
        for _ in 0..<Int.random(in: restores ? 3...6 : 1...3, using: &random) {
            time += random.number(in: 0.3...12)
            let away = random.number(in: 0.3...2)
            if restores, random.happens(0.5) {
                add(time, .coordinator, isCopied ? .restore : .copy, away)
                isCopied = true
                continue
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: add(time, .coordinator, .kill, away)
            case 3: add(time, .coordinator, .leave, away)
            case 4: add(time, .coordinator, .power, away)
            case 5, 6:
                // Ledger, metrics and names are few among all that is written, and what goes on from
                // them is much.
                add(time, .coordinator, .line, away, Int.random(in: 1...40, using: &random))
            case 7: add(time, .coordinator, .name, away, Int.random(in: 1...120, using: &random))
            default: add(time, .coordinator, .disk, away, Int.random(in: 1...400, using: &random))
            }
            let isName = found.last?.what == .name
            if random.happens(isName ? 0.8 : 0.4), let last = found.last, last.what != .power {
                // Whatever killed it, power fails while it is away: between a name and what makes it
                // durable, mostly.
                add(time + 0.2, .coordinator, .power, away)
            }
        }
    }

    private mutating func disk() {
        guard random.happens(0.25) else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let (time, seconds) = (random.number(in: 0...30), random.number(in: 0.2...8))
            let number = Int.random(in: 1...20, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: add(time, .coordinator, .full, seconds, number * 200)
            case 2: add(time, .coordinator, .unreadable, seconds, 1 + number / 4)
            case 3: add(time, .coordinator, .unwritable, seconds, 1 + number / 4)
            case 4, 5: add(time, .coordinator, .short, seconds, number)
            case 6:
                add(time, .coordinator, .lie, seconds)
                add(time + seconds * random.unit(), .coordinator, .power, 0.5)
            default: add(time, .coordinator, .rot, 0.5)
            }
        }
    }

    private mutating func strangers(_ workers: Int) {
        guard random.happens(0.25) else { return }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            add(
                random.number(in: 0.01...40), .stranger, .noise, random.number(in: 0.1...15),
                Int.random(in: 0..<Stranger.kinds, using: &random))
        }
        if random.happens(0.3) {
            add(random.number(in: 0.1...20), .stranger, .version, 5, Int(random.next() % 2))
        }
    }
}

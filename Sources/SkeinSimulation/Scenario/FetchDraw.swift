/// Draws what goes wrong with the disks of workers. They fetch their model to them, most of them in the first
/// seconds, or keep features there.
struct FetchDraw {
    var random: SplitMix
    private var found: [Fault] = []

    init(random: SplitMix) { self.random = random }

    mutating func faults(workers: Int) -> [Fault] {
        for worker in 0..<workers where random.happens(0.6) {
            for _ in 0..<Int.random(in: 1...4, using: &random) { work(.worker(worker)) }
        }
        if random.happens(0.5) {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                add(
                    random.number(in: 0.2...6), .coordinator,
                    random.happens(0.3) ? .stop : .kill, random.number(in: 0.3...3))
            }
        }
        return found
    }

    private mutating func add(
        _ at: Double, _ who: Fault.Who, _ what: Fault.What, _ seconds: Double = 0,
        _ number: Int = 0
    ) {
        found.append(
            Fault(
                at: (at * 1000).rounded() / 1000, who: who, what: what,
                seconds: (seconds * 1000).rounded() / 1000, number: number))
    }

    private mutating func work(_ who: Fault.Who) {
        let isEarly = random.happens(0.7)
        let (time, away) = (
            random.number(in: 0.1...(isEarly ? 6 : 30)), random.number(in: 0.2...5)
        )
        let number = Int.random(in: 1...30, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        // Most of them count from the first fetch on, whenever that is.
        case 0...2: add(isEarly ? 0.01 : time, who, .disk, away, number)
        case 3: add(isEarly ? 0.01 : time, who, .line, away, number)
        case 4: add(isEarly ? 0.01 : time, who, .name, away, 1 + number / 3)
        case 5, 6: add(time, who, .power, away)
        case 7: add(time, who, .full, away, number * 3000)
        case 8: add(time, who, .unreadable, away, 1 + number / 4)
        case 9: add(time, who, .unwritable, away, 1 + number / 4)
        case 10: add(time, who, .short, away, number)
        case 11:
            add(time, who, .lie, away)
            add(time + away * random.unit(), who, .power, 0.5)
        case 12: add(time, who, .rot)
        case 13: add(time, who, .stop, 3 + 2 * away)
        case 14: add(time, who, .reset)
        case 15: add(time, who, .cut, away)
        case 16: add(time, who, .twin, 2 * away)
        default: add(time, who, .kill, away)
        }
    }
}

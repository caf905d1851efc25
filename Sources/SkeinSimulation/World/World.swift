import Foundation
import SkeinCoordination

/// A lease that a coordinator has taken back.
struct TakenBack: Hashable {
    /// 16 bytes that name the coordinator's start: keys and attempts begin anew with it.
    var start: [UInt8]
    /// The worker's.
    var name: String
    var key: WorkKey
    var attempt: UInt32
}

/// What a worker has computed.
struct Computed: Hashable {
    /// 16 bytes that name the coordinator's start.
    var start: [UInt8]
    /// The worker's.
    var name: String
    var key: WorkKey
}

/// Processes, links and disks in one thread, on a clock of their own: everything that happens is a
/// function of the seed.
final class World: @unchecked Sendable {
    // Sendable: a world, and all that is in it, is made and used on one thread alone.

    let seed: UInt64
    var random: SplitMix
    /// Virtual time since the beginning, which every process knows as a time of the system's clock.
    private(set) var now = Duration.zero
    let start = ContinuousClock.now
    private(set) var violations: [String] = []
    private(set) var trace: [String] = []
    private(set) var counts: [String: Int] = [:]
    /// The most that there was of each thing with a bound, as a part of the bound.
    private(set) var fullness: [String: Double] = [:]
    private(set) var events = 0

    /// A heap of what is to happen, without references: they would be counted at each move.
    private var line: [Entry] = []
    private var bodies: [(() -> Void)?] = []
    private var freePlaces: [Int] = []
    private var sequence = 0
    private var links: UInt64 = 0
    /// Names of workers that have hung.
    var hung: Set<String> = []
    /// What the coordinators have taken back, of which the worker may have heard before it has the lease.
    var takenBack: Set<TakenBack> = []
    /// How often which losses were computed that are no numbers.
    var doubtful: [Computed: Int] = [:]
    /// Who listens, by port.
    var ports: [UInt16: VirtualPort] = [:]

    private struct Entry {
        var time: Duration
        var order: Int
        /// In `bodies`.
        var place: Int
    }

    /// Whether what happens is written down, which takes a third of the time.
    let keepsTrace: Bool

    init(seed: UInt64, keepsTrace: Bool = false) {
        self.seed = seed
        self.keepsTrace = keepsTrace
        random = SplitMix(state: seed)
    }

    var instant: ContinuousClock.Instant { start + now }

    func after(_ delay: Duration, _ body: @escaping () -> Void) {
        at(now + delay, body)
    }

    func at(_ time: Duration, _ body: @escaping () -> Void) {
        sequence += 1
        let place: Int
        if let free = freePlaces.popLast() {
            place = free
            bodies[place] = body
        } else {
            place = bodies.count
            bodies.append(body)
        }
        line.append(Entry(time: max(time, now), order: sequence, place: place))
        var child = line.count - 1
        while child > 0, Self.isBefore(line[child], line[(child - 1) / 2]) {
            line.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private static func isBefore(_ a: Entry, _ b: Entry) -> Bool {
        (a.time, a.order) < (b.time, b.order)
    }

    private func pop() -> Entry? {
        guard let first = line.first else { return nil }
        let last = line.removeLast()
        guard !line.isEmpty else { return first }
        line[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < line.count else { return first }
            if child + 1 < line.count, Self.isBefore(line[child + 1], line[child]) { child += 1 }
            guard Self.isBefore(line[child], line[parent]) else { return first }
            line.swapAt(child, parent)
            parent = child
        }
    }

    /// Lets the next thing happen.
    ///
    /// - Returns: false when nothing more will ever happen.
    func step() -> Bool {
        guard let entry = pop() else { return false }
        now = entry.time
        let body = bodies[entry.place]
        bodies[entry.place] = nil
        freePlaces.append(entry.place)
        body?()
        events += 1
        if events > 3_000_000 { violate("more than 3,000,000 events") }
        return true
    }

    /// What is left would keep everything alive.
    func end() {
        (line, bodies, freePlaces) = ([], [], [])
        ports = [:]
    }

    func violate(_ sentence: String) {
        violations.append("at \(now): \(sentence)")
        note("VIOLATION \(sentence)")
    }

    func note(_ sentence: @autoclosure () -> String) {
        guard keepsTrace else { return }
        trace.append("\(now) \(sentence())")
        if trace.count > 400 { trace.removeFirst(200) }
    }

    /// Looks at what must not grow without end, at one process.
    func bound(_ what: String, at process: String, _ count: Int, atMost limit: Int) {
        fullness[what] = max(fullness[what] ?? 0, Double(count) / Double(limit))
        if count > limit { violate("\(process): \(count) \(what), more than \(limit)") }
    }

    func count(_ event: String) { counts[event, default: 0] += 1 }

    func duration(_ range: ClosedRange<Double>) -> Duration {
        .seconds(random.number(in: range))
    }

    /// The number of the next link; a link's delays are drawn from its own.
    func nextLink() -> UInt64 {
        links += 1
        return links
    }
}

/// SplitMix64 of Steele, Lea and Flood, 2014.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * unit()
    }

    mutating func happens(_ probability: Double) -> Bool { unit() < probability }

    /// That many random bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }
}

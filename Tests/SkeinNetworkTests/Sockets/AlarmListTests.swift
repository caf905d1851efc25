import Testing

@testable import SkeinNetwork

@Suite("alarms")
struct AlarmListTests {
    @Test("alarms go off in order, and cancelled ones never", arguments: 1...20)
    func order(seed: Int) {
        var state = UInt64(seed)
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let start = ContinuousClock.now
        var list = AlarmList()
        var told: [Int] = []
        // What is expected, as a sorted list; equal deadlines in the order of `number`.
        var expected: [(due: Int, number: Int, alarm: Alarm)] = []
        var (now, number) = (0, 0)
        for _ in 0..<3000 {
            switch next(10) {
            case 0..<5:
                number += 1
                let (due, name) = (now + next(50), number)
                let alarm = list.add(start + .milliseconds(due)) { told.append(name) }
                expected.append((due, name, alarm))
                expected.sort { ($0.due, $0.number) < ($1.due, $1.number) }
            case 5..<9:
                guard !expected.isEmpty else { continue }
                let gone = expected.remove(at: next(expected.count)).alarm
                let found = list.remove(gone) != nil
                let again = list.remove(gone) != nil
                #expect(found && !again)
            default:
                now += next(20)
                told = []
                while let action = list.takeDue(start + .milliseconds(now)) { action() }
                let due = expected.prefix { $0.due <= now }
                #expect(told == due.map(\.number))
                expected.removeFirst(due.count)
            }
            #expect(list.first == expected.first.map { start + .milliseconds($0.due) })
        }
    }
}

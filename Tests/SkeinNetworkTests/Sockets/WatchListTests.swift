import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

/// What a loop watches: the same with each way to ask the system.
@Suite("watched descriptors")
struct WatchListTests {
    private enum Kind: CaseIterable, CustomTestStringConvertible {
        #if os(Linux)
            case epoll
        #endif
        case poll

        var testDescription: String { "\(self)" }

        func make() throws -> any WatchedDescriptors {
            switch self {
            #if os(Linux)
                case .epoll: try #require(EpollDescriptors())
            #endif
            case .poll: PollDescriptors()
            }
        }
    }

    /// Two ends that both read and write; closed when it is freed.
    private final class Pair: Sendable {
        let (one, two): (Int32, Int32)

        init() { (one, two) = ClosingDescriptors.socketPair() }

        func send() {
            var byte: UInt8 = 7
            precondition(write(two, &byte, 1) == 1)
        }

        func endSending() { precondition(shutdown(two, Int32(SHUT_RDWR)) == 0) }

        deinit {
            close(one)
            close(two)
        }
    }

    private func found(_ descriptors: inout any WatchedDescriptors) -> [Int: Readiness] {
        var found: [Int: Readiness] = [:]
        descriptors.wait(milliseconds: 0) { slot, readiness in
            #expect(found[slot] == nil, "reported twice")
            found[slot] = readiness
        }
        return found
    }

    @Test("all that are ready are reported, for their interest alone", arguments: Kind.allCases)
    private func interests(_ kind: Kind) throws {
        var descriptors = try kind.make()
        defer { descriptors.close() }
        let pairs = (0..<80).map { _ in Pair() }
        defer { withExtendedLifetime(pairs) {} }
        for (slot, pair) in pairs.enumerated() {
            descriptors.add(pair.one, slot: slot, slot % 2 == 0 ? .read : [.read, .write])
            // The room for events grows with the number of watches.
            if slot == 9 { #expect(found(&descriptors).count == 5) }
        }
        #expect(found(&descriptors).allSatisfy { $0.key % 2 == 1 && $0.value == .write })
        #expect(found(&descriptors).count == 40)
        for pair in pairs { pair.send() }
        // They are found again and again, as long as they are not read.
        for _ in 0..<2 {
            let all = found(&descriptors)
            #expect(all.count == 80)
            for (slot, readiness) in all {
                #expect(readiness == (slot % 2 == 0 ? .read : [.read, .write]))
            }
        }
        for (slot, pair) in pairs.enumerated() {
            descriptors.change(pair.one, slot: slot, to: slot < 30 ? [] : .write)
        }
        #expect(
            found(&descriptors) == Dictionary(uniqueKeysWithValues: (30..<80).map { ($0, .write) })
        )
        for (slot, pair) in pairs.enumerated() where slot > 0 {
            descriptors.remove(pair.one, slot: slot)
        }
        #expect(found(&descriptors).isEmpty)
        // There is no interest, and still the end is reported.
        pairs[0].endSending()
        #expect(found(&descriptors)[0]?.contains(.broken) == true)
        // A slot can be reused.
        descriptors.add(pairs[7].one, slot: 7, .read)
        #expect(found(&descriptors)[7] == .read)
    }

    #if os(Linux)
        @Test(
            "the end of a peer's side is reported before its bytes are read, to who asks",
            arguments: Kind.allCases)
        private func hangUp(_ kind: Kind) throws {
            var descriptors = try kind.make()
            defer { descriptors.close() }
            let pair = Pair()
            defer { withExtendedLifetime(pair) {} }
            descriptors.add(pair.one, slot: 0, .hangUp)
            pair.send()
            #expect(found(&descriptors).isEmpty)
            shutdown(pair.two, Int32(SHUT_WR))
            #expect(found(&descriptors) == [0: .hangUp])
            descriptors.change(pair.one, slot: 0, to: .read)
            #expect(found(&descriptors) == [0: .read])
        }
    #endif

    @Test("a wait ends with its time", arguments: Kind.allCases)
    private func time(_ kind: Kind) throws {
        var descriptors = try kind.make()
        defer { descriptors.close() }
        let pair = Pair()
        defer { withExtendedLifetime(pair) {} }
        descriptors.add(pair.one, slot: 0, .read)
        let start = ContinuousClock.now
        var waits = 0
        // A signal to this process may end a wait early, but not every one.
        while ContinuousClock.now - start < .milliseconds(29) {
            descriptors.wait(milliseconds: 30) { _, _ in Issue.record("nothing was sent") }
            waits += 1
        }
        #expect(waits < 100, "it does not wait")
    }

    @Test("watches that a turn did not reach go first in the next, if they are still ready")
    func order() throws {
        let pairs = (0..<6).map { _ in Pair() }
        defer { withExtendedLifetime(pairs) {} }
        var list = WatchList()
        defer { _ = list.close() }
        var told: [Int] = []
        let watches = pairs.enumerated().map { index, pair in
            list.add(pair.one, .read) { _ in told.append(index) }
        }
        for pair in pairs { pair.send() }
        func turn(_ count: Int) -> [Int] {
            told = []
            list.wait(milliseconds: 0)
            for _ in 0..<count {
                guard let (handler, readiness) = list.next() else { break }
                handler(readiness)
            }
            return told
        }
        let first = turn(2)
        let second = turn(3)
        #expect(Set(first + second).count == 5)
        // First the one that was not told yet, then the others.
        let third = turn(6)
        #expect(Set(third) == Set(0..<6))
        #expect(third.first.map { !(first + second).contains($0) } == true)
        // Not reached, and without interest or ended before the next turn.
        let heard = turn(1)
        let others = (0..<6).filter { !heard.contains($0) }
        list.change(watches[others[0]], to: [])
        _ = list.remove(watches[others[1]])
        #expect(Set(turn(6)) == Set(0..<6).subtracting(others.prefix(2)))
        // Ended in their turn, before they were told.
        list.wait(milliseconds: 0)
        for watch in watches { _ = list.remove(watch) }
        #expect(list.next() == nil)
        #expect(watches.allSatisfy { !$0.isActive })
    }

    /// Has room for three.
    private struct Full: WatchedDescriptors {
        private var count = 0

        mutating func add(_ descriptor: Int32, slot: Int, _ interest: Readiness) -> Bool {
            count += 1
            return count <= 3
        }
        mutating func change(_ descriptor: Int32, slot: Int, to interest: Readiness) {}
        mutating func remove(_ descriptor: Int32, slot: Int) {}
        mutating func wait(milliseconds: Int32, _ found: (_ slot: Int, Readiness) -> Void) {
            Issue.record("still asked")
        }
        mutating func close() {}
    }

    @Test("where the system has no room for one more, poll watches all")
    func full() throws {
        let pairs = (0..<6).map { _ in Pair() }
        defer { withExtendedLifetime(pairs) {} }
        var list = WatchList(Full())
        defer { _ = list.close() }
        var told: [Int: Readiness] = [:]
        var watches: [Watch] = []
        for (index, pair) in pairs.enumerated() {
            watches.append(list.add(pair.one, .read) { told[index] = $0 })
            if index == 0 { list.change(watches[0], to: [.read, .write]) }
            if index == 1 { _ = list.remove(watches[1]) }
            pair.send()
        }
        list.wait(milliseconds: 0)
        while let (handler, readiness) = list.next() { handler(readiness) }
        #expect(told == [0: [.read, .write], 2: .read, 3: .read, 4: .read, 5: .read])
    }

    /// Ends a watch and closes its descriptors when it is freed, like a connection.
    private final class Owner {
        let pair: Pair
        let goodbye: () -> Void

        init(_ pair: Pair, goodbye: @escaping () -> Void) {
            self.pair = pair
            self.goodbye = goodbye
        }

        deinit { goodbye() }
    }

    @Test("a handler may be the last owner of a descriptor and of another watch's owner")
    func onlyOwner() throws {
        let loop = try EventLoop(name: "test")
        let left = Gate(count: 2)
        // In a function of its own, so that nothing here still holds the owner.
        @Sendable func watch(_ pair: Pair, _ other: Pair) -> Watch {
            let second = loop.watch(other.one, for: .read) { _ in }
            let owner = Owner(pair) {
                loop.end(second)
                left.arrive()
            }
            return loop.watch(pair.one, for: .read) { _ in _ = owner.pair }
        }
        let others = (0..<2).map { _ in Pair() }
        let watches = try Confined(to: loop) { Watches() }
        for other in others {
            let pair = Pair()
            try watches.call { $0.all.append(watch(pair, other)) }
        }
        try watches.call { loop.end($0.all[0]) }
        // The other one goes with the loop.
        loop.stop()
        #expect(left.wait(seconds: 60))
        withExtendedLifetime(others) {}
    }

    private final class Watches {
        var all: [Watch] = []
    }
}

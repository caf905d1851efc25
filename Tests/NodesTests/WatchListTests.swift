import Foundation
import Testing

@testable import Nodes

/// What a loop watches: the same from each way in which a system can be asked.
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
                case .epoll: try EpollDescriptors()
            #endif
            case .poll: PollDescriptors()
            }
        }
    }

    /// Two ends that both read and write; closed with the test.
    private final class Pair {
        let (one, two): (Int32, Int32)

        init() throws {
            var ends: [Int32] = [-1, -1]
            #if os(Linux)
                let kind = Int32(SOCK_STREAM.rawValue)
            #else
                let kind = SOCK_STREAM
            #endif
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            (one, two) = (ends[0], ends[1])
        }

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

    @Test("all that are ready are reported, for what is of interest", arguments: Kind.allCases)
    private func interests(_ kind: Kind) throws {
        var descriptors = try kind.make()
        defer { descriptors.close() }
        let pairs = try (0..<200).map { _ in try Pair() }
        defer { withExtendedLifetime(pairs) {} }
        for (slot, pair) in pairs.enumerated() {
            descriptors.add(pair.one, slot: slot, slot % 2 == 0 ? .read : [.read, .write])
        }
        #expect(found(&descriptors).allSatisfy { $0.key % 2 == 1 && $0.value == .write })
        #expect(found(&descriptors).count == 100)
        for pair in pairs { pair.send() }
        // As long as nobody reads, again and again.
        for _ in 0..<2 {
            let all = found(&descriptors)
            #expect(all.count == 200)
            for (slot, readiness) in all {
                #expect(readiness == (slot % 2 == 0 ? .read : [.read, .write]))
            }
        }
        for (slot, pair) in pairs.enumerated() {
            descriptors.change(pair.one, slot: slot, to: slot < 50 ? [] : .write)
        }
        #expect(
            found(&descriptors) == Dictionary(uniqueKeysWithValues: (50..<200).map { ($0, .write) })
        )
        for (slot, pair) in pairs.enumerated() where slot > 0 {
            descriptors.remove(pair.one, slot: slot)
        }
        #expect(found(&descriptors).isEmpty)
        // Nothing is of interest, and still the end is told.
        pairs[0].endSending()
        #expect(found(&descriptors)[0]?.contains(.broken) == true)
        // A slot is taken again.
        descriptors.add(pairs[7].one, slot: 7, .read)
        #expect(found(&descriptors)[7] == .read)
    }

    @Test("a wait ends with its time", arguments: Kind.allCases)
    private func time(_ kind: Kind) throws {
        var descriptors = try kind.make()
        defer { descriptors.close() }
        let pair = try Pair()
        defer { withExtendedLifetime(pair) {} }
        descriptors.add(pair.one, slot: 0, .read)
        let start = ContinuousClock.now
        descriptors.wait(milliseconds: 30) { _, _ in Issue.record("nothing was sent") }
        #expect(ContinuousClock.now - start >= .milliseconds(29))
    }

    @Test("who was not told in a turn stands first in the next, if it is still ready")
    func order() throws {
        var list = try WatchList()
        defer { list.close() }
        let pairs = try (0..<6).map { _ in try Pair() }
        defer { withExtendedLifetime(pairs) {} }
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
        // The one that nobody has heard yet, and then the others.
        let third = turn(6)
        #expect(Set(third) == Set(0..<6))
        #expect(third.first.map { !(first + second).contains($0) } == true)
        // Left out, and no more of interest or ended before the next turn.
        let heard = turn(1)
        let others = (0..<6).filter { !heard.contains($0) }
        list.change(watches[others[0]], to: [])
        list.remove(watches[others[1]])
        #expect(Set(turn(6)) == Set(0..<6).subtracting(others.prefix(2)))
        // Ended in its turn, before it was told.
        list.wait(milliseconds: 0)
        for watch in watches { list.remove(watch) }
        #expect(list.next() == nil)
        #expect(watches.allSatisfy { !$0.isActive })
    }
}

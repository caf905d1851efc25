import Foundation
import SkeinBasics
import SkeinCluster
import SkeinNetwork

/// A process that dials the coordinator's port and has no token: what it sends is no greeting, or none that
/// comes to an end.
final class Stranger {
    /// How many kinds of bytes there are.
    static let kinds = 6

    private let world: World
    private let loop: VirtualLoop
    private let kind: Int
    private var random: SplitMix
    private var links: [any Link] = []
    private var attempts: [any Attempt] = []

    private let seconds: Double

    init(_ world: World, kind: Int, seconds: Double) {
        self.world = world
        self.kind = abs(kind) % Self.kinds
        self.seconds = seconds
        random = SplitMix(state: world.random.next())
        loop = VirtualLoop("stranger", in: world)
    }

    /// Connections that it asks for.
    var dials: Int { kind == 5 ? 12 : 1 }

    /// Begins at once, and ends by itself.
    func begin() {
        for _ in 0..<dials { dial() }
        world.after(.seconds(seconds)) { [self] in
            for attempt in attempts { attempt.cancel() }
            loop.die()
        }
    }

    private func dial() {
        // The address is a constant that all workers dial.
        guard let name = try? NetworkAddress(parsing: SimulatedRun.address) else { return }
        attempts.append(
            loop.dial(SimulatedRun.addresses, name: name, patience: .seconds(5)) { [weak self] in
                if case .success(let link) = $0 { self?.take(link) }
            })
    }

    private func take(_ link: any Link) {
        links.append(link)
        world.count("stranger")
        link.start { [weak self, weak link] ready in
            guard let self, let link else { return }
            if ready.contains(.broken) { return link.close() }
            // One that never reads leaves all that comes where it is.
            guard kind != 4 else { return link.wait(for: []) }
            while true {
                switch link.read(into: loop.scratch) {
                case .bytes: continue
                case .wouldBlock: return
                // It keeps its end open, as one that hopes for more.
                case .ended: return link.wait(for: [])
                case .failed: return link.close()
                }
            }
        }
        switch kind {
        case 0, 5: break
        case 1: send((0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }, on: link)
        case 2: send(Array("GET / HTTP/1.1\r\nHost: here\r\n\r\n".utf8), on: link)
        case 3: drip(link, 0)
        default:
            // A head that promises as much as a head can.
            send([UInt8](repeating: 0xFF, count: 40), on: link)
        }
    }

    private func send(_ bytes: [UInt8], on link: any Link) {
        bytes.withUnsafeBytes { bytes in
            var piece = bytes
            withUnsafePointer(to: &piece) {
                _ = link.write(UnsafeBufferPointer(start: $0, count: 1))
            }
        }
    }

    /// A byte at a time, for as long as it is let.
    private func drip(_ link: any Link, _ count: Int) {
        guard count < 200 else { return }
        send([UInt8(truncatingIfNeeded: random.next() & 3)], on: link)
        loop.later(.milliseconds(100)) { [weak self, weak link] in
            if let self, let link { drip(link, count + 1) }
        }
    }
}

import SkeinBasics
import SkeinTraining

/// The disk of a machine whose workers keep features, and what is known of the file on it.
final class FeatureHost: WorkerStorage {
    let world: World
    let disk: SimulatedDisk
    var trouble = DiskTrouble()
    let name: String
    let settings: FeatureSettings
    /// Whether each number is kept as bf16.
    let isRounded: Bool
    /// Whether processes now and then begin the file anew while others have it open.
    let mayBeginAnew: Bool
    /// Whether something has happened that can damage a row; a process's death cannot.
    private var isDoubtful = false
    /// Rows that were kept.
    private var kept: Set<[Int32]> = []

    /// Numbers of a token.
    static let width = 2

    init(_ world: World, _ number: Int) {
        self.world = world
        name = "the disk of host \(number)"
        disk = SimulatedDisk(
            seed: world.seed &* 0x94D0_49BB_1331_11EB &+ UInt64(number) &+ 1)
        isRounded = world.seed / 8 % 2 == 0
        mayBeginAnew = world.seed / 64 % 4 == 0
        // The system need not know that a write will find no room.
        disk.tellsRoom = world.seed / 256 % 2 == 0
        var settings = FeatureSettings(directory: "/cache/features")
        // In one world of four not all rows have room.
        settings.limit = world.seed / 16 % 4 == 0 ? 20_000 : 1 << 20
        self.settings = settings
    }

    /// The same key for all processes of the host.
    var key: FeatureKey {
        FeatureKey(
            modelDigest: "simulated", fingerprint: "simulated", frozenLayers: 1,
            width: Self.width, isRounded: isRounded)
    }

    /// What the frozen blocks make of a row: any bits, the same in each process.
    func features(of row: [Int32]) -> [Float] {
        var random = SplitMix(
            state: row.reduce(0xCBF2_9CE4_8422_2325) {
                ($0 ^ UInt64(UInt32(bitPattern: $1))) &* 0x100_0000_01B3
            })
        let mask: UInt32 = isRounded ? 0xFFFF_0000 : .max
        return (0..<row.count * Self.width).map { _ in
            Float(bitPattern: UInt32(truncatingIfNeeded: random.next()) & mask)
        }
    }

    private var mayBeDamaged: Bool { isDoubtful || disk.faults.failures > 0 }

    // MARK: What workers do

    /// The file begins anew, under the eyes of other processes that have it open.
    func beginsAnew() {
        world.count("features begun anew")
        (isDoubtful, kept) = (true, [])
    }

    func isRead(_ row: [Int32], _ found: [Float], by worker: String) {
        world.count("features used again")
        if found.map(\.bitPattern) != features(of: row).map(\.bitPattern) {
            world.violate("\(worker) reads other features than were kept")
        }
    }

    /// A row is not there.
    func lacks(_ row: [Int32], _ worker: String) {
        if kept.remove(row) != nil, !mayBeDamaged {
            world.violate("\(name): a row that was kept is not there for \(worker)")
        }
    }

    func keeps(_ row: [Int32]) {
        if kept.insert(row).inserted { world.count("features kept") }
    }

    func inspect(_ store: FeatureStore, of worker: String) {
        let size = disk.node(at: store.path)?.bytes.count ?? 0
        world.bound("bytes of features", at: name, size, atMost: settings.limit)
        for warning in store.takeWarnings() {
            world.note("\(worker): \(warning.text)")
            switch warning {
            case .damaged:
                world.count("features damaged")
                if !mayBeDamaged {
                    world.violate("\(name): features are damaged, and nothing has damaged them")
                }
            case .full: world.count("features full")
            case .notWritten:
                world.count("features not written")
                if disk.faults.failures == 0, trouble.isFullUntil == .zero {
                    world.violate("\(name): features are not written: \(warning.text)")
                }
            }
        }
    }

    // MARK: Faults

    func losePower() {
        world.count("power of a worker lost")
        disk.losePower()
        (isDoubtful, kept) = (true, [])
    }

    func rot() -> Bool {
        guard let path = disk.rot(below: "/cache") else { return false }
        world.note("\(name): a bit of \(path) is another")
        world.count("bit rot in features")
        (isDoubtful, kept) = (true, [])
        return true
    }
}

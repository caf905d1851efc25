import SkeinBasics
import SkeinCluster
import SkeinCoordination

/// The disk of a machine whose workers have no model, and what is known of the cache on it into which they
/// fetch one.
final class CacheHost: WorkerStorage {
    static let path = "/cache"

    let world: World
    let disk: SimulatedDisk
    var trouble = DiskTrouble()
    /// How long another process that fetches the model may stand still.
    let patience: Duration
    private let name: String
    private let model: FetchedModel
    /// Where the model is in it, once one has begun to fetch that.
    private var directory = path
    /// Processes that fetch now.
    private var fetching: [ObjectIdentifier: SimulatedProcess] = [:]
    /// The one of them that fetches into the usual files.
    private var holder: ObjectIdentifier?
    /// How many have ended without the model, or died.
    private var unfinished = 0
    /// How much of each unfinished file there was when it was last looked at.
    private var parts: [Int: Int] = [:]
    /// Files that were whole, and durable.
    private var wholes: Set<Int> = []
    /// Whether what is there may be something else than what was written.
    private(set) var isDoubtful = false

    init(_ world: World, _ number: Int, _ model: FetchedModel) {
        self.world = world
        self.model = model
        name = "the disk of host \(number)"
        disk = SimulatedDisk(
            seed: world.seed &* 0xBF58_476D_1CE4_E5B9 &+ UInt64(number) &+ 1)
        // In every other world workers do not wait until another one that was stopped goes on.
        patience = world.seed / 4 % 2 == 0 ? .seconds(60) : .seconds(3)
    }

    var isWhole: Bool { model.files.indices.allSatisfy(isWhole) }

    private func isWhole(_ index: Int) -> Bool { model.isWhole(index, in: directory, on: disk) }

    // MARK: Fetches

    func begins(_ process: SimulatedProcess, in directory: String) {
        self.directory = directory
        if !fetching.isEmpty { world.count("fetch beside another of its host") }
        fetching[ObjectIdentifier(process)] = process
    }

    func ends(_ process: SimulatedProcess, isDone: Bool) {
        fetching[ObjectIdentifier(process)] = nil
        if !isDone { unfinished += 1 }
    }

    /// A fetch asks for a piece: of a file that is not there, and behind what is there of it.
    func asks(for piece: ModelRequest, isFirst: Bool, _ process: SimulatedProcess) {
        let index = Int(piece.file)
        let path = model.path(index, in: directory)
        // One that does not wait for a stopped one has a file of its own.
        let isOwn = disk.node(at: path + ".\(process.mark)-0.part") != nil
        let size = disk.node(at: path + ".part")?.bytes.count ?? 0
        if !isOwn {
            if let holder, holder != ObjectIdentifier(process), fetching[holder] != nil {
                world.violate("\(name): two fetch into \(path)")
            }
            holder = ObjectIdentifier(process)
        }
        if isFirst {
            world.count("file fetched")
            if wholes.contains(index) || isWhole(index) {
                world.violate("\(name): \(path) is whole, and is fetched")
            }
            if isOwn {
                world.count("fetch without a lock")
            } else {
                if Int(piece.offset) != size || size < parts[index, default: 0] {
                    world.violate(
                        "\(name): fetches \(path) from \(piece.offset) on and has \(size), "
                            + "and had \(parts[index, default: 0])")
                }
                if size > 0 { world.count("fetch continued") }
            }
        }
        if !isOwn { parts[index] = size }
    }

    /// What leaves something behind that one which has begun before need not clean up.
    struct Mark: Equatable {
        fileprivate var unfinished: Int
        fileprivate var failures: Int
        fileprivate var rots: Int
    }

    var mark: Mark {
        Mark(
            unfinished: unfinished, failures: disk.faults.failures,
            rots: disk.faults.counts[.rot, default: 0])
    }

    /// A fetch has ended well, for which the process has fetched these files. Others were there; the names that
    /// a dead process gave them may not be durable.
    func isFetched(since before: Mark, _ fetched: Set<Int>) {
        world.count("model fetched")
        for index in model.files.indices where !isWhole(index) {
            // It was hashed in this fetch: only what has rotted since then explains it.
            if before.rots == mark.rots {
                world.violate("\(name): \(model.path(index, in: directory)) is another one")
            }
            return
        }
        wholes.formUnion(fetched)
        (parts, isDoubtful) = ([:], false)
        guard fetching.count == 1, before == mark, let node = disk.node(at: directory) else {
            return
        }
        let names = Set(model.files.map(\.name) + [".lock"])
        for name in node.entries.keys.sorted() where !names.contains(name) {
            world.violate("\(self.name): \(name) is left behind")
        }
    }

    /// A fetch has found that what it has put together is not what was offered, and has removed it.
    func isDamaged() {
        world.count("damaged model fetched anew")
        if !isDoubtful { world.violate("\(name): a fetched model is damaged") }
        lookAgain()
    }

    private func lookAgain() {
        for index in model.files.indices {
            parts[index] = disk.node(at: model.path(index, in: directory) + ".part")?.bytes.count
        }
    }

    // MARK: Faults

    func losePower() {
        world.count("power of a worker lost")
        disk.losePower()
        let counts = disk.faults.counts
        if counts[.lostFlush] != nil || counts[.flushError] != nil {
            (trouble.isLasting, wholes) = (true, [])
        }
        for index in wholes where !isWhole(index) {
            world.violate("\(name): \(model.path(index, in: directory)) is lost with the power")
        }
        isDoubtful = true
        lookAgain()
    }

    func rot() -> Bool {
        guard let path = disk.rot(below: Self.path) else { return false }
        world.note("\(name): a bit of \(path) is another")
        world.count("bit rot in a cache")
        (trouble.isLasting, isDoubtful, wholes) = (true, true, [])
        lookAgain()
        return true
    }
}

import SkeinBasics
import SkeinModels
import Synchronization

/// Counts the bytes of all adapters that are alive, against one limit: those that are loaded, and
/// those that were unloaded or replaced and are held by requests that wait or are answered. Any thread
/// may call.
package final class AdapterMemory: Sendable {
    /// Room for an adapter that is being read; free again when its last reference is gone.
    package final class Reservation: Sendable {}

    /// An adapter, or the room that is kept for one. Its bytes count as long as it is held.
    private struct Entry {
        weak var owner: (any AnyObject & Sendable)?
        let bytes: Int
    }

    private let entries = Mutex([Entry]())
    /// Bytes of the packed matrices of all adapters together; what reading one takes besides is
    /// free again when it has been read.
    package let byteLimit: Int

    package init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// What adapters, and the rooms for those that are being read, take now.
    package var heldBytes: Int { entries.withLock { Self.bytes(of: &$0) } }

    /// Keeps room for an adapter of so many bytes.
    ///
    /// - Throws: `AdapterMemoryError.tooLarge` if it would not fit alone, `.full`.
    package func reserve(_ bytes: Int) throws(AdapterMemoryError) -> Reservation {
        guard bytes <= byteLimit else { throw .tooLarge(bytes: bytes, limit: byteLimit) }
        let reservation = Reservation()
        let held = entries.withLock { entries -> Int? in
            let held = Self.bytes(of: &entries)
            if held + bytes > byteLimit { return held }
            entries.append(Entry(owner: reservation, bytes: bytes))
            return nil
        }
        if let held { throw .full(bytes: bytes, held: held, limit: byteLimit) }
        return reservation
    }

    /// The adapter takes the room that was kept for it. From now on its own bytes count, which are no more
    /// than it announced: matrices that files hold in slices are joined.
    package func put(_ adapter: GenerationProjections, into reservation: Reservation) {
        entries.withLock { entries in
            guard let place = entries.firstIndex(where: { $0.owner === reservation }) else {
                return
            }
            entries[place] = Entry(owner: adapter, bytes: adapter.byteCount)
        }
    }

    /// Runs `body` while no thread looks at the entries. A look holds their owners for a moment,
    /// and would add to the references that `body` counts.
    package func whileUnwatched<Result>(_ body: () -> Result) -> Result {
        entries.withLock { _ in body() }
    }

    private static func bytes(of entries: inout [Entry]) -> Int {
        entries.removeAll { $0.owner == nil }
        return entries.reduce(0) { $0 + $1.bytes }
    }
}

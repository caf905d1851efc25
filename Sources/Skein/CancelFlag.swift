import Synchronization

/// A flag that cancels work; once set, it stays set.
final class CancelFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` when it is set.
    func check() throws {
        if isSet { throw CancellationError() }
    }
}

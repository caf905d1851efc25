import SkeinBasics

/// Where a run keeps its checkpoints: `checkpoints/step-000050` and so on, each an adapter's folder
/// with the run's state beside it.
package struct CheckpointFolder: Sendable {
    package let path: String
    private let store: any Store

    /// - Parameters:
    ///   - run: the run's directory.
    ///   - store: where it is.
    package init(ofRun run: String, in store: any Store = DiskStore()) {
        self.init(path: FilePath.join(run, "checkpoints"), in: store)
    }

    /// - Parameters:
    ///   - path: of the folder itself.
    ///   - store: where it is.
    package init(path: String, in store: any Store = DiskStore()) {
        self.path = path
        self.store = store
    }

    /// `step-000050`; more digits if the step has more than six.
    package static func name(ofStep step: Int) -> String {
        let digits = String(step)
        return "step-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// The directory of the checkpoint of `step`, whether it exists or not.
    package func path(ofStep step: Int) -> String { FilePath.join(path, Self.name(ofStep: step)) }

    /// Steps that have a checkpoint directory, ascending; none while there is no folder.
    ///
    /// - Throws: `FileError`.
    package func steps() throws -> [Int] {
        try store.names(in: path).compactMap { name in
            guard name.hasPrefix("step-"), let step = Int(name.dropFirst(5)), step >= 0,
                name == Self.name(ofStep: step)
            else { return nil }
            return step
        }.sorted()
    }
}

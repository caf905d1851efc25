import SkeinCoordination

extension CoordinatorSettings {
    /// Lowers the number of workers that are let in to what this process has descriptors for, with
    /// an eighth of them for strangers.
    ///
    /// - Parameter room: connections, see `ProcessFigures.connectionRoom`.
    /// - Throws: `NodeError.tooFewFiles` when there is no room even for the minimum of workers.
    package mutating func fit(_ room: Int) throws(NodeError) {
        let workers = room - min(Limits.strangers, max(1, room / 8))
        guard workers >= minimumWorkers else {
            let needed = minimumWorkers + max(1, minimumWorkers / 7) + Limits.otherFiles
            throw .tooFewFiles(limit: room + Limits.otherFiles, needed: needed)
        }
        maximumWorkers = min(maximumWorkers, workers)
    }
}

/// What a descriptor is ready for, or is watched for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt8

    static let read = Readiness(rawValue: 1)
    static let write = Readiness(rawValue: 2)
    /// Hung up or failed; reported whether asked for or not. Reading or writing tells more.
    static let broken = Readiness(rawValue: 4)
}

/// Descriptors that the system watches for a loop. Each is in it once and is reported by its slot,
/// 0 or more. Remove a descriptor before closing it.
protocol WatchedDescriptors {
    /// - Returns: false when the system has no room for one more.
    @discardableResult
    mutating func add(_ descriptor: Int32, slot: Int, _ interest: Readiness) -> Bool
    mutating func change(_ descriptor: Int32, slot: Int, to interest: Readiness)
    mutating func remove(_ descriptor: Int32, slot: Int)

    /// Waits until one is ready, a signal comes, or the time is over (-1: never); reports all that
    /// are ready.
    mutating func wait(milliseconds: Int32, _ found: (_ slot: Int, Readiness) -> Void)

    /// Frees what the system holds; no other call may follow.
    mutating func close()
}

/// What a descriptor is ready for, or is to be watched for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt8

    static let read = Readiness(rawValue: 1)
    static let write = Readiness(rawValue: 2)
    /// Hung up or failed; reported whether asked for or not. Reading or writing tells more.
    static let broken = Readiness(rawValue: 4)
}

/// What the system watches for a loop. A descriptor stands in it once; its slot, 0 or more, is what is
/// reported of it. Whoever closes a descriptor removes it first.
protocol WatchedDescriptors {
    /// - Returns: false when the system has no room for one more.
    @discardableResult
    mutating func add(_ descriptor: Int32, slot: Int, _ interest: Readiness) -> Bool
    mutating func change(_ descriptor: Int32, slot: Int, to interest: Readiness)
    mutating func remove(_ descriptor: Int32, slot: Int)

    /// Waits until one is ready, or is interrupted; -1 milliseconds: for ever. Reports all that are.
    mutating func wait(milliseconds: Int32, _ found: (_ slot: Int, Readiness) -> Void)

    /// Gives back what the system holds; nothing may follow.
    mutating func close()
}

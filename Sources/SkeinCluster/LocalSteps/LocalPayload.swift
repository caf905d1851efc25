import SkeinBasics

/// The payload of a RESULT of local steps: the name of the state (32 bytes), the length of the coded
/// change (u32), the change, and the state if it was asked for.
package struct LocalPayload: Sendable, Equatable {
    /// SHA-256 of the state after the round.
    var name: [UInt8]
    var change: [UInt8]
    /// Packed; empty if it was not asked for.
    var state: [UInt8]

    static let headByteCount = 32 + 4

    package init(name: [UInt8], change: [UInt8], state: [UInt8]) {
        self.name = name
        self.change = change
        self.state = state
    }

    /// Takes a payload apart; nil if it is too short for what it says.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headByteCount else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[32 + $1]) << (8 * $1) }
        let end = Self.headByteCount + length
        guard end <= bytes.count else { return nil }
        name = Array(bytes[..<32])
        change = Array(bytes[Self.headByteCount..<end])
        state = Array(bytes[end...])
    }

    package var bytes: [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: change.count >> (8 * $0)) }
        return name + length + change + state
    }
}

import Basics

/// A connection, numbered by its shell; a number is never used twice.
public struct PeerID: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let number: UInt64

    public init(_ number: UInt64) {
        self.number = number
    }

    public static func < (left: PeerID, right: PeerID) -> Bool { left.number < right.number }

    public var description: String { "peer \(number)" }
}

/// A worker as it joins.
public struct Member: Sendable, Equatable {
    /// One worker holds a name at a time.
    public var name: String
    /// Host and port, for sentences.
    public var address: String
    /// Pieces of work that it computes at a time; what is outside 1 ... 1024 is clamped.
    public var threads: Int
    /// 16 random bytes of its process.
    public var incarnation: [UInt8]
    /// Results that it has finished in this term and that nobody has answered.
    public var held: [WorkKey]

    public init(
        name: String, address: String, threads: Int, incarnation: [UInt8], held: [WorkKey] = []
    ) {
        self.name = name
        self.address = address
        self.threads = threads
        self.incarnation = incarnation
        self.held = held
    }
}

/// How a connection ended.
public enum Departure: Sendable, Equatable {
    /// End of stream, reset, or a broken protocol; a few words that say which.
    case lost(String)
    /// The worker said goodbye.
    case goodbye
}

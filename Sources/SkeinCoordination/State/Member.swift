import SkeinBasics

/// A connection, numbered by its shell; a number is never used twice.
package struct PeerID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }

    package static func < (left: PeerID, right: PeerID) -> Bool { left.number < right.number }

    package var description: String { "peer \(number)" }
}

/// A worker as it joins.
package struct Member: Sendable, Equatable {
    /// One worker holds a name at a time.
    package var name: String
    /// Host and port, for sentences.
    package var address: String
    /// Pieces of work that it computes at a time; clamped to 1 ... 1024.
    package var threads: Int
    /// 16 random bytes of its process.
    package var incarnation: [UInt8]
    /// Finished results of this term that have not been answered.
    package var held: [WorkKey]

    package init(
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
package enum Departure: Sendable, Equatable {
    /// End of stream, reset, or a broken protocol; a few words say which.
    case lost(String)
    /// The worker said goodbye.
    case goodbye
}

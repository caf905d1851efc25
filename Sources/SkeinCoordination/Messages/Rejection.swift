import SkeinBasics

/// Why a coordinator does not talk to a peer. A closed list; docs/OPERATING.md has a line for each.
package enum RejectCode: UInt16, Sendable, CaseIterable {
    case version = 1
    case authentication = 2
    case model = 3
    case data = 4
    case configuration = 5
    case fingerprint = 6
    case full = 7
    case draining = 8
    case staleTerm = 9
    case quarantined = 10
    /// The peer broke the protocol.
    case protocolViolation = 11
    /// The peer did not finish its handshake in time.
    case timeout = 12
    /// The worker has connected again: this is its earlier connection.
    case superseded = 13
    /// The worker lives, but its work does not advance.
    case stuck = 14
    /// Another worker that is heard has this name, or it is reserved.
    case nameTaken = 15
    /// By their fingerprints both machines compute the same, and they do not.
    case answer = 16
}

/// The last message to a peer that is not served.
package struct Rejection: Sendable, Equatable, Error {
    package var code: RejectCode
    /// What was expected and what was found, one sentence; at most `Limits.reasonBytes`.
    package var reason: String
    /// When to come again, in milliseconds; 0 when it may be at once, or is of no use until
    /// something is fixed.
    package var retryMilliseconds: UInt32

    package init(code: RejectCode, reason: String, retryMilliseconds: UInt32 = 0) {
        self.code = code
        self.reason = reason
        self.retryMilliseconds = retryMilliseconds
    }
}

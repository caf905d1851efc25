import Foundation
import SkeinCoordination

/// What keeps a node from talking to its peers.
package enum NodeError: Error, Equatable {
    /// A token file that cannot be used.
    case tokenFile(path: String, problem: TokenFileProblem)
    /// The system lets this process open `limit` files; `--min-workers` needs `needed`.
    case tooFewFiles(limit: Int, needed: Int)
    /// A message of the run would be longer than a length on the wire can say.
    case adapterTooLarge(parameters: Int, messageBytes: Int)
    /// So would be what rebuilds the state of a logical worker.
    case replayTooLarge(messageBytes: Int)
    /// A round of a logical worker may have more tokens or rows than a lease holds.
    case roundTooLarge(tokens: Int, rows: Int)
    /// Without a token only this machine is served, but others can reach `address`.
    case tokenRequired(address: String)
    /// Too few workers joined within the patience; `sentence` says what the run waited for.
    case workersMissing(sentence: String)
    /// No worker can rebuild the state of a logical worker; `sentence` says whose.
    case stateLost(sentence: String)
    /// No coordinator let this worker in within its patience.
    case coordinatorMissing(sentence: String)
    /// A worker may not have this name.
    case nameReserved(name: String)
    /// The coordinator at `address` refuses this dialler, or the two cannot talk to each other.
    case refused(address: String, error: HandshakeError)
    /// The run failed at its coordinator, with these words.
    case runFailed(detail: String)
    /// The coordinator's offer has options that this version cannot use.
    case offerUnusable(detail: String)
    /// The coordinator leased something that this model cannot compute with.
    case leaseUnusable(round: UInt64, index: Int, detail: String)
    /// The connection ended in the middle of something that the next one continues.
    case connectionLost
    /// A completely fetched model file does not have the offer's SHA-256.
    case modelDamaged(path: String)
    /// The coordinator did not answer with a status.
    case noStatus(address: String, detail: String)

    /// Why a token file cannot be used.
    package enum TokenFileProblem: Sendable, Equatable {
        /// The system call `operation` failed with `code` (errno).
        case failed(operation: String, code: Int32)
        case notRegular
        /// Neither this user nor root owns it.
        case owner(found: UInt32, expected: UInt32)
        /// Others may read or write it.
        case mode(found: UInt32)
        /// In bytes, without one trailing newline.
        case length(found: Int, expected: ClosedRange<Int>)
        /// `TokenFile.make` never overwrites.
        case exists
    }
}

/// What an error tells the person who must fix it: what happened, where, and how to fix it.
package struct Explanation: Sendable, Equatable {
    /// What happened, one sentence without a full stop.
    package var what: String
    /// The file, line, tensor, flag or peer where it happened; empty when there is none.
    package var place: String
    /// What to do about it; empty only when nothing can be done.
    package var remedy: String
    /// The process's exit status when the error is not handled.
    package var status: ExitStatus

    package init(what: String, place: String = "", remedy: String = "", status: ExitStatus) {
        self.what = what
        self.place = place
        self.remedy = remedy
        self.status = status
    }

    /// What happened and where, for a line among others.
    package var located: String { place.isEmpty ? what : "\(what) (\(place))" }
}

/// An error that can be shown to a user. Cases carry facts; this turns them into prose.
package protocol Explained: Error {
    var explanation: Explanation { get }
}

/// The process exit statuses that scripts may rely on; docs/OPERATING.md has the table.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    case internalError = 1
    case usage = 64
    case badData = 65
    case peerGone = 69
    case inputOutput = 74
    case interrupted = 130
}

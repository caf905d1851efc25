import SkeinJSON

/// Something that goes wrong in a simulated run, at a moment of the world's time.
///
/// A scenario is a list of these, so that one can be left out: a failing seed becomes smaller in that way.
package struct Fault: Sendable, Equatable {
    /// Seconds since the world's beginning.
    package var at: Double
    package var who: Who
    package var what: What
    /// How long it lasts, or how long a dead process stays away.
    package var seconds = 0.0
    /// What more there is to say, by kind.
    package var number = 0

    package enum Who: Sendable, Hashable {
        case coordinator
        case worker(Int)
        /// A process that has no token, or no reason to be here.
        case stranger
    }

    package enum What: String, Sendable, CaseIterable {
        /// SIGKILL; another process comes after `seconds`.
        case kill
        /// SIGSTOP for `seconds`.
        case stop
        /// SIGTERM: a worker drains, a coordinator ends after its step.
        case leave
        /// A worker: what it computes it never finishes, until it is started again.
        case hang
        /// A worker: its connection is reset.
        case reset
        /// A worker: its connection is dead, and neither end is told.
        case silence
        /// A worker: nothing passes for `seconds`, either way.
        case cut
        /// A worker: what it sends does not pass for `seconds`.
        case mute
        /// A worker: what is sent to it does not pass for `seconds`.
        case deaf
        /// A worker: for `seconds` it finds no way to the coordinator; `number` is the system's reason.
        case unreachable
        /// A worker: `number` of 100 of its results are wrong.
        case wrong
        /// A worker: a second process of its name is there for `seconds`.
        case twin
        /// A process's clock runs at 1 + `number` / 1,000,000 of the world's from now on.
        case drift
        /// Dies after `number` further calls that concern its disk; a worker, while it fetches its model.
        case disk
        /// The same, counting steps of files that grow.
        case line
        /// The same at half of `number`, counting steps that give a file or directory another name. If
        /// `number` is even, it dies at the next step behind that one, whatever it is.
        case name
        /// Power fails, which also kills it; of a worker, at its host, to whose disk it fetches its model.
        case power
        /// A coordinator: is killed; its directory is copied before the next one starts.
        case copy
        /// A coordinator: is killed; the copy is put in place of its directory.
        case restore
        /// A coordinator: is killed; the number in OUT/term is again the one before that process's.
        case term
        /// The disk, of a coordinator or of a worker that fetches its model, has room for `number` more bytes,
        /// for `seconds`.
        case full
        /// For `seconds`, `number` of 100 reads fail.
        case unreadable
        /// For `seconds`, `number` of 100 writes fail, and so do flushes.
        case unwritable
        /// For `seconds`, `number` of 100 reads and writes do a part, or are interrupted.
        case short
        /// For `seconds`, the disk only says that it has flushed anything.
        case lie
        /// A bit of a file changes: of a coordinator, which is killed, in its directory; of a worker, in the
        /// cache into which it fetches its model.
        case rot
        /// A second coordinator is started on the same directory.
        case second
        /// A coordinator: behind `number` further changes of its disk the lock of its directory is lost, and
        /// another process takes the directory over, computes a step or some, and ends. The first one is
        /// started again `seconds` after it has noticed.
        case takeover
        /// A stranger: bytes of kind `number` come to the coordinator's port, for `seconds`.
        case noise
        /// A worker of another version comes, or if `number` is not 0, one with another token.
        case version
    }
}

extension Fault: CustomStringConvertible {
    package var description: String { json.written }
}

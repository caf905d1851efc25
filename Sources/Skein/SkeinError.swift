import Foundation
import SkeinBasics

/// What went wrong, where, and how to fix it.
///
/// Training, measuring and generating throw this, or a `CancellationError`. A program decides by
/// `code`; people read the `description`, which joins the other three.
public struct SkeinError: Error, Sendable, Equatable, CustomStringConvertible, LocalizedError {
    /// The kind of an error. The raw value is the exit status of `skein` for the same error.
    public enum Code: Int32, Sendable {
        /// A bug in Skein.
        case internalError = 1
        /// An option or a combination of options that is not allowed.
        case usage = 64
        /// A model, a data file or an adapter that cannot be used.
        case badData = 65
        /// The coordinator or its workers are gone, or the coordinator refuses this worker.
        case peerGone = 69
        /// The system refused a file, a port or memory.
        case inputOutput = 74
        /// Stopped on request before the end.
        case interrupted = 130
    }

    public let code: Code
    /// What happened: one sentence without a full stop.
    public let what: String
    /// The file, tensor, option or peer; empty when there is none.
    public let place: String
    /// What to do about it; empty when nothing can be done.
    public let remedy: String

    public var description: String {
        var text = what
        if !place.isEmpty { text += "\n  at: \(place)" }
        if !remedy.isEmpty { text += "\n  fix: \(remedy)" }
        return text
    }

    public var errorDescription: String? { description }

    init(code: Code, what: String, place: String = "", remedy: String = "") {
        self.code = code
        self.what = what
        self.place = place
        self.remedy = remedy
    }

    /// Converts an error of the modules below.
    init(_ error: any Error) {
        if let own = error as? SkeinError {
            self = own
            return
        }
        guard let explained = error as? any Explained else {
            self.init(code: .internalError, what: "internal error: \(error)")
            return
        }
        let explanation = explained.explanation
        self.init(
            code: Code(rawValue: explanation.status.rawValue) ?? .internalError,
            what: OptionNames.inCode(explanation.what),
            place: OptionNames.inCode(explanation.place),
            remedy: OptionNames.inCode(explanation.remedy))
    }

    /// Calls `body` and converts every error but a cancellation to a `SkeinError`.
    static func wrapping<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw SkeinError(error)
        }
    }
}

import Foundation
import SkeinBasics
import SkeinJSON
import Synchronization

/// Keeps what people asked, what was answered and which checks fired, one JSON object on a line:
/// for tests of a program's safety, and for reports.
///
/// Prompts and answers are what people write in private, so nothing is kept unless a program makes
/// a log and says where. The file is for its owner alone (mode 0600). Lines are only ever added at
/// the end, each with one write, so several logs and processes may share a file.
public final class SafetyLog: Sendable {
    /// The file.
    public let fileURL: URL
    private let file: Mutex<LogFile>

    /// What a log says of one request.
    public struct Line: Sendable, Equatable {
        /// When it happened.
        public var time: Date
        /// The whole prompt.
        public var prompt: String
        /// The answer as far as it came; nil: none.
        public var response: String?
        /// The names of the checks that fired, and what they said.
        public var fired: [String]

        /// - Parameters:
        ///   - time: when it happened.
        ///   - prompt: the whole prompt.
        ///   - response: the answer as far as it came; nil: none.
        ///   - fired: the names of the checks that fired, and what they said.
        public init(time: Date, prompt: String, response: String?, fired: [String]) {
            self.time = time
            self.prompt = prompt
            self.response = response
            self.fired = fired
        }

        /// The line, with its end.
        var bytes: [UInt8] {
            JSONValue.fields([
                ("time", .text(timestamp(time))), ("prompt", .text(prompt)),
                ("response", response.map { .text($0) } ?? .null),
                ("fired", .list(fired.map { .text($0) })),
            ]).utf8 + [UInt8(ascii: "\n")]
        }
    }

    /// Opens a log, or makes it.
    ///
    /// - Parameter fileURL: a file; its folder must be there.
    /// - Throws: `SafetyLogError`.
    public init(fileURL: URL) throws(SafetyLogError) {
        self.fileURL = fileURL
        file = Mutex(try LogFile(path: fileURL.path))
    }

    /// Adds a line.
    ///
    /// - Parameter line: what happened.
    /// - Throws: `SafetyLogError`; later lines are still lines of their own.
    public func append(_ line: Line) throws(SafetyLogError) {
        try file.withLock { file throws(SafetyLogError) in try file.append(line.bytes) }
    }
}

/// Why a safety log cannot be kept.
public enum SafetyLogError: Error, Equatable, Sendable {
    /// The system refused an operation; `code` is its `errno`.
    case failed(operation: String, path: String, code: Int32)
    /// The path leads to something that is no regular file.
    case notAFile(path: String)
    /// A line ended early, as when a disk is full.
    case cutOff(path: String, bytes: Int, written: Int)
}

extension SafetyLogError: Explained {
    package var explanation: Explanation {
        switch self {
        case .failed(let operation, let path, let code):
            FileError.failed(operation: operation, path: path, code: code).explanation
        case .notAFile(let path):
            Explanation(
                what: "a safety log must be a regular file", place: path,
                remedy: "give the name of a file", status: .inputOutput)
        case .cutOff(let path, let bytes, let written):
            Explanation(
                what: "only \(written) of a line's \(bytes) bytes could be written", place: path,
                remedy: "free some space on this file system", status: .inputOutput)
        }
    }
}

extension SafetyLogError: LocalizedError {
    /// What happened, and to which file.
    public var errorDescription: String? { explanation.sentence }
    /// What to do about it.
    public var recoverySuggestion: String? { explanation.remedy }
}

/// A time as `2026-11-26T05:40:00.123Z`.
func timestamp(_ time: Date) -> String {
    Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(time)
}

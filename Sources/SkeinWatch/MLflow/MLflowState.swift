import Foundation
import SkeinBasics

/// OUT/mlflow.json: which run of which server shows this run. It makes a run one run there, however
/// often it is killed and resumed.
struct MLflowState: Sendable, Equatable, Codable {
    /// How a run ended, kept for `skein sync` if the server could not be told.
    struct Ending: Sendable, Equatable, Codable {
        var status: MLflowServer.Status
        /// Milliseconds since 1970.
        var time: Int
        /// SHA-256 of the adapter's weights.
        var adapter: String?
    }

    /// The server.
    var url: String
    /// The experiment's name.
    var experiment: String
    /// The value of the run's tag `skein.key`: a run that was made there but is not named here, because
    /// the process was killed between, is found by it.
    var key: String
    /// The run's identifier there, once it is made.
    var run: String?
    /// Whether its parameters are there.
    var isDescribed = false
    var ending: Ending?

    static let fileName = "mlflow.json"
    /// The end of the year 9999, in milliseconds since 1970.
    private static let latest = 253_402_300_799_999

    /// - Parameter path: of the file.
    /// - Returns: nil if there is none.
    /// - Throws: `MLflowError.badState`, `FileError`.
    static func read(_ path: String) throws -> MLflowState? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let limit = Limits.stateBytes
        let bytes = try RegularFile.bytes(of: path, from: 0, limit: limit + 1)
        func bad(_ problem: String) -> MLflowError { .badState(path: path, problem: problem) }
        guard bytes.count <= limit else { throw bad("more than \(limit) bytes") }
        // The remedy is the same whichever field is wrong: the file is removed.
        guard let state = try? JSONDecoder().decode(MLflowState.self, from: Data(bytes)) else {
            throw bad("not what skein writes")
        }
        guard isIdentifier(state.key), state.run.map(isIdentifier) ?? true else {
            throw bad("an identifier of strange characters")
        }
        guard (0...Self.latest).contains(state.ending?.time ?? 0) else {
            throw bad("a time that is none")
        }
        return state
    }

    /// - Throws: `FileError`; no `EncodingError`, as it holds texts and whole numbers.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(self)
        try Unfinished.removeAbandoned(beside: path)
        try AtomicFile.write(Array(data) + [UInt8(ascii: "\n")], to: path)
    }

    /// Whether a text may stand in a URL and a filter as it is.
    static func isIdentifier(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_")
            }
    }
}

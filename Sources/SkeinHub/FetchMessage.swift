import Foundation

/// What `skein` writes to `skein-fetch`: one line of JSON. A token is not in it: the fetcher has the
/// same environment.
package struct FetchRequest: Sendable, Equatable, Codable {
    package var reference: HubReference
    /// What it is wanted as; nil: all that the repository is.
    package var kind: HubKind?

    package init(reference: HubReference, kind: HubKind? = nil) {
        self.reference = reference
        self.kind = kind
    }
}

/// What `skein-fetch` writes to `skein`: lines of JSON, the last of which is `finished` or `failed`.
package enum FetchMessage: Sendable, Equatable, Codable {
    /// Bytes of all files that are here, bytes that there will be (0: not known yet), and how many of
    /// the former came just now.
    case progress(done: Int, total: Int, received: Int)
    /// Another process downloads this file.
    case waiting(file: String)
    case finished(commit: String)
    case failed(HubError)
}

/// Lines of JSON, bounded.
package enum FetchLine {
    /// - Throws: `HubError.badMessage` when it is too long.
    package static func bytes(_ message: some Encodable) throws(HubError) -> [UInt8] {
        // Texts and whole numbers can always be written.
        guard let data = try? JSONEncoder().encode(message), data.count < Limits.lineBytes else {
            throw .badMessage
        }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// - Throws: `HubError.badMessage`.
    package static func read<Value: Decodable>(
        _ type: Value.Type, _ line: some Collection<UInt8>
    ) throws(HubError) -> Value {
        // What is wrong with a line is no concern of a user's: both programs are of one version.
        guard line.count <= Limits.lineBytes,
            let value = try? JSONDecoder().decode(type, from: Data(line))
        else { throw .badMessage }
        return value
    }
}

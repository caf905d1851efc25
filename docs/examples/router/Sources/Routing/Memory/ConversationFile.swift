import Foundation

/// Where a conversation is kept between two starts of a program. It is written after each turn, as a whole
/// or not at all.
package struct ConversationFile: Sendable {
    /// No conversation of people has as much.
    package static let limit = 16 << 20

    package let url: URL

    package init(_ url: URL) {
        self.url = url
    }

    /// The conversation, or nil if there is no file yet.
    ///
    /// - Throws: `Flaw`; what the file system says.
    package func load() throws -> Conversation? {
        let file: FileHandle
        do {
            file = try FileHandle(forReadingFrom: url)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        }
        defer { try? file.close() }  // Read only: nothing is lost.
        let data = try file.read(upToCount: Self.limit + 1) ?? Data()
        guard data.count <= Self.limit else { throw Flaw.tooLong(url.path, limit: Self.limit) }
        struct Version: Decodable {
            var version: Int
        }
        do {
            let decoder = JSONDecoder()
            let version = try decoder.decode(Version.self, from: data).version
            guard version == Conversation.version else {
                throw Flaw.otherVersion(url.path, version: version)
            }
            let conversation = try decoder.decode(Conversation.self, from: data)
            guard 0...conversation.turns.count ~= conversation.summary?.turns ?? 0 else {
                throw Flaw.unreadable(url.path, "its summary covers turns that it has not")
            }
            return conversation
        } catch let error as DecodingError {
            throw Flaw.unreadable(url.path, "\(error)")
        }
    }

    package func save(_ conversation: Conversation) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(conversation).write(to: url, options: .atomic)
    }

    /// Why a file is no conversation.
    package enum Flaw: Error, Equatable, CustomStringConvertible {
        case tooLong(String, limit: Int)
        case otherVersion(String, version: Int)
        case unreadable(String, String)

        package var description: String {
            switch self {
            case .tooLong(let path, let limit):
                "\(path) has more than \(limit) bytes; name another file"
            case .otherVersion(let path, let version):
                "\(path) is of version \(version), and this program reads \(Conversation.version); name another file"
            case .unreadable(let path, let why):
                "\(path) is no conversation (\(why)); name another file"
            }
        }
    }
}

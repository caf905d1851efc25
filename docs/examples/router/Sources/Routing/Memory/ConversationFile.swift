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
        } catch {
            throw Flaw.unreadable(url.path, "it cannot be opened")
        }
        defer { try? file.close() }  // Read only: nothing is lost.
        let data: Data
        do {
            data = try file.read(upToCount: Self.limit + 1) ?? Data()
        } catch {
            throw Flaw.unreadable(url.path, "it is no file")
        }
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

    /// Writes it for its owner's eyes alone, beside the file first.
    ///
    /// - Throws: `Flaw`.
    package func save(_ conversation: Conversation) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(conversation)
        guard data.count <= Self.limit else { throw Flaw.full(url.path, limit: Self.limit) }
        let part = url.path + ".part"
        // Nobody else may read it, not even for a moment: so never a file that was there before.
        unlink(part)
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw unwritable() }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        do {
            defer { close(descriptor) }
            try file.write(contentsOf: data)
            try file.synchronize()
        } catch {
            unlink(part)
            throw Flaw.unwritable(url.path, error.localizedDescription)
        }
        guard rename(part, url.path) == 0 else {
            let flaw = unwritable()
            unlink(part)
            throw flaw
        }
    }

    private func unwritable() -> Flaw {
        .unwritable(url.path, String(cString: strerror(errno)))
    }

    /// Why a file is no conversation, or cannot become one.
    package enum Flaw: Error, Equatable, CustomStringConvertible {
        case tooLong(String, limit: Int)
        case otherVersion(String, version: Int)
        case unreadable(String, String)
        case unwritable(String, String)
        case full(String, limit: Int)

        package var description: String {
            switch self {
            case .tooLong(let path, let limit):
                "\(path) has more than \(limit) bytes; name another file"
            case .otherVersion(let path, let version):
                "\(path) is of version \(version), and this program reads \(Conversation.version); name another file"
            case .unreadable(let path, let why):
                "\(path) is no conversation (\(why)); name another file"
            case .unwritable(let path, let why):
                "\(path) cannot be written (\(why)); see whether its folder is there and has room"
            case .full(let path, let limit):
                "the conversation has more than \(limit) bytes, and \(path) keeps what it had; begin a new one"
            }
        }
    }
}

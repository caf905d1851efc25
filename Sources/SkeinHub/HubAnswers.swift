import Foundation
import SkeinJSON

/// What a Hub's answers mean: bytes and headers in, checked values out. Pure; `skein-fetch` has the
/// network. A problem is a text for people: no byte of the server is in it.
package enum HubAnswers {
    package struct Problem: Error, Equatable {
        package var text: String
        package init(_ text: String) { self.text = text }
    }

    /// A name of a server's listing that would lie outside of the cache.
    package struct BadFileName: Error, Equatable {
        package var bytes: Int
    }

    private struct Revision: Decodable { var sha: String }

    private struct Entry: Decodable {
        var type: String
        var path: String
        var size: Int?
    }

    /// The commit in the answer of `/api/models/ORG/NAME/revision/REVISION`.
    ///
    /// - Parameters:
    ///   - body: JSON.
    ///   - revision: What was asked for: a commit has no other commit.
    /// - Returns: 40 hexadecimal digits.
    /// - Throws: `Problem`.
    package static func commit(_ body: Data, of revision: String) throws(Problem) -> String {
        // Why it cannot be read would have the server's bytes in it.
        guard let answer = try? JSONTree.decode(Revision.self, from: body),
            HubNames.isCommit(answer.sha)
        else { throw Problem("it names no commit") }
        guard !HubNames.isCommit(revision) || answer.sha == revision else {
            throw Problem("it names another commit than was asked for")
        }
        return answer.sha
    }

    /// Paths and sizes in bytes of the files on one page of `/api/models/ORG/NAME/tree/COMMIT`.
    ///
    /// - Throws: `Problem`, `BadFileName`.
    package static func files(_ body: Data) throws -> [(path: String, size: Int)] {
        // Why it cannot be read would have the server's bytes in it.
        guard let entries = try? JSONTree.decode([Entry].self, from: body) else {
            throw Problem("it is no list of files")
        }
        return try entries.filter { $0.type == "file" }.map { entry in
            guard HubNames.isFilePath(entry.path) else {
                throw BadFileName(bytes: entry.path.utf8.count)
            }
            guard let size = entry.size, (0...Limits.fileBytes).contains(size) else {
                throw Problem("a file has no size, or one that no file has")
            }
            return (entry.path, size)
        }
    }

    /// The page after `url` that `Link: <URL>; rel="next"` names; nil: there is none.
    ///
    /// - Throws: `Problem` when it is on another server.
    package static func nextPage(_ link: String?, after url: URL) throws(Problem) -> URL? {
        guard let link, link.contains("rel=\"next\""), let match = link.firstMatch(of: /<([^>]*)>/)
        else { return nil }
        guard let next = URL(string: String(match.1), relativeTo: url)?.absoluteURL,
            next.host == url.host, next.port == url.port, next.scheme == url.scheme,
            next.user == nil
        else { throw Problem("its next page is elsewhere") }
        return next
    }

    /// The digest that a file must have: SHA-256 of a linked file, git's SHA-1 of any other.
    ///
    /// - Parameters:
    ///   - commit: The commit that was asked for.
    ///   - size: Bytes of the file, as listed.
    ///   - header: A header's value.
    /// - Returns: 64 or 40 hexadecimal digits.
    /// - Throws: `Problem`.
    package static func digest(
        commit: String, size: Int, header: (String) -> String?
    ) throws(Problem) -> String {
        if let found = header("X-Repo-Commit"), found != commit {
            throw Problem("it is of another commit")
        }
        var etag = header("X-Linked-Etag") ?? header("ETag") ?? ""
        if etag.hasPrefix("W/") { etag.removeFirst(2) }
        etag = etag.trimmingCharacters(in: ["\""])
        guard HubNames.isDigest(etag) else { throw Problem("it has no digest as ETag") }
        if let text = header("X-Linked-Size"), Int(text) != size {
            throw Problem("it gives two sizes")
        }
        return etag
    }
}

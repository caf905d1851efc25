import Foundation
import SkeinHub

/// What a repository has.
extension HubServer {
    private struct Revision: Decodable { var sha: String }
    private struct Entry: Decodable {
        var type: String
        var path: String
        var size: Int?
    }

    /// Pages of a listing; the Hub puts 1000 entries on one.
    private static var pages: Int { 20 }

    /// The commit that the reference's revision has now.
    func commit(of reference: HubReference) throws -> String {
        let url = try url([
            "api", "models", reference.organization, reference.name, "revision",
            reference.revision,
        ])
        let answer = try json(url, reference)
        guard let revision = try? JSONDecoder().decode(Revision.self, from: answer.body),
            HubNames.isCommit(revision.sha)
        else { throw HubError.badAnswer(place: place(url), problem: "it names no commit") }
        return revision.sha
    }

    /// Paths and sizes of all files of a commit.
    func files(of reference: HubReference, commit: String) throws -> [String: Int] {
        var next: URL? = try url(
            ["api", "models", reference.organization, reference.name, "tree", commit],
            query: "?recursive=1")
        var files: [String: Int] = [:]
        for _ in 0..<Self.pages {
            guard let url = next else { return files }
            let answer = try json(url, reference)
            guard let entries = try? JSONDecoder().decode([Entry].self, from: answer.body) else {
                throw HubError.badAnswer(place: place(url), problem: "it is no list of files")
            }
            for entry in entries where entry.type == "file" {
                guard HubNames.isFilePath(entry.path) else {
                    throw HubError.badFileName(
                        repository: reference.repository, bytes: entry.path.utf8.count)
                }
                guard let size = entry.size, size >= 0 else {
                    throw HubError.badAnswer(place: place(url), problem: "a file has no size")
                }
                files[entry.path] = size
            }
            next = try following(answer, url)
        }
        throw HubError.badAnswer(place: reference.repository, problem: "it lists too many files")
    }

    /// The next page: `Link: <URL>; rel="next"`.
    private func following(_ answer: HTTPAnswer, _ url: URL) throws -> URL? {
        guard let link = answer.header("Link"), link.contains("rel=\"next\""),
            let match = link.firstMatch(of: /<([^>]*)>/)
        else { return nil }
        guard let next = URL(string: String(match.1), relativeTo: url)?.absoluteURL,
            next.host == url.host, next.port == url.port, next.scheme == url.scheme
        else {
            throw HubError.badAnswer(place: place(url), problem: "its next page is elsewhere")
        }
        return next
    }

    private func json(_ url: URL, _ reference: HubReference) throws -> HTTPAnswer {
        try retrying(place(url)) {
            let answer = try exchange("GET", url)
            if let later: Attempt<HTTPAnswer> = Self.later(answer) { return later }
            guard answer.status == 200 else {
                throw error(answer, reference, file: nil, at: url)
            }
            return .done(answer)
        }
    }

    /// Where a file is, and what it must be.
    struct Metadata {
        var url: URL
        /// SHA-256, or git's SHA-1.
        var etag: String
        var size: Int
    }

    func metadata(
        of file: String, _ reference: HubReference, commit: String, listed: Int
    ) throws -> Metadata {
        let url = try url(
            [reference.organization, reference.name, "resolve", commit]
                + file.split(separator: "/").map(String.init))
        return try retrying(place(url)) {
            // A redirect to the storage's host is the answer that has the linked file's digest.
            let answer = try exchange("HEAD", url, followsHosts: false)
            if let later: Attempt<Metadata> = Self.later(answer) { return later }
            guard answer.status == 200 || (301...308).contains(answer.status) else {
                throw error(answer, reference, file: file, at: url)
            }
            if let found = answer.header("X-Repo-Commit"), found != commit {
                throw HubError.badAnswer(place: place(url), problem: "it is of another commit")
            }
            let linked = answer.header("X-Linked-Etag")
            var etag = linked ?? answer.header("ETag") ?? ""
            if etag.hasPrefix("W/") { etag.removeFirst(2) }
            etag = etag.trimmingCharacters(in: ["\""])
            guard HubNames.isDigest(etag) else {
                throw HubError.badAnswer(place: place(url), problem: "it has no digest as ETag")
            }
            if let text = answer.header("X-Linked-Size"), Int(text) != listed {
                throw HubError.badAnswer(place: place(url), problem: "it gives two sizes")
            }
            return .done(Metadata(url: url, etag: etag, size: listed))
        }
    }
}

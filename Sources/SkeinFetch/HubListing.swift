import Foundation
import SkeinHub

/// What a repository has.
extension HubServer {
    /// Pages of a listing; the Hub puts 1000 entries on one.
    private static var pages: Int { 20 }

    /// The commit that the reference's revision has now.
    func commit(of reference: HubReference) throws -> String {
        let url = try url([
            "api", "models", reference.organization, reference.name, "revision",
            reference.revision,
        ])
        let answer = try json(url, reference)
        return try reading(url) {
            try HubAnswers.commit(answer.body, of: reference.revision)
        }
    }

    /// Paths and sizes of all files of a commit.
    func files(of reference: HubReference, commit: String) throws -> [String: Int] {
        var next: URL? = try url(
            ["api", "models", reference.organization, reference.name, "tree", commit],
            query: "?recursive=1")
        var files: [String: Int] = [:]
        var pages = 0
        while let url = next {
            pages += 1
            guard pages <= Self.pages, files.count <= Limits.files else {
                throw HubError.tooManyFiles(repository: reference.repository)
            }
            let answer = try json(url, reference)
            do {
                for file in try reading(url, { try HubAnswers.files(answer.body) }) {
                    files[file.path] = file.size
                }
            } catch let error as HubAnswers.BadFileName {
                throw HubError.badFileName(repository: reference.repository, bytes: error.bytes)
            }
            next = try reading(url) { try HubAnswers.nextPage(answer.header("Link"), after: url) }
        }
        return files
    }

    /// Says where a problem was.
    private func reading<Value>(_ url: URL, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let problem as HubAnswers.Problem {
            throw HubError.badAnswer(place: place(url), problem: problem.text)
        }
    }

    private func json(_ url: URL, _ reference: HubReference) throws -> FetchedAnswer {
        try retrying(place(url)) {
            let answer = try transfer("GET", url)
            if let later: Attempt<FetchedAnswer> = Self.later(answer) { return later }
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
            let answer = try transfer("HEAD", url, followsHosts: false)
            if let later: Attempt<Metadata> = Self.later(answer) { return later }
            guard answer.status == 200 || (301...308).contains(answer.status) else {
                throw error(answer, reference, file: file, at: url)
            }
            let etag = try reading(url) {
                try HubAnswers.digest(commit: commit, size: listed, header: answer.header)
            }
            return .done(Metadata(url: url, etag: etag, size: listed))
        }
    }
}

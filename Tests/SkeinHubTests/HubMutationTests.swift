import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport
import Testing

/// Readers of what a Hub, a fetcher, a cache or a user says, against damaged inputs: each is read or
/// refused with a typed error, and what is read is within its bounds. `Damage.count` says how many.
@Suite struct HubMutationTests {
    private static let commit = String(repeating: "c0ffee", count: 6) + "beef"
    private static let digest = String(repeating: "0123456789abcdef", count: 4)

    /// Calls `reads` with damaged copies of `text`, and expects that some are refused and some not.
    private func damaged(_ text: String, _ reads: ([UInt8]) throws -> Bool) rethrows {
        let sound = Array(text.utf8)
        var (read, refused) = (0, 0)
        for number in 0..<Damage.count(2000) {
            var damage = Damage(number: number)
            var bytes = sound
            if number > 0 { damage.change(&bytes, within: 0..<bytes.count) }
            if damage.below(20) == 0 { bytes.removeLast(damage.below(bytes.count)) }
            if try reads(bytes) { read += 1 } else { refused += 1 }
        }
        #expect(read > 0 && refused > 0, "\(read) read, \(refused) refused")
    }

    @Test("a damaged answer about a revision")
    func revisions() {
        damaged("{\"id\": \"o/n\", \"sha\": \"\(Self.commit)\", \"siblings\": []}") { bytes in
            guard let commit = try? HubAnswers.commit(Data(bytes), of: "main") else { return false }
            #expect(HubNames.isCommit(commit))
            #expect(throws: HubAnswers.Problem.self) {
                try HubAnswers.commit(Data(bytes), of: String(repeating: "9", count: 40))
            }
            return true
        }
    }

    @Test("a damaged listing")
    func listings() throws {
        let entries = ["config.json", "q/a b.gguf", "model-00001-of-00002.safetensors"].map {
            "{\"type\": \"file\", \"path\": \"\($0)\", \"size\": 70000, \"oid\": \"\(Self.commit)\"}"
        }
        let folder = "{\"type\": \"directory\", \"path\": \"q\", \"size\": 0}"
        try damaged("[\(([folder] + entries).joined(separator: ", "))]") { bytes in
            let files: [(path: String, size: Int)]
            do {
                files = try HubAnswers.files(Data(bytes))
            } catch is HubAnswers.Problem {
                return false
            } catch is HubAnswers.BadFileName {
                return false
            }
            for file in files {
                #expect(HubNames.isFilePath(file.path) && file.size >= 0)
                #expect(!("/" + file.path + "/").contains("/../"))
            }
            for reference in [
                HubReference(organization: "o", name: "n"),
                HubReference(organization: "o", name: "n", file: files.last?.path),
            ] {
                do {
                    let chosen = try HubSelection.files(of: files.map(\.path), for: reference)
                    #expect(chosen.allSatisfy { name in files.contains { $0.path == name } })
                } catch is HubError {}
            }
            return true
        }
    }

    @Test("damaged headers of a file")
    func headers() throws {
        let sound =
            "ETag: W/\"\(Self.commit)\"\nX-Linked-Etag: \"\(Self.digest)\"\nX-Linked-Size: 70000"
        damaged(sound + "\nX-Repo-Commit: \(Self.commit)") { bytes in
            var headers: [String: String] = [:]
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { headers[String(parts[0])] = String(parts[1].dropFirst()) }
            }
            guard
                let digest = try? HubAnswers.digest(
                    commit: Self.commit, size: 70000, header: { headers[$0] })
            else { return false }
            #expect(HubNames.isDigest(digest))
            return true
        }
    }

    @Test("a damaged link to the next page")
    func links() throws {
        let url = try #require(URL(string: "https://hub.example:8443/api/models/o/n/tree/main"))
        damaged(
            "<https://hub.example:8443/api/models/o/n/tree/main?cursor=a%3D&x=1>; rel=\"next\""
        ) { bytes in
            let link = String(decoding: bytes, as: UTF8.self)
            guard let next = try? HubAnswers.nextPage(link, after: url) else { return false }
            #expect(next.host == "hub.example" && next.port == 8443 && next.scheme == "https")
            return true
        }
    }

    @Test("a damaged name of a model")
    func references() {
        damaged("HuggingFaceTB/SmolLM2-135M@v1.0/a+b:q/model-00001-of-00003.gguf") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let reference = HubReference(text) else { return false }
            let cache = HubCache(directory: "/cache", reference: reference)
            for path in [
                cache.path(of: Self.commit), cache.snapshot(Self.commit), cache.lock(Self.digest),
                cache.partial(Self.digest),
            ] {
                #expect(path.hasPrefix("/cache/") && !(path + "/").contains("/../"), "\(text)")
            }
            // What is typed and what is shown mean the same.
            #expect(HubReference(reference.text) == reference, "\(text)")
            return true
        }
    }

    @Test("a damaged line of the fetcher", arguments: [0, 1, 2])
    func lines(_ kind: Int) throws {
        let messages: [FetchMessage] = [
            .progress(done: 1_000_000, total: 123_456_789, received: 5),
            .finished(commit: Self.commit),
            .failed(.wrongSize(file: "model.safetensors", expected: 70_000, found: 12)),
        ]
        let line = String(decoding: try FetchLine.bytes(messages[kind]).dropLast(), as: UTF8.self)
        try damaged(line) { bytes in
            do {
                let message = try FetchLine.read(FetchMessage.self, bytes)
                if case .failed(let error) = message { #expect(!error.explanation.what.isEmpty) }
                return true
            } catch let error as HubError {
                #expect(error == .badMessage)
                return false
            }
        }
    }

    @Test("a damaged index of a folder in the cache")
    func indexes() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let reference = HubReference(organization: "o", name: "n", revision: Self.commit)
            let folder = HubCache(directory: directory, reference: reference).snapshot(Self.commit)
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            for name in ["config.json", "tokenizer.json", "a.safetensors", "b.safetensors"] {
                try Data().write(to: URL(fileURLWithPath: folder + "/" + name))
            }
            let index = URL(fileURLWithPath: folder + "/model.safetensors.index.json")
            try damaged(
                "{\"metadata\": {}, \"weight_map\": {\"x\": \"a.safetensors\", \"y\": \"b.safetensors\"}}"
            ) { bytes in
                try Data(bytes).write(to: index)
                return try HubCache(directory: directory, reference: reference).find() != nil
            }
        }
    }
}

import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport
import Testing

@Suite("the cache of the Hub")
struct HubCacheTests {
    private static let commit = String(repeating: "a", count: 40)
    private let reference = HubReference(organization: "o", name: "n")

    private func add(_ names: [String], to cache: HubCache) throws {
        for (number, name) in names.enumerated() {
            let etag = String(repeating: String(number), count: 40)
            try AtomicFile.makeDirectory(FilePath.parent(of: cache.blob(etag)))
            try AtomicFile.write("x", to: cache.blob(etag))
            try cache.link(name, of: Self.commit, to: etag)
        }
        try cache.remember(Self.commit)
    }

    @Test("a model is found once all of it is there, and links are relative")
    func found() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = HubCache(directory: directory, reference: reference)
            #expect(try cache.find() == nil)
            try add(["config.json", "tokenizer.json"], to: cache)
            #expect(try cache.find() == nil)
            try add(["config.json", "tokenizer.json", "model.safetensors"], to: cache)
            #expect(try cache.find() == cache.snapshot(Self.commit))
            let link = cache.snapshot(Self.commit) + "/config.json"
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: link)
                    == "../../blobs/" + String(repeating: "0", count: 40))
        }
    }

    @Test("what a killed process left of a link or a note is used up, and no file of the model")
    func leftovers() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = HubCache(directory: directory, reference: reference)
            let repository = directory + "/models--o--n"
            let etag = String(repeating: "0", count: 40)
            try AtomicFile.makeDirectory(repository + "/.skein")
            try AtomicFile.makeDirectory(repository + "/refs")
            #expect(symlink("../../blobs/" + etag, repository + "/.skein/link-0-" + etag) == 0)
            try AtomicFile.write("half", to: repository + "/refs/main.tmp-072147483648")
            try add(["config.json"], to: cache)
            #expect(try DiskStore().names(in: cache.snapshot(Self.commit)) == ["config.json"])
            #expect(try DiskStore().names(in: repository + "/.skein") == [])
            #expect(try DiskStore().names(in: repository + "/refs") == ["main"])
        }
    }

    @Test("a link in the place of a revision is replaced, not followed")
    func linkedRevision() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = HubCache(directory: directory + "/cache", reference: reference)
            let refs = directory + "/cache/models--o--n/refs"
            try AtomicFile.makeDirectory(refs)
            try AtomicFile.write("mine", to: directory + "/mine")
            try FileManager.default.createSymbolicLink(
                atPath: refs + "/main", withDestinationPath: directory + "/mine")
            try cache.remember(Self.commit)
            #expect(try String(contentsOfFile: directory + "/mine", encoding: .utf8) == "mine")
            #expect(try cache.commit() == Self.commit)
        }
    }

    @Test("a revision that cannot be read is an error, and not one that was never asked for")
    func unreadableRevision() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = HubCache(directory: directory, reference: reference)
            let path = directory + "/models--o--n/refs/main"
            // A folder is what a revision such as main/next leaves there.
            try AtomicFile.makeDirectory(path)
            #expect(try cache.commit() == nil && cache.find() == nil)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
            #expect(throws: FileError.failed(operation: "look at", path: path, code: ELOOP)) {
                try cache.find()
            }
            let error = HubError.unreadableCache(
                reference: "o/n", path: path, operation: "look at", code: ELOOP)
            let input = HubInput(environment: ["HF_HUB_CACHE": directory])
            #expect(throws: error) { try input.cached(reference) }
            #expect(throws: error) {
                try input.path(of: reference, as: .model, asksServer: false) { _ in }
            }
            #expect(error.saysThatNoPath && error.explanation.remedy.contains("HF_HUB_CACHE"))
        }
    }

    @Test("what skein noted for itself may be unreadable: the files decide")
    func unreadableRecord() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = HubCache(directory: directory, reference: reference)
            try add(["config.json", "tokenizer.json", "model.safetensors"], to: cache)
            try cache.record(["config.json"], of: Self.commit, as: .model)
            #expect(try cache.findWhole() == cache.snapshot(Self.commit))
            let notes = directory + "/models--o--n/.skein"
            try FileManager.default.removeItem(atPath: notes)
            try FileManager.default.createSymbolicLink(
                atPath: notes, withDestinationPath: notes)
            #expect(try cache.findWhole() == nil)
            let input = HubInput(environment: ["HF_HUB_CACHE": directory, "HF_HUB_OFFLINE": "1"])
            let path = try input.path(of: reference, as: .model, asksServer: false) { _ in }
            #expect(path == cache.snapshot(Self.commit))
        }
    }

    @Test("a token file that cannot be read is an error; one that is not there is no token")
    func unreadableToken() throws {
        try TestPaths.withTemporaryDirectory { directory in
            for (path, isThere) in [(directory, true), (directory + "/none", false)] {
                let settings = try HubSettings(environment: ["HF_TOKEN_PATH": path])
                if isThere {
                    #expect(
                        throws: HubError.storage(path: path, operation: "read", code: EISDIR)
                    ) { try settings.token() }
                } else {
                    #expect(try settings.token() == nil)
                }
            }
        }
    }

    @Test("one of several parts is not a model")
    func parts() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = HubCache(directory: directory, reference: reference)
            let base = ["config.json", "tokenizer.json", "model-00001-of-00002.safetensors"]
            try add(base, to: cache)
            #expect(try cache.find() == nil)
            try add(base + ["model-00002-of-00002.safetensors"], to: cache)
            #expect(try cache.find() != nil)
        }
    }

    @Test("a file is found by its name, offline; a missing one is an error that names both tries")
    func offline() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var named = reference
            named.file = "q/a.gguf"
            let cache = HubCache(directory: directory, reference: named)
            let model = HubInput(environment: ["HF_HUB_CACHE": directory, "HF_HUB_OFFLINE": "1"])
            let missing = HubError.offline(reference: "o/n:q/a.gguf", cache: directory)
            #expect(throws: missing) {
                try model.path(of: named, as: .model, asksServer: true) { _ in }
            }
            #expect(missing.explanation.what.contains("no file or folder"))
            try add(["q/a.gguf"], to: cache)
            let path = try model.path(of: named, as: .model, asksServer: true) { _ in }
            #expect(path == cache.snapshot(Self.commit) + "/q/a.gguf")
        }
    }

    @Test("settings are huggingface_hub's, and a token's file is read")
    func settings() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let plain = try HubSettings(environment: ["HOME": "/h"])
            #expect(plain.cache == "/h/.cache/huggingface/hub")
            #expect(plain.endpoint == "https://huggingface.co")
            #expect(
                try HubSettings(environment: ["XDG_CACHE_HOME": "/x"]).cache
                    == "/x/huggingface/hub")
            try AtomicFile.write("hf_secret\n", to: directory + "/token")
            let home = try HubSettings(environment: ["HF_HOME": directory])
            #expect(home.cache == directory + "/hub")
            #expect(try home.token() == "hf_secret")
            let silent = try HubSettings(
                environment: ["HF_HOME": directory, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"])
            #expect(try silent.token() == nil)
            let bad = try HubSettings(environment: ["HF_TOKEN": "a\r\nX: y"])
            #expect(throws: HubError.badToken(place: "HF_TOKEN")) { try bad.token() }
            for endpoint in ["ftp://a", "https://", "https://u:p@a", "a"] {
                #expect(throws: HubError.badEndpoint) {
                    try HubSettings(environment: ["HF_ENDPOINT": endpoint])
                }
            }
        }
    }

    @Test("without the fetcher, the error says how to build it")
    func noFetcher() throws {
        let error = HubError.noFetcher(path: "/nowhere/skein-fetch")
        #expect(throws: error) {
            try FetchClient(environment: ["SKEIN_FETCH": "/nowhere/skein-fetch"])
        }
        #expect(error.explanation.remedy.contains("--product skein-fetch"))
    }

    @Test("messages come back from a line as they were; long and strange ones are refused")
    func messages() throws {
        let message = FetchMessage.failed(.wrongBytes(file: "f", expected: "a", found: "b"))
        let line = try FetchLine.bytes(message)
        #expect(try FetchLine.read(FetchMessage.self, line.dropLast()) == message)
        #expect(throws: HubError.badMessage) {
            try FetchLine.read(FetchMessage.self, Array("{}".utf8))
        }
        #expect(throws: HubError.badMessage) {
            try FetchLine.bytes(
                FetchMessage.finished(commit: String(repeating: "a", count: Limits.lineBytes)))
        }
    }
}

import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows

@Suite("token cache") struct TokenCacheTests {
    @Test("the second start encodes nothing and has the same rows, counts and bad lines")
    func roundTrip() throws {
        try TokenCacheBench.with { bench in
            var first = try bench.source()
            let made = try first.file(bench.data)
            #expect(first.origin == TokenOrigin(encodedRows: 6, cachedRows: 0, warnings: []))
            #expect(made.lines.badLineCount == 2 && made.lines.firstBadLine?.number == 3)
            #expect(made.lines.remarks[.emptyAnswer] == 1 && made.lines.remarks[.leadingSpace] == 1)
            #expect(made.encoded.skippedLines == [8] && made.encoded.cutCount == 2)
            #expect(made.encoded.rows.contains { $0.targets.count == 2 })

            var second = try bench.source()
            #expect(try second.file(bench.data) == made)
            #expect(second.origin == TokenOrigin(encodedRows: 0, cachedRows: 6, warnings: []))

            var plain = TokenSource(
                encoder: try TokenCacheBench.encoder(), skippingBadLines: true,
                vocabularySize: TokenCacheBench.vocabularySize, cache: nil, version: "1")
            #expect(try plain.file(bench.data) == made)
            #expect(plain.origin.encodedRows == 6)
        }
    }

    @Test("no other user can read the cache, even if an earlier version left it open")
    func access() throws {
        try TokenCacheBench.with { bench in
            func modes() throws -> [mode_t] {
                let names = try DiskStore().names(in: bench.cache.directory)
                return try
                    ([bench.cache.directory]
                    + names.map { FilePath.join(bench.cache.directory, $0) }).map { path in
                        var status = stat()
                        try #require(lstat(path, &status) == 0)
                        return status.st_mode & 0o777
                    }
            }
            var first = try bench.source()
            _ = try first.file(bench.data)
            #expect(try modes() == [0o700, 0o600])
            for name in try DiskStore().names(in: bench.cache.directory) {
                #expect(chmod(FilePath.join(bench.cache.directory, name), 0o644) == 0)
            }
            #expect(chmod(bench.cache.directory, 0o755) == 0)
            var second = try bench.source()
            _ = try second.file(bench.data)
            #expect(second.origin.cachedRows == 6 && second.origin.warnings.isEmpty)
            #expect(try modes() == [0o700, 0o600])
        }
    }

    @Test("the same bytes at another path are the same data, and errors name the current path")
    func moved() throws {
        try TokenCacheBench.with { bench in
            var first = try bench.source()
            _ = try first.file(bench.data)
            let other = bench.directory + "/other.jsonl"
            try AtomicFile.write(TokenCacheBench.text, to: other)
            var second = try bench.source()
            let kept = try second.file(other)
            #expect(second.origin.cachedRows == 6)
            let plain = try PairFile(path: other, skippingBadLines: true)
            let encoded = try TokenCacheBench.encoder().encodeWithRemarks(plain)
            #expect(kept.lines == plain.facts(encoded))
            #expect(kept.lines.firstBadLine?.error.explanation.place.contains(other) == true)
        }
    }

    @Test("everything that tokens depend on is in the key")
    func keys() throws {
        try TokenCacheBench.with { bench in
            let base = try #require(try bench.key())
            #expect(try bench.key() == base)
            // What `auto` means here.
            #expect(try bench.key(TokenCacheBench.encoder(.chat)) == base)
            let others = try [
                bench.key(data: "other"), bench.key(skipping: false), bench.key(version: "2"),
                bench.key(TokenCacheBench.encoder(.eos)), bench.key(TokenCacheBench.encoder(.raw)),
                bench.key(TokenCacheBench.encoder(turns: .last)),
                bench.key(TokenCacheBench.encoder(maximumLength: 41)),
                bench.key(TokenCacheBench.encoder(digest: "other tokenizer")),
            ]
            #expect(Set(others + [base]).count == others.count + 1)
            #expect(!others.contains(nil))
            #expect(try bench.key(TokenCacheBench.encoder(digest: nil)) == nil)
        }
    }

    @Test("other settings do not find the file, and an encoder without a digest writes none")
    func misses() throws {
        try TokenCacheBench.with { bench in
            var first = try bench.source()
            _ = try first.file(bench.data)
            for (encoder, version) in [
                (try TokenCacheBench.encoder(maximumLength: 30), "1"),
                (try TokenCacheBench.encoder(turns: .last), "1"),
                (try TokenCacheBench.encoder(), "2"),
            ] {
                var source = try bench.source(encoder, version: version)
                _ = try source.file(bench.data)
                #expect(source.origin.encodedRows == 6 && source.origin.cachedRows == 0)
            }
            #expect(try DiskStore().names(in: bench.cache.directory).count == 4)
            for _ in 0..<2 {
                var source = try bench.source(TokenCacheBench.encoder(digest: nil))
                _ = try source.file(bench.data)
                #expect(source.origin.encodedRows == 6)
            }
            #expect(try DiskStore().names(in: bench.cache.directory).count == 4)
        }
    }

    @Test("a damaged file is reported and written again")
    func damaged() throws {
        try TokenCacheBench.with { bench in
            let key = try #require(try bench.key())
            var first = try bench.source()
            let made = try first.file(bench.data)
            let whole = try bench.bytes(of: key)
            for bytes in [Array(whole.dropLast()), [], Array("foreign".utf8)] {
                try AtomicFile.write(bytes, to: bench.cache.path(of: key))
                var source = try bench.source()
                #expect(try source.file(bench.data) == made)
                #expect(source.origin.encodedRows == 6 && source.origin.warnings.count == 1)
                guard case .unusable? = source.origin.warnings.first else {
                    Issue.record("\(source.origin.warnings)")
                    continue
                }
                #expect(try bench.bytes(of: key) == whole)
            }
        }
    }

    @Test("a cache that cannot be written is a warning")
    func unwritable() throws {
        try TokenCacheBench.with { bench in
            let blocked = TokenCache(directory: bench.data + "/tokens")
            var source = try bench.source(cache: blocked)
            #expect(try source.file(bench.data).encoded.rows.count == 5)
            let last = try #require(source.origin.warnings.last)
            guard case .notKept = last else {
                Issue.record("\(last)")
                return
            }
            #expect(last.text.contains("--no-token-cache"))
            let small = TokenCache(
                directory: bench.cache.directory, fileLimit: 9, byteLimit: 100)
            source = try bench.source(cache: small)
            _ = try source.file(bench.data)
            #expect(source.origin.warnings.count == 1)
            #expect(try DiskStore().names(in: small.directory) == [])
        }
    }

    @Test("use is noted, so that the least recently used files are removed")
    func pruning() throws {
        try TokenCacheBench.with { bench in
            let cache = TokenCache(
                directory: bench.cache.directory, fileLimit: 2, byteLimit: 1 << 20)
            func use(_ length: Int) throws -> String {
                let encoder = try TokenCacheBench.encoder(maximumLength: length)
                var source = try bench.source(encoder, cache: cache)
                _ = try source.file(bench.data)
                #expect(source.origin.warnings == [])
                return cache.path(of: try #require(try bench.key(encoder)))
            }
            func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
            let files = (try use(30), try use(31))
            // Long ago: the system's own times may be coarse.
            for (path, seconds) in [(files.0, 1_000_000_000), (files.1, 1_000_000_060)] {
                let times = [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: 0), count: 2)
                #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
            }
            _ = try use(30)
            _ = try use(32)
            #expect(exists(files.0) && !exists(files.1))
        }
    }

    @Test("writers at the same time leave one whole file")
    func concurrent() throws {
        try TokenCacheBench.with { bench in
            let key = try #require(try bench.key())
            let results = try AtOnce.run(8) {
                var source = try bench.source()
                let file = try source.file(bench.data)
                return (file, source.origin.warnings)
            }
            #expect(results.allSatisfy { $0.1 == [] && $0.0 == results[0].0 })
            #expect(try bench.read(bench.bytes(of: key), key: key) == results[0].0)
            #expect(try DiskStore().names(in: bench.cache.directory).count == 1)
        }
    }
}

/// Runs a body on several threads at once.
private enum AtOnce {
    static func run<Value: Sendable>(
        _ count: Int, _ body: @escaping @Sendable () throws -> Value
    ) throws -> [Value] {
        let threads = (0..<count).map { number in
            Background("test-\(number)") { Result { try body() } }
        }
        return try threads.map { try $0.wait().get() }
    }
}

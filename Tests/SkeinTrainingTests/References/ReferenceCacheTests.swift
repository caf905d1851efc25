import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct ReferenceCacheTests {
    private let key = SHA256.digest(of: "key")
    private let rows = [2, 3, 1]
    private let pieces: [ReferencePiece?] = [
        ReferencePiece(values: [-1.5, -0.0], worker: "w1", attempt: 1), nil,
        ReferencePiece(values: [-1e300], worker: "töchter", attempt: 70),
    ]

    @Test("numbers that are no log-probabilities, and names that no worker has, are damage")
    func impossible() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = ReferenceCache(directory: directory)
            var warnings: [ReferenceCache.Warning] = []
            for piece in [
                ReferencePiece(values: [5, -1], worker: "w1", attempt: 1),
                ReferencePiece(values: [-1, .nan], worker: "w1", attempt: 1),
                ReferencePiece(values: [-Double.infinity, -1], worker: "w1", attempt: 1),
                ReferencePiece(
                    values: [-1, -1], worker: String(repeating: "w", count: 65), attempt: 1),
            ] {
                try cache.write([piece], key, &warnings)
                #expect(cache.read(key, rows: [2], &warnings) == nil, "\(piece)")
            }
            #expect(warnings.count == 4)
        }
    }

    @Test("what was written is read back, by its key and its rows alone")
    func roundTrip() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = ReferenceCache(directory: directory + "/a/references")
            var warnings: [ReferenceCache.Warning] = []
            #expect(cache.read(key, rows: rows, &warnings) == nil)
            try cache.write(pieces, key, &warnings)
            #expect(cache.read(key, rows: rows, &warnings) == pieces)
            #expect(cache.read(SHA256.digest(of: "other"), rows: rows, &warnings) == nil)
            #expect(warnings == [])
            for other in [[2, 3], [3, 3, 1], [2, 3, 1, 1], [2, 3, 0], []] {
                #expect(cache.read(key, rows: other, &warnings) == nil, "\(other)")
            }
            // A group that is missing may have any number of rows.
            #expect(cache.read(key, rows: [2, 9, 1], &warnings) == pieces)
            #expect(warnings.count == 5)
        }
    }

    @Test("a damaged or torn file is not used, and says so")
    func damaged() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = ReferenceCache(directory: directory)
            var warnings: [ReferenceCache.Warning] = []
            try cache.write(pieces, key, &warnings)
            let path = directory + "/\(key).references"
            let whole = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
            for index in whole.indices {
                var bytes = whole
                bytes[index] ^= 1
                try AtomicFile.write(bytes, to: path)
                #expect(cache.read(key, rows: rows, &warnings) == nil, "\(index)")
                try AtomicFile.write(Array(whole[..<index]), to: path)
                #expect(cache.read(key, rows: rows, &warnings) == nil, "\(index)")
            }
            #expect(warnings.count == 2 * whole.count)
        }
    }

    @Test("old files and torn ones of killed writers are removed, a user's own file never")
    func pruning() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = ReferenceCache(directory: directory)
            var warnings: [ReferenceCache.Warning] = []
            let own = directory + "/mine.references"
            let torn = directory + "/\(SHA256.digest(of: "torn")).references.tmp-7"
            let files = (0..<Limits.referenceFiles).map {
                directory + "/\(SHA256.digest(of: "\($0)")).references"
            }
            for (number, path) in ([own, torn] + files).enumerated() {
                try AtomicFile.write("old", to: path)
                let time = timespec(tv_sec: 1_000_000 + number, tv_nsec: 0)
                #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
            }
            try cache.write(pieces, key, &warnings)
            #expect(warnings == [])
            let names = try DiskStore().names(in: directory)
            #expect(names.count == Limits.referenceFiles + 1)
            for path in [torn, files[0]] { #expect(!names.contains(FilePath.name(of: path))) }
            #expect(names.contains("mine.references"))
        }
    }
}

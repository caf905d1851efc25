import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct ReferenceCacheTests {
    private let key = SHA256.digest(of: "key")
    private let values = [-1.5, -0.0, -1e300]

    @Test("what was written is read back, by its key and its count alone")
    func roundTrip() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = ReferenceCache(directory: directory + "/a/references")
            var warnings: [ReferenceCache.Warning] = []
            #expect(cache.read(key, count: 3, &warnings) == nil)
            try cache.write(values, key, &warnings)
            #expect(cache.read(key, count: 3, &warnings) == values)
            #expect(cache.read(SHA256.digest(of: "other"), count: 3, &warnings) == nil)
            #expect(warnings == [])
            #expect(cache.read(key, count: 2, &warnings) == nil)
            #expect(warnings.count == 1)
        }
    }

    @Test("a damaged or torn file is not used, and says so")
    func damaged() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = ReferenceCache(directory: directory)
            var warnings: [ReferenceCache.Warning] = []
            try cache.write(values, key, &warnings)
            let path = directory + "/\(key).references"
            let whole = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
            for index in whole.indices {
                var bytes = whole
                bytes[index] ^= 1
                try AtomicFile.write(bytes, to: path)
                #expect(cache.read(key, count: 3, &warnings) == nil, "\(index)")
                try AtomicFile.write(Array(whole[..<index]), to: path)
                #expect(cache.read(key, count: 3, &warnings) == nil, "\(index)")
            }
            #expect(warnings.count == 2 * whole.count)
        }
    }

    @Test("the least recently used files are removed")
    func pruning() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = ReferenceCache(directory: directory)
            var warnings: [ReferenceCache.Warning] = []
            for number in 0..<(Limits.referenceFiles + 3) {
                let key = SHA256.digest(of: "\(number)")
                try cache.write(values, key, &warnings)
                var times = [timespec(), timespec()]
                times[0].tv_sec = 1_000_000 + number
                times[1].tv_sec = 1_000_000 + number
                _ = utimensat(AT_FDCWD, directory + "/\(key).references", &times, 0)
            }
            #expect(warnings == [])
            let names = try DiskStore().names(in: directory)
            #expect(names.count == Limits.referenceFiles)
            #expect(cache.read(SHA256.digest(of: "0"), count: 3, &warnings) == nil)
            #expect(cache.read(SHA256.digest(of: "34"), count: 3, &warnings) == values)
        }
    }
}

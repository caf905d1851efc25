import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinBasics

@Suite("folders of a cache") struct CacheFolderTests {
    private func key(_ number: Int) -> SHA256.Digest { SHA256.digest(of: "\(number)") }

    /// Files of `count` bytes, with times of use a nanosecond apart and long ago.
    private func write(_ names: [String], bytes count: Int = 10, in directory: String) throws {
        for (number, name) in names.enumerated() {
            let path = FilePath.join(directory, name)
            try AtomicFile.write([UInt8](repeating: 1, count: count), to: path)
            let time = timespec(tv_sec: 1_000_000, tv_nsec: number)
            #expect(utimensat(AT_FDCWD, path, [time, time], AT_SYMLINK_NOFOLLOW) == 0)
        }
    }

    /// With `.tokens`, beginning with the one that is used least recently.
    private func names(_ numbers: some Sequence<Int>) -> [String] {
        numbers.map { "\(key($0)).tokens" }
    }

    private func write(_ number: Int, to folder: CacheFolder) throws {
        try folder.write(key(number)) { output in
            try [UInt8](repeating: 2, count: 10).withUnsafeBytes { try output.append($0) }
        }
    }

    @Test("the least recently used files go, so that no more and no larger ones than wanted stay")
    func limits() throws {
        try TestPaths.withTemporaryDirectory { directory in
            func folder(files: Int = .max, bytes: Int = .max) -> CacheFolder {
                CacheFolder(directory, suffix: ".tokens", fileLimit: files, byteLimit: bytes)
            }
            func left() throws -> [String] { try DiskStore().names(in: directory) }
            try write(names(0..<5), in: directory)
            try write(5, to: folder())
            #expect(try left() == names(0...5).sorted())
            folder().touch(key(0))
            try write(6, to: folder(files: 5))
            #expect(try left() == names([0, 3, 4, 5, 6]).sorted())
            try write(3, to: folder(bytes: 45))
            #expect(try left() == names([0, 3, 5, 6]).sorted())
            try write(names([3, 0, 6]), in: directory)
            let kept = Set([4, 5].map { folder().path(of: key($0)) })
            #expect(try folder().byteCount(without: kept) == 30)
            try folder(bytes: 40).prune(keeping: kept, expected: 15)
            #expect(try left() == names([0, 5, 6]).sorted())
            try folder(bytes: 9).prune(keeping: [])
            #expect(try left() == [])
            #expect(try folder().byteCount(without: []) == 0)
        }
    }

    @Test("what is torn goes, what is not the cache's stays, and so does a link")
    func others() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let place = FilePath.join(directory, "shared")
            #expect(mkdir(place, 0o755) == 0)
            let own = [
                "mine.tokens", "notes.txt", "\(String(repeating: "g", count: 64)).tokens",
                "\(key(1)).tokens.old", "\(key(1)).features", "\(key(1))",
            ]
            let torn = "\(key(1)).tokens.tmp-7"
            try write(own + [torn], in: place)
            let link = FilePath.join(place, names([2])[0])
            #expect(symlink(FilePath.join(place, "notes.txt"), link) == 0)
            let folder = CacheFolder(place, suffix: ".tokens", fileLimit: 1)
            try folder.prune(keeping: [])
            #expect(try DiskStore().names(in: place).contains(torn))
            try write(3, to: folder)
            let stays = own + names([2])
            #expect(try DiskStore().names(in: place) == (stays + names([3])).sorted())
            try folder.removeAll()
            #expect(try DiskStore().names(in: place) == stays.sorted())
        }
    }

    @Test("only the owner can read what is written, and the folder goes once nothing is in it")
    func rights() throws {
        try TestPaths.withTemporaryDirectory { directory in
            func mode(_ path: String) throws -> mode_t {
                var status = stat()
                try #require(lstat(path, &status) == 0)
                return status.st_mode & 0o777
            }
            let folder = CacheFolder(directory + "/a/b", suffix: ".tokens")
            try write(1, to: folder)
            #expect(try mode(folder.path) == 0o700 && mode(folder.path(of: key(1))) == 0o600)
            #expect(chmod(folder.path, 0o755) == 0 && chmod(folder.path(of: key(1)), 0o644) == 0)
            try folder.close()
            #expect(try mode(folder.path) == 0o700 && mode(folder.path(of: key(1))) == 0o600)
            try folder.removeAll()
            #expect(!DiskStore().exists(folder.path) && DiskStore().exists(directory + "/a"))
            try folder.removeAll()
        }
    }

    @Test("what the check throws leaves the file as it was")
    func checked() throws {
        struct Refusal: Error {}
        try TestPaths.withTemporaryDirectory { directory in
            let folder = CacheFolder(directory, suffix: ".tokens")
            try write(1, to: folder)
            #expect(throws: Refusal.self) {
                try folder.write(key(1), check: { throw Refusal() }, { _ in })
            }
            #expect(try MappedFile(path: folder.path(of: key(1))).count == 10)
            #expect(try DiskStore().names(in: directory) == names([1]))
        }
    }
}

import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@Suite("what a killed process had not finished")
struct UnfinishedTests {
    private func names(_ directory: String) throws -> [String] {
        try DiskStore().names(in: directory)
    }

    @Test("it goes, file or folder; what its maker still holds and what has another name stay")
    func abandoned() throws {
        try TestPaths.withTemporaryDirectory { directory in
            // A person's copy may have a number or a date behind its name.
            let others = [
                "a", "a.tmp-", "a.tmp-7x", "ab.tmp-072147483648", "a.tmp", "b.tmp-072147483648",
                "a.tmp-1793000000000", "a.tmp-02147483648",
                "a.tmp-7", "a.tmp-20261130", "a.tmp-072147483647", "a.tmp-2147483648",
            ]
            for name in others + ["a.tmp-012147483648", "a.tmp-024294967295"] {
                try AtomicFile.write("x", to: directory + "/" + name)
            }
            try AtomicFile.makeDirectory(directory + "/a.tmp-033000000000/inner")
            try AtomicFile.write("x", to: directory + "/a.tmp-033000000000/inner/file")
            #expect(symlink(directory + "/a", directory + "/a.tmp-043000000000") == 0)
            let held = open(directory + "/a.tmp-024294967295", O_RDONLY | O_CLOEXEC)
            #expect(held >= 0 && flock(held, LOCK_EX) == 0)
            try Unfinished.removeAbandoned(beside: directory + "/a")
            #expect(
                try names(directory)
                    == (others + ["a.tmp-024294967295", "a.tmp-043000000000"]).sorted())
            close(held)
            try Unfinished.removeAbandoned(beside: directory + "/a")
            #expect(try names(directory) == (others + ["a.tmp-043000000000"]).sorted())
        }
    }

    @Test("a file that is being written is held, and so is a folder")
    func held() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file"
            try AtomicFile.write(to: path) { output in
                try Unfinished.removeAbandoned(beside: path)
                let names = try names(directory)
                #expect(names.count == 1 && names.allSatisfy { Unfinished.isName($0) })
                try Array("whole".utf8).withUnsafeBytes { try output.append($0) }
            }
            let bytes = try MappedFile(path: path).withBytes { Array($0) }
            #expect(bytes == Array("whole".utf8))
            let folder = directory + "/folder/"
            try Unfinished.make(folder, isFolder: true) { unfinished in
                try Unfinished.removeAbandoned(beside: folder)
                try AtomicFile.write("x", to: unfinished + "/inner")
            }
            #expect(try names(directory) == ["file", "folder"])
            #expect(try names(folder) == ["inner"])
            try Unfinished.make(directory + "/other", isFolder: false) { unfinished in
                try AtomicFile.write("x", to: unfinished)
            }
            #expect(try names(directory) == ["file", "folder", "other"])
        }
    }

    @Test("an error leaves nothing, and is the one that is thrown")
    func failing() throws {
        struct Refusal: Error {}
        try TestPaths.withTemporaryDirectory { directory in
            #expect(throws: Refusal.self) {
                try Unfinished.make(directory + "/a", isFolder: true) { unfinished in
                    try AtomicFile.write("x", to: unfinished + "/inner")
                    throw Refusal()
                }
            }
            #expect(throws: Refusal.self) {
                try AtomicFile.write(to: directory + "/a") { _ in throw Refusal() }
            }
            let left = try names(directory)
            #expect(left == [])
        }
    }

    @Test("a cache that writes one file removes what was left of all others")
    func cache() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let folder = CacheFolder(directory, suffix: ".tokens")
            let (one, two) = (SHA256.digest(of: "1"), SHA256.digest(of: "2"))
            try AtomicFile.write("x", to: folder.path(of: one) + ".tmp-7")
            try AtomicFile.write("x", to: folder.path(of: two) + ".tmp-8")
            try AtomicFile.write("x", to: directory + "/mine.tmp-9")
            try folder.write(one) { _ in }
            #expect(try names(directory) == ["\(one).tokens", "mine.tmp-9"].sorted())
        }
    }
}

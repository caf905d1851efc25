import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinBasics

@Suite("the system's disk") struct DiskStoreTests {
    @Test("a directory goes with all that is in it, and what links lead to stays")
    func removal() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = DiskStore()
            try store.makeDirectory(directory + "/far/deep")
            try store.write("kept", to: directory + "/far/file")
            try store.makeDirectory(directory + "/tree/a/b")
            try store.makeDirectory(directory + "/tree/empty")
            for name in ["one", "a/two", "a/b/three"] {
                try store.write(name, to: directory + "/tree/" + name)
            }
            for (target, name) in [("far", "folder"), ("far/file", "file"), ("gone", "a/nothing")] {
                #expect(symlink(directory + "/" + target, directory + "/tree/" + name) == 0)
            }
            try store.remove(directory + "/tree")
            #expect(try store.names(in: directory) == ["far"])
            #expect(try store.names(in: directory + "/far") == ["deep", "file"])
            // Nothing there is fine; a link that leads nowhere counts as nothing.
            try store.remove(directory + "/tree")
            #expect(symlink("nowhere", directory + "/link") == 0)
            try store.remove(directory + "/link")
            try store.remove(directory + "/far/file")
            #expect(try store.names(in: directory) == ["far", "link"])
            #expect(try store.names(in: directory + "/far") == ["deep"])
        }
    }

    @Test("what cannot be removed or listed says so, with the path that was given")
    func refusals() throws {
        let store = DiskStore()
        // A file of the kernel cannot be removed, not by root either.
        let kept = "/proc/self/status"
        #expect(throws: FileError.failed(operation: "remove", path: kept, code: EPERM)) {
            try store.remove(kept)
        }
        try TestPaths.withTemporaryDirectory { directory in
            let file = directory + "/file"
            try store.write("bytes", to: file)
            #expect(throws: FileError.failed(operation: "list", path: file, code: ENOTDIR)) {
                try store.names(in: file)
            }
            #expect(try store.names(in: directory + "/none") == [])
            #expect(try store.kind(of: file) == .regular)
            #expect(try store.kind(of: directory) == .directory)
            #expect(try store.kind(of: file + "/none") == nil)
            #expect(!store.exists(file + "/none") && store.exists(file))
        }
    }

    @Test("two descriptors of a file are two for its lock; one that is let go of is free")
    func locks() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (store, path) = (DiskStore(), directory + "/.lock")
            var lock = try store.lock(path)
            #expect(lock != nil)
            #expect(try DiskStore.isLocked(path))
            #expect(try store.lock(path) == nil)
            lock = nil
            #expect(try !DiskStore.isLocked(path))
            lock = try store.lock(path)
            #expect(lock != nil)
        }
    }
}

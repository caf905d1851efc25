import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinBasics

@Suite("atomic files") struct AtomicFileTests {
    private func text(_ path: String) throws -> String {
        try MappedFile(path: path).withBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0, "\(path): \(errno)")
        return status.st_mode
    }

    @Test("a link's target is replaced, and the link stays")
    func links() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.makeDirectory(directory + "/far")
            try AtomicFile.write("old", to: directory + "/far/file")
            for (link, target) in [
                ("one", "far/file"), ("two", "one"), ("far/three", directory + "/two"),
                ("dangling", "far/new"),
            ] {
                #expect(symlink(target, directory + "/" + link) == 0)
            }
            for (link, file) in [
                ("one", "far/file"), ("two", "far/file"), ("far/three", "far/file"),
                ("dangling", "far/new"),
            ] {
                try AtomicFile.write("by \(link)", to: directory + "/" + link)
                #expect(try text(directory + "/" + file) == "by \(link)")
                #expect(try mode(directory + "/" + link) & S_IFMT == S_IFLNK)
                #expect(try mode(directory + "/" + file) & S_IFMT == S_IFREG)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/far")
            #expect(names.sorted() == ["file", "new", "three"])
            #expect(symlink("loop", directory + "/loop") == 0)
            #expect(throws: FileError.self) { try AtomicFile.write("x", to: directory + "/loop") }
        }
    }

    @Test("a named pipe is written into and stays a pipe")
    func pipe() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/p"
            #expect(mkfifo(path, 0o600) == 0)
            // The reader opens first, without waiting for a writer, so that the writer does not
            // wait either.
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            try AtomicFile.write("through the pipe", to: path)
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = read(reader, &bytes, bytes.count)
            #expect(
                String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "through the pipe")
            #expect(try mode(path) & S_IFMT == S_IFIFO)
        }
    }

    /// A null device of the test's own; nil where the system does not allow one.
    private func nullDevice(in directory: String) -> String? {
        let path = directory + "/null"
        // Major 1, minor 3.
        guard mknod(path, S_IFCHR | 0o666, 1 << 8 | 3) == 0 else { return nil }
        let descriptor = open(path, O_WRONLY)
        guard descriptor >= 0 else { return nil }
        close(descriptor)
        return path
    }

    @Test("a device is written into and stays a device")
    func device() throws {
        try TestPaths.withTemporaryDirectory { directory in
            // Without the right to make devices, the system's own serves a user who could not
            // replace it.
            let path = nullDevice(in: directory) ?? (geteuid() == 0 ? nil : "/dev/null")
            guard let path else { return }
            try AtomicFile.write("gone", to: path)
            #expect(try mode(path) & S_IFMT == S_IFCHR)
            #expect(symlink(path, directory + "/link") == 0)
            try AtomicFile.write("gone, too", to: directory + "/link")
            #expect(try mode(path) & S_IFMT == S_IFCHR)
        }
    }

    @Test("directories and sockets are refused, and named")
    func refused() throws {
        try TestPaths.withTemporaryDirectory { directory in
            #expect(
                throws: FileError.wrongKind(path: directory, found: .directory, use: .writing)
            ) { try AtomicFile.write("x", to: directory) }
            let path = directory + "/s"
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
                guard path.utf8.count < room.count else { return false }
                room.copyBytes(from: path.utf8)
                return true
            }
            try #require(fits, "\(path) is too long for a socket")
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            #expect(throws: FileError.wrongKind(path: path, found: .socket, use: .writing)) {
                try AtomicFile.write("x", to: path)
            }
            #expect(throws: FileError.wrongKind(path: path, found: .socket, use: .reading)) {
                try MappedFile(path: path)
            }
        }
    }

    @Test("an open descriptor is written to at its position, and its file is not replaced")
    func descriptors() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/log"
            try AtomicFile.write("before\n", to: path)
            var old = stat()
            #expect(stat(path, &old) == 0)
            for flag in [O_APPEND, 0] {
                let descriptor = open(path, O_WRONLY | O_CLOEXEC | flag)
                try #require(descriptor >= 0)
                defer { close(descriptor) }
                let link = directory + "/output\(flag)"
                #expect(symlink("/proc/self/fd/\(descriptor)", link) == 0)
                try AtomicFile.write("one\n", to: "/proc/self/fd/\(descriptor)")
                try AtomicFile.write("two\n", to: link)
                #expect(write(descriptor, "3\n", 2) == 2)
                // Without O_APPEND the descriptor was at the beginning.
                let beginning = flag == 0 ? "one\ntwo\n3\n" : "before\none\ntwo\n3\n"
                #expect(try text(path).hasPrefix(beginning))
            }
            var new = stat()
            #expect(stat(path, &new) == 0)
            #expect(new.st_ino == old.st_ino)
        }
    }

    @Test("private files and directories are closed to others, even if they existed before")
    func access() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/a/b"
            try AtomicFile.makeDirectory(path, access: .own)
            #expect(try mode(path) & 0o777 == 0o700)
            #expect(chmod(path, 0o755) == 0)
            try AtomicFile.makeDirectory(path, access: .own)
            #expect(try mode(path) & 0o777 == 0o700)
            let file = path + "/file"
            try AtomicFile.write("open", to: file)
            #expect(chmod(file, 0o666) == 0)
            try AtomicFile.write(to: file, access: .own) { output in
                try Array("closed".utf8).withUnsafeBytes { try output.append($0) }
            }
            #expect(try mode(file) & 0o777 == 0o600)
            #expect(try text(file) == "closed")
        }
    }
}

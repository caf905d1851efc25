import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinBasics

@Suite("whole files") struct MappedFileTests {
    @Test("a copy outlives the truncation that would be SIGBUS in a mapping")
    func truncated() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file"
            let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try AtomicFile.write(bytes, to: path)
            let copy = try MappedFile(copying: path)
            #expect(truncate(path, 0) == 0)
            copy.releasePages()
            #expect(copy.withBytes { $0.elementsEqual(bytes) })
        }
    }

    @Test("errors that say nothing about the file are told from those that do")
    func passing() {
        func failed(_ code: Int32) -> FileError {
            .failed(operation: "open", path: "file", code: code)
        }
        for code in [EACCES, EMFILE, ENFILE, ENOMEM, EIO] { #expect(failed(code).isPassing) }
        for code in [ENOENT, ENOTDIR, ELOOP, EISDIR] { #expect(!failed(code).isPassing) }
        #expect(FileError.noMemory(path: "file", bytes: 1).isPassing)
        #expect(!FileError.shortRead(path: "file", expected: 2, found: 1).isPassing)
        #expect(!FileError.wrongKind(path: "file", found: .directory, use: .reading).isPassing)
    }

    @Test("what the disk cannot read is an error with its reason")
    func unreadable() throws {
        // The first page of a process is not mapped, which its memory file reports as EIO.
        let descriptor = open("/proc/self/mem", O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var room = [UInt8](repeating: 0, count: 16)
        #expect(throws: FileError.failed(operation: "read", path: "disk", code: EIO)) {
            try room.withUnsafeMutableBytes {
                try RegularFile.fill($0, from: descriptor, path: "disk")
            }
        }
    }

    @Test("a file that ends early is an error with its size")
    func short() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file"
            try AtomicFile.write("12345", to: path)
            let (descriptor, count) = try RegularFile.open(path)
            defer { close(descriptor) }
            #expect(count == 5)
            var room = [UInt8](repeating: 0, count: 8)
            #expect(throws: FileError.shortRead(path: path, expected: 8, found: 5)) {
                try room.withUnsafeMutableBytes {
                    try RegularFile.fill($0, from: descriptor, path: path)
                }
            }
        }
    }

    @Test(
        "sizes and digests of files, by pieces", arguments: [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20])
    func digests(count: Int) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            try AtomicFile.write(bytes, to: directory + "/file")
            let found = try RegularFile.digest(of: directory + "/file")
            #expect(found.count == count && found.digest == SHA256.digest(of: bytes))
        }
    }

    @Test("a named pipe is refused as one, without waiting for its writer")
    func pipe() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/pipe"
            #expect(mkfifo(path, 0o600) == 0)
            let error = FileError.wrongKind(path: path, found: .pipe, use: .reading)
            #expect(throws: error) { try MappedFile(path: path) }
            #expect(error.explanation.what.contains("a named pipe"))
            #expect(error.explanation.status == .inputOutput)
            #expect(
                throws: FileError.wrongKind(path: directory, found: .directory, use: .reading)
            ) { try MappedFile(path: directory) }
        }
    }
}

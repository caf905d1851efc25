import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows

/// Files that hold rows for other programs alone, or none.
@Suite struct ForeignDataTests {
    private static let pointer =
        "version https://git-lfs.github.com/spec/v1\noid sha256:"
        + String(repeating: "4d", count: 32) + "\nsize 12345\n"

    private static let foreign: [(String, [UInt8], ForeignFile)] = [
        ("a.jsonl", Array(pointer.utf8), .pointer), ("a.parquet", Array(pointer.utf8), .pointer),
        ("a.txt", Array(pointer.utf8), .pointer), ("a.csv.gz", [0x1F, 0x8B, 8, 0], .packed(.gzip)),
        ("a.jsonl", [0x1F, 0x8B, 8, 0], .packed(.gzip)),
        ("a.arrow", [0xFF, 0xFF, 0xFF, 0xFF, 8, 0, 0, 0, 1], .arrow(.stream)),
        ("a.feather", Array("ARROW1\0\0".utf8), .arrow(.file)),
        ("a.pkl", [0x80, 4, 0x95, 0], .pickle(isTorch: false)),
        ("a.csv", [0xFF, 0xFE, 0x61, 0, 0x2C, 0], .wideText(encoding: "UTF-16")),
        ("a.json", [0x5B, 0, 0x7B, 0], .wideText(encoding: "UTF-16LE")),
        ("a.txt", [0, 0x68, 0, 0x69], .wideText(encoding: "UTF-16BE")),
        ("a.jsonl", Array("<!DOCTYPE html>".utf8), .webPage),
    ]

    @Test(
        "files of other kinds are told by their first bytes, whatever their names",
        arguments: foreign)
    func foreignKinds(name: String, bytes: [UInt8], kind: ForeignFile) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/" + name
            try AtomicFile.write(bytes, to: path)
            #expect(throws: ForeignFileError(path: path, kind: kind, use: .data)) {
                _ = try PairFile(path: path)
            }
        }
    }

    @Test("a text to train on may be a web page")
    func webPage() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/a.txt"
            try AtomicFile.write("<html>\n", to: path)
            let rows = try PairFile(path: path).rows
            guard case .text("<html>")? = rows.first else {
                Issue.record("\(rows)")
                return
            }
        }
    }

    @Test("a folder whose only data must be made another file first names that")
    func unreadInFolder() throws {
        for (name, bytes, kind) in [
            ("train.jsonl.gz", [0x1F, 0x8B, 8, 0] as [UInt8], ForeignFile.packed(.gzip)),
            ("data/x-train.arrow", [0xFF, 0xFF, 0xFF, 0xFF, 8, 0, 0, 0, 1], .arrow(.stream)),
            ("train.pkl", [0x80, 4, 0x95, 0], .pickle(isTorch: false)),
        ] {
            try TestPaths.withTemporaryDirectory { directory in
                try AtomicFile.makeDirectory(directory + "/data")
                let path = directory + "/" + name
                try AtomicFile.write(bytes, to: path)
                #expect(throws: ForeignFileError(path: path, kind: kind, use: .data)) {
                    _ = try DataFiles(path: directory)
                }
                // A file of training rows beside it wins.
                try AtomicFile.write("{\"text\": \"a\"}\n", to: directory + "/train.jsonl")
                #expect(try DataFiles(path: directory).train.count == 1)
            }
        }
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("x", to: directory + "/a.xlsx")
            #expect(
                throws: RowError.unreadDataFile(
                    path: directory + "/a.xlsx", kind: ".xlsx", remedy: .convert)
            ) { _ = try DataFiles(path: directory) }
            try FileManager.default.removeItem(atPath: directory + "/a.xlsx")
            try AtomicFile.write("x", to: directory + "/a.pkl")
            #expect(throws: RowError.noTrainingFile(directory: directory)) {
                _ = try DataFiles(path: directory)
            }
        }
    }

    @Test("compressed files and tables of other programs are refused by name")
    func unread() throws {
        for (name, remedy) in [
            ("a.jsonl.gz", DataFileRemedy.unpack("gunzip")), ("a.csv.zst", .unpack("unzstd")),
            ("a.arrow", .convert), ("A.XLSX", .convert),
        ] {
            let error = try #require(throws: RowError.self) {
                try DataFileKind(path: name, bytes: UnsafeRawBufferPointer(start: nil, count: 0))
            }
            guard case .unreadDataFile(name, _, remedy) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.explanation.status == .badData)
            #expect(error.explanation.what.hasPrefix("rows cannot be read from a ."))
        }
    }
}

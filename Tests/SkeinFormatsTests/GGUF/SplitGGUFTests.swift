import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct SplitGGUFTests {
    @Test("the parts give the tensors and the metadata of the whole, whichever part is named")
    func parts() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let whole = TinyModel().gguf()
            try AtomicFile.write(whole.bytes(), to: directory + "/whole.gguf")
            let expected = try ModelFiles.open(directory + "/whole.gguf")
            try Self.write(whole, to: directory, stem: "tiny")
            var digests: Set<SHA256.Digest> = []
            for path in (1...3).map({ "\(directory)/tiny-0000\($0)-of-00003.gguf" }) + [directory] {
                let model = try ModelFiles.open(path)
                #expect(Set(model.tensors.keys) == Set(expected.tensors.keys))
                for (name, view) in model.tensors {
                    #expect(view.floats() == expected.tensors[name]?.floats())
                }
                #expect(model.chatTemplate == expected.chatTemplate)
                #expect(model.files.map(\.name) == (1...3).map { "model-0000\($0)-of-00003.gguf" })
                digests.insert(model.contentDigest())
            }
            #expect(digests.count == 1 && !digests.contains(expected.contentDigest()))
            // Under other names, as a worker keeps what it fetched, it is the same model.
            let copy = directory + "/copy"
            try AtomicFile.makeDirectory(copy)
            for source in try ModelFiles.open(directory).files {
                try AtomicFile.write(
                    source.file.withBytes { Array($0) }, to: "\(copy)/\(source.name)")
            }
            #expect(digests.contains(try ModelFiles.open(copy).contentDigest()))
        }
    }

    @Test("a missing, renamed or foreign part is named")
    func broken() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let whole = TinyModel().gguf()
            let paths = try Self.write(whole, to: directory, stem: "tiny")
            func expect(_ error: FormatError, opening path: String) {
                #expect(throws: error) { _ = try ModelFiles.open(path) }
            }
            let lone = directory + "/lone.gguf"
            try FileManager.default.copyItem(atPath: paths[1], toPath: lone)
            expect(.splitFile(path: lone, parts: 3), opening: lone)
            try FileManager.default.removeItem(atPath: paths[2])
            expect(
                .missingFile(path: directory, expected: "tiny-00003-of-00003.gguf"),
                opening: paths[0])
            try FileManager.default.copyItem(atPath: paths[1], toPath: paths[2])
            expect(
                .badField(path: paths[2], field: "split.no", expected: "2", found: "1"),
                opening: paths[0])
            let parts = Self.images(whole)
            var short = parts[2]
            short.tensors.removeLast()
            try AtomicFile.write(short.bytes(), to: paths[2])
            let count = whole.tensors.count
            expect(
                .badField(
                    path: paths[0], field: "split.tensors.count", expected: String(count - 1),
                    found: String(count)), opening: paths[0])
            var twice = parts[2]
            twice.tensors[0] = parts[1].tensors[0]
            try AtomicFile.write(twice.bytes(), to: paths[2])
            expect(
                .duplicate(path: paths[2], name: parts[1].tensors[0].name), opening: paths[0])
        }
    }

    @Test("a count of parts that no folder holds is refused before a file is opened")
    func count() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = GGUFImage()
            image.metadata = [("split.count", .uint64(.max))]
            let path = directory + "/x-00001-of-00002.gguf"
            try AtomicFile.write(image.bytes(), to: path)
            #expect(
                throws: FormatError.overLimit(
                    path: path, field: "split.count", limit: 4096, found: .max)
            ) { _ = try ModelFiles.open(path) }
        }
    }

    @Test(
        "names of parts are read as llama.cpp writes them",
        arguments: [
            ("d/a-00002-of-00003.gguf", 2, 3), ("-00001-of-00001.gguf", 1, 1),
            ("a-00004-of-00003.gguf", nil, nil), ("a-00000-of-00003.gguf", nil, nil),
            ("a-00001-of-00000.gguf", nil, nil), ("a-1-of-3.gguf", nil, nil),
            ("a-00001-of-00003.gguf.bak", nil, nil), ("a.gguf", nil, nil),
        ])
    func names(path: String, part: Int?, count: Int?) {
        let name = SplitName(path: path)
        #expect(name?.part == part && name?.count == count)
        if let name { #expect(name.path(ofPart: name.part) == path) }
    }

    /// The tensors in three parts; the metadata in the first.
    private static func images(_ whole: GGUFImage) -> [GGUFImage] {
        let third = whole.tensors.count / 3
        return (0..<3).map { number in
            var part = GGUFImage()
            part.metadata =
                (number == 0 ? whole.metadata : []) + [
                    ("split.no", .uint32(UInt32(number))), ("split.count", .uint32(3)),
                    ("split.tensors.count", .int32(Int32(whole.tensors.count))),
                ]
            let end = number == 2 ? whole.tensors.count : (number + 1) * third
            part.tensors = Array(whole.tensors[(number * third)..<end])
            return part
        }
    }

    /// Writes the parts and returns their paths.
    @discardableResult
    private static func write(
        _ whole: GGUFImage, to directory: String, stem: String
    ) throws -> [String] {
        try images(whole).enumerated().map { number, image in
            let path = "\(directory)/\(stem)-0000\(number + 1)-of-00003.gguf"
            try AtomicFile.write(image.bytes(), to: path)
            return path
        }
    }
}

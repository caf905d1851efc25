import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

/// Readers of weights against damaged files: each is read or refused with a typed error, and what is
/// read takes no more memory than `bound` times the files. `Damage.count` says how many.
@Suite struct DamagedWeightsTests {
    /// A code of two bits becomes a float of four bytes.
    private static let bound = 16
    private static let count = Damage.count(200)

    /// Reads every weight.
    ///
    /// - Returns: whether the files were accepted.
    private func reads(_ path: String, bytes: Int) throws -> Bool {
        do {
            let views = try ModelFiles.open(path).tensors.values
            let floats = views.reduce(0) { $0 + $1.elementCount }
            try #require(floats * 4 <= bytes * Self.bound, "\(floats) numbers of \(bytes) bytes")
            for view in views {
                #expect(view.floats().count == view.shape.reduce(1, *))
            }
            return true
        } catch is FormatError {
            return false
        } catch is ForeignFileError {
            // A damaged length may look like the beginning of another kind of file.
            return false
        }
    }

    private func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// A damaged folder, mostly in the header: the bytes of codes and scales may be anything.
    private func readsDamaged(
        _ sound: RawFolder, _ damage: inout Damage, _ directory: String
    ) throws -> Bool {
        var config = try sound.text()
        var bytes = sound.safetensors
        let header = 8 + Int(bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
        if damage.below(3) == 0 { damage.change(&config, within: 0..<config.count) }
        let isHeader = damage.below(4) > 0
        damage.change(&bytes, within: isHeader ? 0..<header : header..<bytes.count)
        if damage.below(20) == 0 { bytes.removeLast(damage.below(bytes.count)) }
        try write(config, directory + "/config.json")
        try write(bytes, directory + "/model.safetensors")
        return try reads(directory, bytes: bytes.count)
    }

    @Test("a damaged folder is read or refused", arguments: ["mlx", "nf4", "fp8"])
    func folders(name: String) throws {
        let sound = try RawFolder(name)
        try TestPaths.withTemporaryDirectory { directory in
            var refused = 0
            for number in 0..<Self.count {
                var damage = Damage(number: number)
                if try !readsDamaged(sound, &damage, directory) { refused += 1 }
            }
            #expect(refused > 0)
        }
    }

    @Test(
        "a damaged weight of any width, group, table or scale is read or refused",
        arguments: ["affine", "codebook", "float8", "scales"])
    func weights(golden: String) throws {
        let sound = try RawFolder.single(golden)
        try #require(sound.count > 2)
        try TestPaths.withTemporaryDirectory { directory in
            for folder in sound { #expect(try folder.problem() == nil) }
            var refused = 0
            for number in 0..<Self.count {
                var damage = Damage(number: number)
                var folder = sound[damage.below(sound.count)]
                if damage.below(2) == 0 {
                    if try !readsDamaged(folder, &damage, directory) { refused += 1 }
                    continue
                }
                // A sound file, but with a tensor of another shape or type.
                try folder.reshape(&damage)
                try write(folder.text(), directory + "/config.json")
                let bytes = folder.safetensors
                try write(bytes, directory + "/model.safetensors")
                if try !reads(directory, bytes: bytes.count) { refused += 1 }
            }
            #expect(refused > 0)
        }
    }

    @Test("a damaged state of a bitsandbytes weight is read or refused")
    func states() throws {
        let sound = try RawFolder.single("codebook")
        try TestPaths.withTemporaryDirectory { directory in
            var refused = 0
            for number in 0..<Self.count {
                var damage = Damage(number: number)
                var raw = sound[damage.below(sound.count)]
                let name = try #require(raw.tensors.keys.first { $0.contains("quant_state") })
                var bytes = try #require(raw.tensors[name]).bytes
                damage.change(&bytes, within: 0..<bytes.count)
                raw.tensors[name] = .init(type: "U8", shape: [bytes.count], bytes: bytes)
                let weights = raw.safetensors
                try write(raw.text(), directory + "/config.json")
                try write(weights, directory + "/model.safetensors")
                if try !reads(directory, bytes: weights.count) { refused += 1 }
            }
            #expect(refused > 0)
        }
    }

    @Test("a damaged index or shard of a sharded folder is read or refused")
    func shards() throws {
        let sound = try RawFolder("mlx")
        let (index, shards) = try sound.sharded(3)
        try TestPaths.withTemporaryDirectory { directory in
            try write(sound.text(), directory + "/config.json")
            var refused = 0
            for number in 0..<Self.count {
                var damage = Damage(number: number)
                var (text, total) = (index, 0)
                let victim = damage.below(6)
                if victim >= shards.count { damage.change(&text, within: 0..<text.count) }
                for (place, shard) in shards.enumerated() {
                    var bytes = shard.bytes
                    if place == victim { damage.change(&bytes, within: 0..<bytes.count) }
                    total += bytes.count
                    try write(bytes, "\(directory)/\(shard.name)")
                }
                try write(text, directory + "/model.safetensors.index.json")
                if try !reads(directory, bytes: total) { refused += 1 }
            }
            #expect(refused > 0)
        }
    }

    @Test("a damaged GGUF file with tensors of every type is read or refused")
    func whole() throws {
        var image = GGUFImage()
        image.metadata = [("general.alignment", .uint32(32)), ("x", .strings(["a", "bc"]))]
        image.tensors = ElementType.allCases.map { type in
            GGUFImage.Tensor(
                name: type.name, dimensions: [UInt64(type.blockElements), 2],
                type: type.ggmlIdentifier,
                data: (0..<(2 * type.blockBytes)).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        }
        let sound = image.bytes()
        // The header is what precedes the tensors.
        let header = sound.count - image.tensors.reduce(0) { $0 + ($1.data.count + 31) / 32 * 32 }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/x.gguf"
            var refused = 0
            for number in 0..<Self.count {
                var damage = Damage(number: number)
                var bytes = sound
                let isHeader = damage.below(8) > 0
                damage.change(&bytes, within: isHeader ? 0..<header : header..<bytes.count)
                if damage.below(20) == 0 { bytes.removeLast(damage.below(bytes.count)) }
                try write(bytes, path)
                if try !reads(path, bytes: bytes.count) { refused += 1 }
            }
            #expect(refused > 0)
        }
    }

    @Test("a damaged part of a split GGUF file is read or refused")
    func parts() throws {
        let sound = [[("a", 256, 23, 136), ("b", 32, 20, 18)], [("c", 32, 39, 17)]].enumerated()
            .map { number, tensors in
                var image = GGUFImage()
                image.metadata = [
                    ("split.no", .uint32(UInt32(number))), ("split.count", .uint32(2)),
                    ("split.tensors.count", .int32(3)),
                ]
                image.tensors = tensors.map { name, columns, type, bytes in
                    GGUFImage.Tensor(
                        name: name, dimensions: [UInt64(columns)], type: UInt32(type),
                        data: [UInt8](repeating: 9, count: bytes))
                }
                return image.bytes()
            }
        try TestPaths.withTemporaryDirectory { directory in
            var refused = 0
            for number in 0..<Self.count {
                var damage = Damage(number: number)
                var total = 0
                for (place, part) in sound.enumerated() {
                    var bytes = part
                    if damage.below(2) == 0 { damage.change(&bytes, within: 0..<bytes.count) }
                    total += bytes.count
                    try write(bytes, "\(directory)/x-0000\(place + 1)-of-00002.gguf")
                }
                if try !reads(directory, bytes: total) { refused += 1 }
            }
            #expect(refused > 0)
        }
    }
}

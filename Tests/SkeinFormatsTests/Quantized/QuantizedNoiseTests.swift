import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

/// Readers against damaged files. SKEIN_NOISE_COUNT sets how many of each kind: 200 by default, which
/// is seconds; 100,000 are minutes.
@Suite struct QuantizedNoiseTests {
    private static let count =
        ProcessInfo.processInfo.environment["SKEIN_NOISE_COUNT"].flatMap { UInt32($0) } ?? 200

    @Test(
        "a damaged folder is read or refused, and never read beyond its end",
        arguments: ["mlx", "nf4", "fp8"])
    func folders(name: String) throws {
        let sound = try RawFolder(name)
        let configuration = try JSONSerialization.data(
            withJSONObject: sound.configuration, options: .sortedKeys)
        let weights = sound.safetensors
        let header = Int(weights.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
        try TestPaths.withTemporaryDirectory { directory in
            var refused = 0
            for seed in 0..<Self.count {
                var noise = Noise(seed: seed)
                var (config, bytes) = (Array(configuration), weights)
                if noise.below(3) == 0 { noise.damage(&config, within: 0..<config.count) }
                // Mostly the header: the bytes of codes and scales may be anything.
                if noise.below(4) == 0 {
                    noise.damage(&bytes, within: (8 + header)..<bytes.count)
                } else {
                    noise.damage(&bytes, within: 0..<(8 + header))
                }
                if noise.below(20) == 0 { bytes.removeLast(noise.below(bytes.count)) }
                try Data(config).write(to: URL(fileURLWithPath: directory + "/config.json"))
                try Data(bytes).write(to: URL(fileURLWithPath: directory + "/model.safetensors"))
                do {
                    for view in try ModelFiles.open(directory).tensors.values { _ = view.floats() }
                } catch is FormatError {
                    refused += 1
                }
            }
            #expect(refused > 0)
        }
    }

    @Test("a damaged state of a bitsandbytes weight is read or refused")
    func states() throws {
        let sound = try RawFolder("nf4")
        let name = "model.layers.0.self_attn.q_proj.weight.quant_state.bitsandbytes__nf4"
        let text = try #require(sound.tensors[name]).bytes
        try TestPaths.withTemporaryDirectory { directory in
            for seed in 0..<Self.count {
                var noise = Noise(seed: seed)
                var raw = sound
                var bytes = text
                noise.damage(&bytes, within: 0..<bytes.count)
                raw.tensors[name]?.bytes = bytes
                try raw.write(to: directory)
                do {
                    for view in try ModelFiles.open(directory).tensors.values { _ = view.floats() }
                } catch is FormatError {
                    continue
                }
            }
        }
    }

    @Test("a damaged part of a split GGUF file is read or refused")
    func parts() throws {
        var whole = GGUFImage()
        whole.metadata = [
            ("split.no", .uint32(0)), ("split.count", .uint32(2)),
            ("split.tensors.count", .int32(3)),
        ]
        whole.tensors = [
            GGUFImage.Tensor(
                name: "a", dimensions: [256], type: 23, data: [UInt8](repeating: 9, count: 136)),
            GGUFImage.Tensor(
                name: "b", dimensions: [32], type: 20, data: [UInt8](repeating: 8, count: 18)),
        ]
        var second = GGUFImage()
        second.metadata = [
            ("split.no", .uint32(1)), ("split.count", .uint32(2)),
            ("split.tensors.count", .int32(3)),
        ]
        second.tensors = [
            GGUFImage.Tensor(
                name: "c", dimensions: [32], type: 39, data: [UInt8](repeating: 7, count: 17))
        ]
        let sound = [whole.bytes(), second.bytes()]
        try TestPaths.withTemporaryDirectory { directory in
            let paths = (1...2).map { "\(directory)/x-0000\($0)-of-00002.gguf" }
            for seed in 0..<Self.count {
                var noise = Noise(seed: seed)
                for (path, bytes) in zip(paths, sound) {
                    var bytes = bytes
                    if noise.below(2) == 0 { noise.damage(&bytes, within: 0..<bytes.count) }
                    try Data(bytes).write(to: URL(fileURLWithPath: path))
                }
                do {
                    for view in try GGUFFile(path: paths[0]).tensors.values { _ = view.floats() }
                } catch is FormatError {
                    continue
                }
            }
        }
    }

    /// Damage that is a function of the seed.
    private struct Noise {
        private let random = AddressedRandom(seed: 12, purpose: .benchmark)
        private let seed: UInt32
        private var drawn: UInt32 = 0

        init(seed: UInt32) { self.seed = seed }

        mutating func below(_ limit: Int) -> Int {
            drawn += 1
            return Int(random.block(seed, drawn)[0]) % max(1, limit)
        }

        /// Changes one to four places: another byte, a digit, or a byte gone or doubled.
        mutating func damage(_ bytes: inout [UInt8], within range: Range<Int>) {
            for _ in 0...below(4) {
                let place = range.lowerBound + below(range.count)
                guard bytes.indices.contains(place) else { continue }
                switch below(6) {
                case 0: bytes[place] = UInt8(below(256))
                case 1: bytes[place] = UInt8(ascii: "9")
                case 2: bytes.remove(at: place)
                case 3: bytes.insert(bytes[place], at: place)
                case 4: bytes[place] ^= 1 << UInt8(below(8))
                default:
                    // A digit becomes another one, so that numbers in JSON stay numbers.
                    if let digit = bytes[place...].firstIndex(where: { (48...57).contains($0) }) {
                        bytes[digit] = UInt8(48 + below(10))
                    }
                }
            }
        }
    }
}

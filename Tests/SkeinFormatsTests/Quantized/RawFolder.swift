import Foundation
import SkeinBasics
import SkeinTestSupport

@testable import SkeinFormats

/// A folder of Fixtures/quantized in memory, so that a test can break it.
struct RawFolder {
    struct Tensor {
        var type: String
        var shape: [Int]
        var bytes: [UInt8]

        init(type: String, shape: [Int], bytes: [UInt8]) {
            (self.type, self.shape, self.bytes) = (type, shape, bytes)
        }

        init(_ stored: StoredTensor) {
            self.init(
                type: stored.type, shape: stored.shape,
                bytes: stored.file.withBytes { Array($0[stored.range]) })
        }
    }

    var configuration: [String: Any]
    var tensors: [String: Tensor]

    init(_ name: String) throws {
        let folder = TestPaths.fixture("quantized/\(name)")
        let text = try Data(contentsOf: URL(fileURLWithPath: folder + "/config.json"))
        configuration = try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:]
        tensors = try SafetensorsFile(path: folder + "/model.safetensors").stored
            .mapValues { Tensor($0) }
    }

    private init(configuration: [String: Any], tensors: [String: Tensor]) {
        self.configuration = configuration
        self.tensors = tensors
    }

    /// A folder for each weight of Fixtures/quantized/`golden`.safetensors.
    static func single(_ golden: String) throws -> [RawFolder] {
        let file = try SafetensorsFile(path: TestPaths.fixture("quantized/\(golden).safetensors"))
        let ending = ".expected"
        return file.stored.keys.sorted().filter { $0.hasSuffix(ending) }.map { name in
            let stem = String(name.dropLast(ending.count))
            let parts = file.stored.filter {
                ($0.key == stem || $0.key.hasPrefix(stem + ".")) && $0.key != name
            }
            return RawFolder(
                configuration: configuration(golden, stem.split(separator: ".").map(String.init)),
                tensors: parts.mapValues { Tensor($0) })
        }
    }

    private static func configuration(_ golden: String, _ words: [String]) -> [String: Any] {
        var settings: [String: Any] = [:]
        switch (golden, words[0]) {
        case ("affine", _):
            return ["quantization": ["bits": Int(words[1]), "group_size": Int(words[2])]]
        case ("codebook", _): settings = ["quant_method": "bitsandbytes", "load_in_4bit": true]
        case ("float8", "all"): settings = ["quant_method": "fp8", "weight_block_size": [4, 32]]
        case ("float8", _): settings = ["quant_method": "fp8", "weight_block_size": [32, 32]]
        case (_, "exponents"), (_, "blocks"):
            settings = [
                "quant_method": "fp8", "scale_fmt": "ue8m0",
                "weight_block_size": words[0] == "blocks" ? [16, 32] : [2, 2],
            ]
        default:
            var weights: [String: Any] = ["num_bits": 8, "type": "float", "strategy": words[0]]
            if words[0] == "block" { weights["block_structure"] = [16, 32] }
            settings = [
                "quant_method": "compressed-tensors", "format": "float-quantized",
                "config_groups": ["group_0": ["weights": weights, "targets": ["Linear"]]],
            ]
        }
        return ["quantization_config": settings]
    }

    /// The same weights in `count` files and an index of them.
    func sharded(_ count: Int) throws -> (index: [UInt8], shards: [(name: String, bytes: [UInt8])])
    {
        let names = (1...count).map { "model-\($0).safetensors" }
        var (places, shards): ([String: String], [RawFolder]) = (
            [:], names.map { _ in RawFolder(configuration: [:], tensors: [:]) }
        )
        for (number, tensor) in tensors.sorted(by: { $0.key < $1.key }).enumerated() {
            places[tensor.key] = names[number % count]
            shards[number % count].tensors[tensor.key] = tensor.value
        }
        let index = try JSONSerialization.data(
            withJSONObject: ["metadata": ["total_size": 1], "weight_map": places],
            options: .sortedKeys)
        return (Array(index), zip(names, shards).map { ($0, $1.safetensors) })
    }

    /// The bytes of model.safetensors.
    var safetensors: [UInt8] {
        var entries: [String] = []
        var data: [UInt8] = []
        for (name, tensor) in tensors.sorted(by: { $0.key < $1.key }) {
            let start = data.count
            data += tensor.bytes
            entries.append(
                "\"\(name)\":{\"dtype\":\"\(tensor.type)\",\"shape\":\(tensor.shape),"
                    + "\"data_offsets\":[\(start),\(data.count)]}")
        }
        let header = Array("{\(entries.joined(separator: ","))}".utf8)
        var out: [UInt8] = []
        GGUFImage.append(UInt64(header.count), to: &out)
        return out + header + data
    }

    /// config.json.
    func text() throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: configuration, options: .sortedKeys))
    }

    /// Gives one tensor another shape and now and then another type, and the bytes that they take,
    /// if these are few; else its bytes contradict them.
    mutating func reshape(_ damage: inout Damage) throws {
        let sizes = [
            0, 1, 2, 3, 16, 31, 32, 33, 64, 96, 128, 384, 1 << 16, 1 << 30, 1 << 31, 1 << 59,
            1 << 62,
        ]
        let types = ["U8", "I32", "U32", "F32", "F16", "BF16", "F8_E4M3", "F8_E8M0", "F64"]
        let widths = [1, 4, 4, 4, 2, 2, 1, 1, 8]
        let names = tensors.keys.sorted()
        let name = names[damage.below(names.count)]
        guard var tensor = tensors[name] else { return }
        for _ in 0...damage.below(2) {
            switch damage.below(4) {
            case 0: tensor.shape = [sizes[damage.below(sizes.count)]] + tensor.shape
            case 1: tensor.shape.removeAll { _ in damage.below(3) == 0 }
            default:
                guard !tensor.shape.isEmpty else { continue }
                tensor.shape[damage.below(tensor.shape.count)] = sizes[damage.below(sizes.count)]
            }
        }
        if damage.below(3) == 0 { tensor.type = types[damage.below(types.count)] }
        let width = types.firstIndex(of: tensor.type).map { widths[$0] } ?? 1
        let count =
            tensor.shape.contains(0)
            ? 0
            : tensor.shape.reduce(width) { product, size in
                let (result, overflow) = product.multipliedReportingOverflow(by: size)
                return overflow ? .max : result
            }
        if count <= 1 << 16 {
            let old = tensor.bytes
            tensor.bytes = (0..<count).map { $0 < old.count ? old[$0] : UInt8($0 & 255) }
        }
        tensors[name] = tensor
    }

    func write(to directory: String) throws {
        try AtomicFile.write(text(), to: directory + "/config.json")
        try AtomicFile.write(safetensors, to: directory + "/model.safetensors")
    }

    /// The error that opening the folder gives, with the folder's path taken out; nil for none.
    func problem() throws -> FormatError? {
        try TestPaths.withTemporaryDirectory { directory in
            try write(to: directory)
            do {
                for view in try ModelFiles.open(directory).tensors.values { _ = view.floats() }
                return nil
            } catch let error as FormatError {
                return error
            }
        }
    }
}

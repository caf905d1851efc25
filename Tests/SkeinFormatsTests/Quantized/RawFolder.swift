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
    }

    var configuration: [String: Any]
    var tensors: [String: Tensor]

    init(_ name: String) throws {
        let folder = TestPaths.fixture("quantized/\(name)")
        let text = try Data(contentsOf: URL(fileURLWithPath: folder + "/config.json"))
        configuration = try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:]
        tensors = try SafetensorsFile(path: folder + "/model.safetensors").stored.mapValues {
            tensor in
            Tensor(
                type: tensor.type, shape: tensor.shape,
                bytes: tensor.file.withBytes { Array($0[tensor.range]) })
        }
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

    func write(to directory: String) throws {
        let text = try JSONSerialization.data(withJSONObject: configuration)
        try AtomicFile.write(Array(text), to: directory + "/config.json")
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

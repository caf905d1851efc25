/// Finds names that appear twice in a safetensors header.
///
/// Of two equal keys Foundation keeps the first and the reference reader the last, so one file could
/// hold different weights for different readers. Repetitions with equal values are harmless and
/// accepted, as by the reference reader.
enum SafetensorsKeys {
    /// Checks the keys of the outermost object.
    ///
    /// - Parameters:
    ///   - json: A JSON object that a decoder has accepted.
    ///   - keyCount: How many different keys the decoder found in it.
    ///   - path: The file, for the error.
    /// - Throws: `FormatError.duplicate` when a key appears twice with different values, or in two
    ///   spellings: plain and with an escape, or in two forms that Unicode calls equivalent.
    static func refuseAmbiguous(
        _ json: UnsafeRawBufferPointer, keyCount: Int, path: String
    ) throws {
        // By bytes: as texts, names that Unicode calls canonically equivalent would be equal.
        var values: [[UInt8]: Range<Int>] = [:]
        var depth = 0
        var stringStart: Int?
        var key: [UInt8]?
        var valueStart = 0
        var index = 0
        func finish(_ end: Int) throws {
            guard let name = key else { return }
            if let earlier = values.updateValue(valueStart..<end, forKey: name),
                !json[earlier].elementsEqual(json[valueStart..<end])
            {
                throw FormatError.duplicate(
                    path: path, name: String(decoding: name, as: UTF8.self))
            }
            key = nil
        }
        while index < json.count {
            let byte = json[index]
            if let start = stringStart {
                if byte == UInt8(ascii: "\\") {
                    index += 1
                } else if byte == UInt8(ascii: "\"") {
                    stringStart = nil
                    if depth == 1 && key == nil {
                        key = Array(json[start..<index])
                    }
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): stringStart = index + 1
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth == 0 { try finish(index) }
                case UInt8(ascii: ":") where depth == 1: valueStart = index + 1
                case UInt8(ascii: ",") where depth == 1: try finish(index)
                default: break
                }
            }
            index += 1
        }
        guard values.count == keyCount else {
            throw FormatError.duplicate(path: path, name: "a name in two spellings")
        }
    }
}

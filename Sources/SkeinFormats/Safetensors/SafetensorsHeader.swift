import SkeinBasics
import SkeinJSON

/// What the header of a safetensors file says, checked against the file's length: the tensors,
/// ordered by offset, cover the data section without gaps, overlaps or leftover bytes.
package struct SafetensorsHeader: Sendable {
    /// A tensor that can be a weight: F32, F16 or BF16.
    package struct Tensor: Sendable {
        package let type: ElementType
        package let shape: [Int]
        /// Its offset in the file.
        let offset: Int
    }

    /// Any tensor, with its place in the file.
    struct Stored {
        let type: String
        let shape: [Int]
        let range: Range<Int>
    }

    package let tensors: [String: Tensor]
    /// All tensors.
    let entries: [String: Stored]
    /// The element type of every other tensor, such as "I64".
    package let otherTensors: [String: String]
    /// The header's `__metadata__`.
    package let metadata: [String: String]

    /// The length of the header's text.
    ///
    /// - Parameters:
    ///   - start: the first eight bytes of the file, or fewer if it is shorter.
    ///   - fileBytes: the length of the file.
    ///   - path: the file, for the error.
    /// - Returns: the length in bytes.
    /// - Throws: `FormatError` when it exceeds the format's limit or the file.
    static func length(start: [UInt8], fileBytes: Int, path: String) throws -> Int {
        guard start.count == 8 else {
            throw FormatError.truncated(
                path: path, offset: 0, field: "header length", expected: 8, found: fileBytes)
        }
        let length = start.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= Limits.safetensorsHeaderBytes else {
            throw FormatError.overLimit(
                path: path, field: "header length", limit: Limits.safetensorsHeaderBytes,
                found: length)
        }
        guard length <= UInt64(fileBytes - 8) else {
            throw FormatError.truncated(
                path: path, offset: 8, field: "header", expected: length, found: fileBytes - 8)
        }
        return Int(length)
    }

    /// - Parameters:
    ///   - text: the JSON between the length and the data.
    ///   - fileBytes: the length of the file.
    ///   - path: the file, for errors.
    /// - Throws: `FormatError` when the header is invalid or does not fit the file.
    init(text: UnsafeRawBufferPointer, fileBytes: Int, path: String) throws {
        let dataStart = 8 + text.count
        let header = try JSONFile.decode(Text.self, bytes: text, path: path)
        try Self.refuseAmbiguous(text, path: path)
        metadata = header.metadata
        var tensors: [String: Tensor] = [:]
        var others: [String: String] = [:]
        var entries: [String: Stored] = [:]
        var end = 0
        for (name, entry) in header.entries.sorted(by: Self.liesBefore) {
            let range = try Self.checkedRange(entry, name: name, path: path)
            guard range.lowerBound == end else {
                throw FormatError.badTensor(
                    path: path, tensor: name, field: "offset", expected: String(end),
                    found: String(range.lowerBound))
            }
            end = range.upperBound
            guard end <= fileBytes - dataStart else {
                throw FormatError.truncated(
                    path: path, offset: dataStart + range.lowerBound, field: name,
                    expected: UInt64(range.count),
                    found: fileBytes - dataStart - range.lowerBound)
            }
            entries[name] = Stored(
                type: entry.dtype, shape: entry.shape,
                range: (dataStart + range.lowerBound)..<(dataStart + end))
            if let type = Self.weightTypes[entry.dtype] {
                tensors[name] = Tensor(
                    type: type, shape: entry.shape, offset: dataStart + range.lowerBound)
            } else {
                others[name] = entry.dtype
            }
        }
        guard end == fileBytes - dataStart else {
            throw FormatError.badField(
                path: path, field: "data section", expected: "\(end) bytes",
                found: "\(fileBytes - dataStart) bytes")
        }
        self.tensors = tensors
        self.entries = entries
        otherTensors = others
    }
}

extension SafetensorsHeader {
    private struct Text: Decodable {
        var metadata: [String: String] = [:]
        var entries: [(name: String, entry: Entry)] = []

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: NamedKey.self)
            for key in container.allKeys {
                if key.stringValue == "__metadata__" {
                    metadata =
                        try container.decodeIfPresent([String: String].self, forKey: key) ?? [:]
                } else {
                    entries.append((key.stringValue, try container.decode(Entry.self, forKey: key)))
                }
            }
        }
    }

    private struct Entry: Decodable {
        let dtype: String
        let shape: [Int]
        let offsets: [Int]

        enum CodingKeys: String, CodingKey {
            case dtype
            case shape
            case offsets = "data_offsets"
        }
    }

    /// Refuses names that appear twice with different values, or in two spellings: plain and with an
    /// escape, or in two forms that Unicode calls equivalent.
    ///
    /// This reader keeps the first of two equal names and the reference reader the last, so one
    /// file could hold different weights for different readers. Repetitions with equal values are
    /// harmless and accepted, as by the reference reader.
    private static func refuseAmbiguous(_ text: UnsafeRawBufferPointer, path: String) throws {
        // Equivalent names are one key of a dictionary.
        var known: [String: JSONMember] = [:]
        for member in try JSONReader.members(of: text, JSONFile.strictRules) ?? [] {
            let name = try JSONReader.string(text, member.name)
            guard let earlier = known.updateValue(member, forKey: name) else { continue }
            guard text[earlier.name].elementsEqual(text[member.name]) else {
                throw FormatError.duplicate(path: path, name: "a name in two spellings")
            }
            guard text[earlier.value].elementsEqual(text[member.value]) else {
                throw FormatError.duplicate(path: path, name: name)
            }
        }
    }

    private static let weightTypes: [String: ElementType] = [
        "F32": .f32, "F16": .f16, "BF16": .bf16,
    ]

    /// Bits of one element by the format's name of the type.
    private static let elementBits: [String: Int] = [
        "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8,
        "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16,
        "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64,
        "U64": 64,
    ]

    /// Orders by offset; an empty tensor comes before the one that starts at the same offset.
    private static func liesBefore(
        _ left: (name: String, entry: Entry), _ right: (name: String, entry: Entry)
    ) -> Bool {
        left.entry.offsets.lexicographicallyPrecedes(right.entry.offsets)
    }

    /// The byte range in the data section, checked against shape and element type.
    private static func checkedRange(
        _ entry: Entry, name: String, path: String
    ) throws -> Range<Int> {
        func bad(_ field: String, _ expected: String, _ found: String) -> FormatError {
            .badTensor(path: path, tensor: name, field: field, expected: expected, found: found)
        }
        guard let bits = elementBits[entry.dtype] else {
            throw FormatError.unsupportedElementType(path: path, tensor: name, found: entry.dtype)
        }
        guard entry.offsets.count == 2, let start = entry.offsets.first,
            let end = entry.offsets.last, start >= 0, start <= end
        else {
            throw bad("data_offsets", "two ascending offsets", "\(entry.offsets)")
        }
        var total = bits
        for size in entry.shape {
            guard size >= 0 else { throw bad("dimension", "0 or above", String(size)) }
            let (product, overflow) = total.multipliedReportingOverflow(by: size)
            guard !overflow else { throw bad("bit count", "below 2^63", "\(entry.shape)") }
            total = product
        }
        guard total % 8 == 0, total / 8 == end - start else {
            throw bad("byte count", "\(total / 8)", "\(end - start)")
        }
        return start..<end
    }
}

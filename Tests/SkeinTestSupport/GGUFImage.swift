/// A GGUF file in memory, so that tests can write small models and broken ones. The layout is from
/// ggml's docs/gguf.md.
package struct GGUFImage: Sendable {
    package enum Value: Sendable {
        case uint32(UInt32)
        case uint64(UInt64)
        case int32(Int32)
        case float32(Float)
        case bool(Bool)
        case string(String)
        case strings([String])
        case int32s([Int32])
        case float32s([Float])
        case bools([Bool])
    }

    package struct Tensor: Sendable {
        package var name: String
        /// Fastest dimension first, the reverse of the row-major shape.
        package var dimensions: [UInt64]
        /// The ggml type id: 0 F32, 2 Q4_0, 8 Q8_0, ...
        package var type: UInt32
        package var data: [UInt8]
        /// Written in place of the running offset, to break a file.
        package var statedOffset: UInt64?

        package init(name: String, dimensions: [UInt64], type: UInt32, data: [UInt8]) {
            self.name = name
            self.dimensions = dimensions
            self.type = type
            self.data = data
        }
    }

    package var version: UInt32 = 3
    /// Each tensor starts at a multiple of this many bytes; in the metadata only if put there.
    package var alignment = 32
    package var metadata: [(key: String, value: Value)] = []
    package var tensors: [Tensor] = []

    package init() {}

    /// The whole file: header, metadata, tensor descriptions, padding, data.
    package func bytes() -> [UInt8] {
        var out = Array("GGUF".utf8)
        Self.append(version, to: &out)
        Self.append(UInt64(tensors.count), to: &out)
        Self.append(UInt64(metadata.count), to: &out)
        for (key, value) in metadata {
            Self.append(key, to: &out)
            Self.append(value, to: &out)
        }
        var offset = 0
        for tensor in tensors {
            Self.append(tensor.name, to: &out)
            Self.append(UInt32(tensor.dimensions.count), to: &out)
            for dimension in tensor.dimensions { Self.append(dimension, to: &out) }
            Self.append(tensor.type, to: &out)
            Self.append(tensor.statedOffset ?? UInt64(offset), to: &out)
            offset += padded(tensor.data.count)
        }
        out += [UInt8](repeating: 0, count: padded(out.count) - out.count)
        for tensor in tensors {
            out += tensor.data
            out += [UInt8](repeating: 0, count: padded(tensor.data.count) - tensor.data.count)
        }
        return out
    }

    private func padded(_ count: Int) -> Int {
        (count + alignment - 1) / alignment * alignment
    }

    /// Appends an integer, little-endian.
    package static func append(_ integer: some FixedWidthInteger, to out: inout [UInt8]) {
        withUnsafeBytes(of: integer.littleEndian) { out += $0 }
    }

    /// Appends a length and the UTF-8 bytes.
    package static func append(_ text: String, to out: inout [UInt8]) {
        append(UInt64(text.utf8.count), to: &out)
        out += Array(text.utf8)
    }

    /// Appends a type id and the value.
    package static func append(_ value: Value, to out: inout [UInt8]) {
        switch value {
        case .uint32(let number):
            append(UInt32(4), to: &out)
            append(number, to: &out)
        case .uint64(let number):
            append(UInt32(10), to: &out)
            append(number, to: &out)
        case .int32(let number):
            append(UInt32(5), to: &out)
            append(number, to: &out)
        case .float32(let number):
            append(UInt32(6), to: &out)
            append(number.bitPattern, to: &out)
        case .bool(let flag):
            append(UInt32(7), to: &out)
            out.append(flag ? 1 : 0)
        case .string(let text):
            append(UInt32(8), to: &out)
            append(text, to: &out)
        case .strings(let texts):
            appendArrayHead(of: 8, count: texts.count, to: &out)
            for text in texts { append(text, to: &out) }
        case .int32s(let numbers):
            appendArrayHead(of: 5, count: numbers.count, to: &out)
            for number in numbers { append(number, to: &out) }
        case .float32s(let numbers):
            appendArrayHead(of: 6, count: numbers.count, to: &out)
            for number in numbers { append(number.bitPattern, to: &out) }
        case .bools(let flags):
            appendArrayHead(of: 7, count: flags.count, to: &out)
            for flag in flags { append(UInt8(flag ? 1 : 0), to: &out) }
        }
    }

    private static func appendArrayHead(of type: UInt32, count: Int, to out: inout [UInt8]) {
        append(UInt32(9), to: &out)
        append(type, to: &out)
        append(UInt64(count), to: &out)
    }
}

/// A tensor of F32, with `dimensions` as in `GGUFImage.Tensor`.
package func tensor(_ name: String, _ dimensions: [UInt64], floats: [Float]) -> GGUFImage.Tensor {
    GGUFImage.Tensor(
        name: name, dimensions: dimensions, type: 0, data: floats.withUnsafeBytes { Array($0) })
}

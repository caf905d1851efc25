import SkeinBasics

/// Writes GGUF files of version 3; equal metadata and tensors give equal bytes.
///
/// The layout is that of ggml's docs/gguf.md: counts, metadata, descriptions of the tensors, then
/// their bytes, each padded to 32.
package enum GGUFWriter {
    /// A metadata value with the width that it has in the file: readers insist on it.
    package enum Value: Sendable, Equatable {
        case uint32(UInt32)
        case int32(Int32)
        case uint64(UInt64)
        case float32(Float)
        case bool(Bool)
        case string(String)
        case strings([String])
        case int32s([Int32])
        case uint32s([UInt32])
        case float32s([Float])
        case bools([Bool])
        /// A type's number and a value's bytes as another file has them.
        case raw(type: UInt32, bytes: [UInt8])
    }

    package struct Tensor {
        package typealias Append = (UnsafeRawBufferPointer) throws -> Void

        package var name: String
        /// Row-major: [out, in].
        package var shape: [Int]
        package var elementType: ElementType
        /// Appends all bytes of the tensor, in as many pieces as it likes.
        package var body: (_ append: Append) throws -> Void

        /// `shape`: its last dimension is a whole number of blocks.
        package init(
            name: String, shape: [Int], elementType: ElementType,
            body: @escaping (_ append: Append) throws -> Void
        ) {
            precondition(
                (shape.last ?? 1) % elementType.blockElements == 0, "part of a block in \(name)")
            self.name = name
            self.shape = shape
            self.elementType = elementType
            self.body = body
        }

        /// A tensor of F32.
        package init(name: String, shape: [Int], floats: [Float]) {
            precondition(shape.reduce(1, *) == floats.count, "shape and floats of \(name) differ")
            self.init(name: name, shape: shape, elementType: .f32) { append in
                try floats.withUnsafeBytes { try append($0) }
            }
        }

        var byteCount: Int {
            shape.reduce(1, *) / elementType.blockElements * elementType.blockBytes
        }
    }

    /// Bytes that the beginning of each tensor is a multiple of.
    static let alignment = 32

    /// Replaces the file at `path` atomically, and flushes it to disk.
    ///
    /// - Parameters:
    ///   - metadata: in the file's order; no key twice.
    ///   - tensors: in the file's order; no name twice.
    ///   - path: of the file.
    ///   - store: where it is written.
    /// - Throws: `FileError` when it cannot be written, `FormatError.duplicate` when a key or a name
    ///   appears twice; what a tensor's body throws.
    package static func write(
        metadata: [(key: String, value: Value)], tensors: [Tensor], to path: String,
        in store: any Store = DiskStore()
    ) throws {
        let head = try header(metadata, tensors, path: path)
        try store.write(to: path) { append in
            try head.withUnsafeBytes { try append($0) }
            for tensor in tensors {
                var count = 0
                try tensor.body { bytes in
                    count += bytes.count
                    try append(bytes)
                }
                precondition(count == tensor.byteCount, "\(tensor.name) has \(count) bytes")
                let padding = [UInt8](repeating: 0, count: padded(count) - count)
                try padding.withUnsafeBytes { try append($0) }
            }
        }
    }

    private static func header(
        _ metadata: [(key: String, value: Value)], _ tensors: [Tensor], path: String
    ) throws -> [UInt8] {
        var out: [UInt8] = []
        append(UInt32(0x4655_4747), to: &out)
        append(UInt32(3), to: &out)
        append(UInt64(tensors.count), to: &out)
        append(UInt64(metadata.count), to: &out)
        var names: Set<String> = []
        for (key, value) in metadata {
            guard names.insert(key).inserted else {
                throw FormatError.duplicate(path: path, name: key)
            }
            append(key, to: &out)
            append(value, to: &out)
        }
        names = []
        var offset = 0
        for tensor in tensors {
            guard names.insert(tensor.name).inserted else {
                throw FormatError.duplicate(path: path, name: tensor.name)
            }
            append(tensor.name, to: &out)
            append(UInt32(tensor.shape.count), to: &out)
            for size in tensor.shape.reversed() { append(UInt64(size), to: &out) }
            append(tensor.elementType.ggmlIdentifier, to: &out)
            append(UInt64(offset), to: &out)
            offset += padded(tensor.byteCount)
        }
        out += [UInt8](repeating: 0, count: padded(out.count) - out.count)
        return out
    }

    private static func padded(_ count: Int) -> Int {
        (count + alignment - 1) / alignment * alignment
    }

    private static func append(_ value: Value, to out: inout [UInt8]) {
        func list<Element>(_ type: UInt32, _ elements: [Element], _ one: (Element) -> Void) {
            append(UInt32(9), to: &out)
            append(type, to: &out)
            append(UInt64(elements.count), to: &out)
            elements.forEach(one)
        }
        func typed(_ type: UInt32) { append(type, to: &out) }
        switch value {
        case .uint32(let number):
            typed(4)
            append(number, to: &out)
        case .int32(let number):
            typed(5)
            append(number, to: &out)
        case .uint64(let number):
            typed(10)
            append(number, to: &out)
        case .float32(let number):
            typed(6)
            append(number.bitPattern, to: &out)
        case .bool(let flag):
            typed(7)
            out.append(flag ? 1 : 0)
        case .string(let text):
            typed(8)
            append(text, to: &out)
        case .strings(let texts): list(8, texts) { append($0, to: &out) }
        case .int32s(let numbers): list(5, numbers) { append($0, to: &out) }
        case .uint32s(let numbers): list(4, numbers) { append($0, to: &out) }
        case .float32s(let numbers): list(6, numbers) { append($0.bitPattern, to: &out) }
        case .bools(let flags): list(7, flags) { out.append($0 ? 1 : 0) }
        case .raw(let type, let bytes):
            typed(type)
            out += bytes
        }
    }

    private static func append(_ text: String, to out: inout [UInt8]) {
        append(UInt64(text.utf8.count), to: &out)
        out += text.utf8
    }

    private static func append(_ number: some FixedWidthInteger, to out: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { out += $0 }
    }
}

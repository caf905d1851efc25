import Foundation
import SkeinBasics

/// An event of TensorBoard's event files, as bytes of the protocol buffers `Event` and `Summary`
/// (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto).
///
/// A scalar is a `simple_value`, as PyTorch's SummaryWriter writes it: a float, which every script
/// that reads event files finds. metrics.jsonl keeps the digits of the double.
struct EventRecord: Sendable {
    enum Content: Sendable {
        /// The first record of a file.
        case fileVersion
        /// A process of the run begins: what was recorded of this step and later ones is void.
        case start
        case scalars([(tag: String, value: Double)])
        case text(tag: String, markdown: String)
    }

    var wallTime: Double
    var step: Int
    var content: Content

    var bytes: [UInt8] {
        var event = ProtobufWriter()
        event.double(1, wallTime)
        event.varint(2, UInt64(bitPattern: Int64(step)))
        switch content {
        case .fileVersion: event.bytes(3, Array("brain.Event:2".utf8))
        case .start:
            event.message(7) { $0.varint(1, 1) }
        case .scalars(let values):
            event.message(5) { summary in
                for (tag, value) in values { summary.message(1) { Self.scalar(&$0, tag, value) } }
            }
        case .text(let tag, let markdown):
            event.message(5) { summary in summary.message(1) { Self.text(&$0, tag, markdown) } }
        }
        return event.data
    }

    private static func scalar(_ value: inout ProtobufWriter, _ tag: String, _ number: Double) {
        value.bytes(1, Array(tag.utf8))
        value.float(2, Float(number))
    }

    private static func text(_ value: inout ProtobufWriter, _ tag: String, _ markdown: String) {
        value.bytes(1, Array(tag.utf8))
        value.message(9) { metadata in
            metadata.message(1) { $0.bytes(1, Array("text".utf8)) }
            metadata.varint(4, 2)
        }
        value.message(8) { tensor in
            tensor.varint(1, 7)
            tensor.message(2) { shape in shape.message(2) { $0.varint(1, 1) } }
            tensor.bytes(8, Array(markdown.utf8))
        }
    }

    /// The step of an event's bytes; nil if it cannot be read.
    static func step(of bytes: some Collection<UInt8>) -> Int? {
        var rest = Array(bytes.prefix(32))[...]
        // Field 1, eight bytes; field 2, a varint. Writers leave out a step of 0.
        guard rest.first == 0x09, rest.count >= 9 else { return nil }
        rest = rest.dropFirst(9)
        guard rest.popFirst() == 0x10 else { return 0 }
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return Int(exactly: Int64(bitPattern: value)) }
        }
        return nil
    }
}

/// Writes the wire format of protocol buffers.
struct ProtobufWriter {
    private(set) var data: [UInt8] = []

    mutating func varint(_ field: Int, _ value: UInt64) {
        raw(UInt64(field << 3))
        raw(value)
    }

    mutating func double(_ field: Int, _ value: Double) {
        raw(UInt64(field << 3 | 1))
        raw(double: value)
    }

    mutating func float(_ field: Int, _ value: Float) {
        raw(UInt64(field << 3 | 5))
        withUnsafeBytes(of: value.bitPattern.littleEndian) { data += $0 }
    }

    mutating func bytes(_ field: Int, _ value: [UInt8]) {
        raw(UInt64(field << 3 | 2))
        raw(UInt64(value.count))
        data += value
    }

    mutating func message(_ field: Int, _ body: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        body(&inner)
        bytes(field, inner.data)
    }

    mutating func raw(double value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { data += $0 }
    }

    private mutating func raw(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            data.append(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        data.append(UInt8(rest))
    }
}

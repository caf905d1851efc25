import SkeinBasics

/// A metadata value of a GGUF file; the widths of numbers are not kept.
package enum GGUFValue: Sendable, Equatable {
    case unsigned(UInt64)
    case integer(Int64)
    case float(Double)
    case bool(Bool)
    case string(String)
    case strings([String])
    /// An array of integers of any width.
    case integers([Int64])
    /// An array of floats; 64-bit elements are rounded.
    case floats([Float])
    case bools([Bool])

    /// What kind of value it is, for errors.
    var kind: String {
        switch self {
        case .unsigned, .integer: "an integer"
        case .float: "a float"
        case .bool: "a bool"
        case .string: "a string"
        case .strings: "an array of strings"
        case .integers: "an array of integers"
        case .floats: "an array of floats"
        case .bools: "an array of bools"
        }
    }
}

extension ByteReader {
    /// The value of metadata key `key`: a type id, then a value of that type.
    mutating func ggufValue(_ key: String) throws -> GGUFValue {
        let type: UInt32 = try integer(key)
        switch type {
        case 0: return .unsigned(UInt64(try integer(key, as: UInt8.self)))
        case 1: return .integer(Int64(try integer(key, as: Int8.self)))
        case 2: return .unsigned(UInt64(try integer(key, as: UInt16.self)))
        case 3: return .integer(Int64(try integer(key, as: Int16.self)))
        case 4: return .unsigned(UInt64(try integer(key, as: UInt32.self)))
        case 5: return .integer(Int64(try integer(key, as: Int32.self)))
        case 6: return .float(Double(Float(bitPattern: try integer(key))))
        case 7: return .bool(try integer(key, as: UInt8.self) != 0)
        case 8: return .string(try string(key))
        case 9: return try ggufArray(key)
        case 10: return .unsigned(try integer(key))
        case 11: return .integer(try integer(key))
        case 12: return .float(Double(bitPattern: try integer(key)))
        default:
            throw FormatError.badField(
                path: file.path, field: key, expected: "a value type of 0 to 12",
                found: "type \(type)")
        }
    }

    private mutating func ggufArray(_ key: String) throws -> GGUFValue {
        let type: UInt32 = try integer(key)
        let stated: UInt64 = try integer(key)
        guard stated <= Limits.arrayElements else {
            throw FormatError.overLimit(
                path: file.path, field: key, limit: Limits.arrayElements, found: stated)
        }
        let count = Int(stated)
        switch type {
        case 0: return .integers(try integers(key, as: UInt8.self, count: count).map(Int64.init))
        case 1: return .integers(try integers(key, as: Int8.self, count: count).map(Int64.init))
        case 2: return .integers(try integers(key, as: UInt16.self, count: count).map(Int64.init))
        case 3: return .integers(try integers(key, as: Int16.self, count: count).map(Int64.init))
        case 4: return .integers(try integers(key, as: UInt32.self, count: count).map(Int64.init))
        case 5: return .integers(try integers(key, as: Int32.self, count: count).map(Int64.init))
        case 6:
            let bits = try integers(key, as: UInt32.self, count: count)
            return .floats(bits.map { Float(bitPattern: $0) })
        case 7: return .bools(try integers(key, as: UInt8.self, count: count).map { $0 != 0 })
        case 8: return .strings(try strings(key, count: count))
        case 10: return .integers(try narrowed(key, integers(key, as: UInt64.self, count: count)))
        case 11: return .integers(try integers(key, as: Int64.self, count: count))
        case 12:
            let bits = try integers(key, as: UInt64.self, count: count)
            return .floats(bits.map { Float(Double(bitPattern: $0)) })
        default:
            // ggml refuses arrays of arrays, too.
            throw FormatError.badField(
                path: file.path, field: key, expected: "an array of numbers, bools or strings",
                found: "an array of type \(type)")
        }
    }

    private mutating func strings(_ key: String, count: Int) throws -> [String] {
        // Each string has an 8-byte length, so a false count is found before memory is taken.
        try require(UInt64(count) * 8, for: key)
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count { texts.append(try string(key)) }
        return texts
    }

    private func narrowed(_ key: String, _ values: [UInt64]) throws -> [Int64] {
        try values.map { value in
            guard let narrow = Int64(exactly: value) else {
                throw FormatError.badField(
                    path: file.path, field: key, expected: "integers below 2^63",
                    found: String(value))
            }
            return narrow
        }
    }
}

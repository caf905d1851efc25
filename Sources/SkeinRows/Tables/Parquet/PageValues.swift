import SkeinJSON

/// The values of one page, or of a dictionary: each of them becomes JSON.
struct PageValues {
    /// Why a value cannot stand in a row.
    enum Fault: Equatable {
        case notText
        case notFinite
        case tooLong
    }

    private let kind: SchemaNode.LeafKind
    private let bytes: UnsafeRawBufferPointer
    /// The place of the next value.
    private(set) var place = 0
    /// Where each text of a dictionary starts.
    private var starts: [UInt32] = []
    /// Flags are single bits or, in pages of version 2, runs.
    private var flags: RunLengths?

    /// - Parameters:
    ///   - bytes: in PLAIN encoding.
    ///   - kind: of the leaf.
    init(_ bytes: UnsafeRawBufferPointer, _ kind: SchemaNode.LeafKind) {
        self.bytes = bytes
        self.kind = kind
    }

    /// Flags as runs.
    init(flags: RunLengths) {
        self.init(UnsafeRawBufferPointer(start: nil, count: 0), .boolean)
        self.flags = flags
    }

    /// A dictionary of `count` values; nil if its bytes are fewer.
    init?(dictionary bytes: UnsafeRawBufferPointer, count: Int, _ kind: SchemaNode.LeafKind) {
        self.init(bytes, kind)
        switch kind {
        case .boolean: return nil
        case .int32, .float, .int64, .double:
            guard count <= bytes.count / width else { return nil }
        case .text, .json:
            // Each text has at least its length.
            guard count <= bytes.count / 4 else { return nil }
            starts.reserveCapacity(count)
            for _ in 0..<count {
                starts.append(UInt32(place))
                guard text() != nil else { return nil }
            }
        }
        self.count = count
    }

    /// Values of a dictionary.
    private(set) var count = 0

    private var width: Int {
        switch kind {
        case .int32, .float: 4
        default: 8
        }
    }

    /// Appends the next value.
    ///
    /// - Parameters:
    ///   - out: a row that grows.
    ///   - fault: is set when the value has one, and was not appended.
    /// - Returns: whether there is a next value.
    mutating func append(to out: inout [UInt8], _ fault: inout Fault?) -> Bool {
        switch kind {
        case .boolean:
            let flag: Int
            if flags != nil {
                guard let next = flags?.next() else { return false }
                flag = next
            } else {
                guard place >> 3 < bytes.count else { return false }
                flag = Int(bytes[place >> 3] >> UInt8(place & 7) & 1)
                place += 1
            }
            out.append(contentsOf: (flag == 1 ? "true" : "false").utf8)
        case .int32, .float, .int64, .double:
            guard width <= bytes.count - place else { return false }
            appendNumber(at: place, to: &out, &fault)
            place += width
        case .text, .json:
            guard let text = text() else { return false }
            append(text, to: &out, &fault)
        }
        return true
    }

    /// Appends a value of a dictionary.
    ///
    /// - Parameters:
    ///   - index: of the value, from 0.
    ///   - out: a row that grows.
    ///   - fault: is set when the value has one, and was not appended.
    /// - Returns: whether the dictionary has it.
    func append(index: Int, to out: inout [UInt8], _ fault: inout Fault?) -> Bool {
        guard index < count else { return false }
        switch kind {
        case .text, .json: append(checkedText(at: Int(starts[index])), to: &out, &fault)
        default: appendNumber(at: index * width, to: &out, &fault)
        }
        return true
    }

    /// Passes the text at `place`; nil if it is longer than the bytes.
    private mutating func text() -> UnsafeRawBufferPointer? {
        guard 4 <= bytes.count - place else { return nil }
        let length = Int(
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
        guard length <= bytes.count - place - 4 else { return nil }
        defer { place += 4 + length }
        return checkedText(at: place)
    }

    /// The text at `start`, whose length is known to be right.
    private func checkedText(at start: Int) -> UnsafeRawBufferPointer {
        let length = Int(
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)))
        return UnsafeRawBufferPointer(rebasing: bytes[(start + 4)..<(start + 4 + length)])
    }

    private func append(
        _ text: UnsafeRawBufferPointer, to out: inout [UInt8], _ fault: inout Fault?
    ) {
        // Before it is escaped, which can make it six times as long.
        guard text.count <= Limits.rowBytes else {
            fault = .tooLong
            return
        }
        guard UTF8Check.isValid(text) else {
            fault = .notText
            return
        }
        if case .json = kind, RowJSON.isArray(text.bindMemory(to: UInt8.self)) {
            // An array has control characters between its values alone, where they are blanks.
            out.append(contentsOf: text.lazy.map { max($0, 0x20) })
        } else {
            JSONWriter.append(quoted: text, to: &out)
        }
    }

    private func appendNumber(at place: Int, to out: inout [UInt8], _ fault: inout Fault?) {
        /// Swift's description has the fewest digits that read back as the same number.
        func append(_ number: some CustomStringConvertible) {
            out.append(contentsOf: number.description.utf8)
        }
        if width == 4 {
            let bits = UInt32(
                littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
            switch kind {
            case .int32(signed: true): append(Int32(bitPattern: bits))
            case .int32: append(bits)
            default:
                let number = Float(bitPattern: bits)
                guard number.isFinite else {
                    fault = .notFinite
                    return
                }
                append(number)
            }
        } else {
            let bits = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            switch kind {
            case .int64(signed: true): append(Int64(bitPattern: bits))
            case .int64: append(bits)
            default:
                let number = Double(bitPattern: bits)
                guard number.isFinite else {
                    fault = .notFinite
                    return
                }
                append(number)
            }
        }
    }
}

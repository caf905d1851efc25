import SkeinBasics

/// The versions of the protocol that this build speaks.
package enum ProtocolVersion {
    /// Peers of different major versions do not talk to each other.
    package static let major: UInt8 = 2
    /// The highest one that both sides speak is used. Before 3 a worker's parameters and results were
    /// known by counted numbers alone, which repeat when an older copy of a run is restored; before 4
    /// nothing compared what both machines make of a fixed piece of work.
    package static let minors: ClosedRange<UInt8> = 4...4
}

/// What precedes every payload: 40 bytes, little endian. docs/PROTOCOL.md has the table.
package struct FrameHeader: Sendable, Equatable {
    package static let byteCount = 40
    /// "SKNF" when read as a little-endian number.
    package static let magic: UInt32 = 0x464e_4b53

    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// More chunks of this message follow.
        package static let more = Flags(rawValue: 1)
        /// This is not the first chunk of its message.
        package static let continuation = Flags(rawValue: 2)
        /// A receiver that does not know the type may skip the frame.
        package static let optional = Flags(rawValue: 4)

        static let all: Flags = [.more, .continuation, .optional]
    }

    /// The highest minor version that the sender's build speaks, for readers of network recordings.
    /// CHALLENGE decides which one is used.
    package var minor: UInt8 = ProtocolVersion.minors.upperBound
    /// A `MessageType`, or a number that this version does not know.
    package var type: UInt16
    package var flags: Flags
    package var term: UInt32
    package var sequence: UInt64
    package var payloadLength: UInt32
    /// The length of the whole message, all chunks together.
    package var messageLength: UInt32
    /// The first four bytes of the payload's SHA-256, little endian; in a frame of major version 1
    /// its CRC-32C.
    package var payloadChecksum: UInt32
    /// 1 in a REJECTION for a peer that speaks nothing later; else `ProtocolVersion.major`.
    var major = ProtocolVersion.major

    package init(
        type: UInt16, flags: Flags, term: UInt32, sequence: UInt64, payloadLength: UInt32,
        messageLength: UInt32, payloadChecksum: UInt32
    ) {
        self.type = type
        self.flags = flags
        self.term = term
        self.sequence = sequence
        self.payloadLength = payloadLength
        self.messageLength = messageLength
        self.payloadChecksum = payloadChecksum
    }

    /// Writes the header to the first 40 bytes of `bytes`.
    func write(to bytes: UnsafeMutableRawBufferPointer) {
        bytes.storeBytes(of: Self.magic.littleEndian, toByteOffset: 0, as: UInt32.self)
        bytes[4] = major
        bytes[5] = minor
        bytes.storeBytes(of: type.littleEndian, toByteOffset: 6, as: UInt16.self)
        bytes.storeBytes(of: flags.rawValue.littleEndian, toByteOffset: 8, as: UInt16.self)
        bytes.storeBytes(
            of: UInt16(Self.byteCount).littleEndian, toByteOffset: 10, as: UInt16.self)
        bytes.storeBytes(of: term.littleEndian, toByteOffset: 12, as: UInt32.self)
        bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 16, as: UInt64.self)
        bytes.storeBytes(of: payloadLength.littleEndian, toByteOffset: 24, as: UInt32.self)
        bytes.storeBytes(of: messageLength.littleEndian, toByteOffset: 28, as: UInt32.self)
        bytes.storeBytes(of: payloadChecksum.littleEndian, toByteOffset: 32, as: UInt32.self)
        let checksum = CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[..<36]))
        bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 36, as: UInt32.self)
    }

    /// The 40 bytes.
    package func encoded() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            count = Self.byteCount
        }
    }

    /// Reads a header from the first 40 bytes of `bytes`.
    ///
    /// - Throws: `WireError.badMagic`, `.majorVersion`, `.headerChecksum` or `.badHeader`, in this
    ///   order: another major version may have another layout.
    package init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        precondition(bytes.count >= Self.byteCount)
        func number<Integer: FixedWidthInteger>(_ offset: Int) -> Integer {
            Integer(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Integer.self))
        }
        try Self.checkStart(bytes)
        let checksum = CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[..<36]))
        guard number(36) == checksum else { throw .headerChecksum }
        minor = bytes[5]
        type = number(6)
        flags = Flags(rawValue: number(8))
        guard Flags.all.isSuperset(of: flags) else {
            throw .badHeader(field: "flags", found: UInt64(flags.rawValue))
        }
        let headerLength: UInt16 = number(10)
        guard headerLength == UInt16(Self.byteCount) else {
            throw .badHeader(field: "length", found: UInt64(headerLength))
        }
        term = number(12)
        sequence = number(16)
        payloadLength = number(24)
        messageLength = number(28)
        payloadChecksum = number(32)
    }

    /// Checks as much of magic and major version as has come, so that no time is lost on a peer
    /// that speaks HTTP.
    static func checkStart(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        if bytes.count >= 4 {
            let found = UInt32(
                littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
            guard found == magic else { throw .badMagic(found: found) }
        }
        if bytes.count >= 5, bytes[4] != ProtocolVersion.major {
            throw .majorVersion(found: bytes[4])
        }
    }
}

extension SHA256.Digest {
    /// As a header states it.
    var payloadChecksum: UInt32 {
        bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
    }
}

/// A frame that was checked: undamaged, in sequence and, once there is a key, authentic.
package struct Frame: Sendable, Equatable {
    package var header: FrameHeader
    /// What the frame carries, from `start` on.
    package var payload: [UInt8]
    /// Whether a tag proves that its sender knows the session's key.
    package var isTagged = false
    /// Where the frame's own bytes start in `payload`: after the earlier part of its message, if
    /// the opener was given that.
    var start = 0

    package init(header: FrameHeader, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }
}

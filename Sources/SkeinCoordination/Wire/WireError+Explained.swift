import SkeinBasics

extension WireError: Explained {
    package var explanation: Explanation {
        Explanation(what: what, place: place, remedy: remedy, status: .badData)
    }

    private var what: String {
        switch self {
        case .badMagic(let found):
            "the peer's first bytes are \(Self.hexadecimal(found)), not those of a Skein frame"
        case .majorVersion(let found):
            "the peer speaks version \(found) of the protocol, this is version "
                + "\(ProtocolVersion.major)"
        case .badHeader(let field, let found): "a frame's header has an invalid \(field): \(found)"
        case .headerChecksum: "a frame's header was damaged on its way"
        case .payloadChecksum(let sequence): "frame \(sequence) was damaged on its way"
        case .payloadTooLong(let limit, let found):
            "a frame announces \(found) bytes, above the limit of \(limit)"
        case .badTag(let sequence):
            "frame \(sequence) was not made by a peer that knows the session's key"
        case .badSequence(let expected, let found):
            "frame \(found) came instead of frame \(expected)"
        case .unknownType(let type): "the peer sent a message of unknown type \(type)"
        case .unexpected(let type): "the peer sent \(type.name), which it may not send now"
        case .messageTooLong(let type, let limit, let found):
            "the peer announces a \(type.name) of \(found) bytes, above the limit of \(limit)"
        case .badChunk(let type, let fault):
            "the chunks of a \(type.name) do not fit: \(fault.what)"
        case .truncated(_, let field, let needed, let left):
            "\(field) needs \(needed) bytes, but only \(left) are left"
        case .trailingBytes(_, let count): "\(count) bytes are left over"
        case .overLimit(_, let field, let limit, let found):
            "\(field) has a length of \(found), above the limit of \(limit)"
        case .notPlainText(_, let field): "\(field) is not UTF-8 text without control characters"
        case .badValue(_, let field, let found): "\(field) cannot be \(found)"
        case .badFileName(_, let name): "'\(name)' cannot be the name of a model file"
        }
    }

    private var place: String {
        switch self {
        case .badMagic, .majorVersion, .badHeader, .headerChecksum, .payloadChecksum,
            .payloadTooLong, .badTag, .badSequence, .unknownType:
            ""
        case .unexpected(let type), .messageTooLong(let type, _, _), .badChunk(let type, _),
            .truncated(let type, _, _, _), .trailingBytes(let type, _),
            .overLimit(let type, _, _, _), .notPlainText(let type, _),
            .badValue(let type, _, _), .badFileName(let type, _):
            type.name
        }
    }

    private var remedy: String {
        switch self {
        case .badMagic: "check that the address is that of a Skein coordinator"
        case .majorVersion: RejectCode.version.remedy
        case .badTag: "check that both sides read the same token file, and what is between them"
        case .headerChecksum, .payloadChecksum, .badSequence:
            "connect again; if it happens often, check the network between the hosts"
        default: "run the same version of skein on both sides"
        }
    }

    private static func hexadecimal(_ word: UInt32) -> String {
        let digits = String(word.byteSwapped, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension WireError {
    /// What a coordinator says to the peer before it closes the connection.
    package var rejection: Rejection {
        let what = explanation.what
        return switch self {
        case .majorVersion: Rejection(code: .version, reason: what)
        default:
            Rejection(
                code: .protocolViolation,
                reason: place.isEmpty ? what : "\(place): \(what)")
        }
    }
}

extension WireError.ChunkFault {
    fileprivate var what: String {
        switch self {
        case .cut: "it must be one frame"
        case .withoutStart: "a continuation came without its start"
        case .interleaved: "it started inside another message"
        case .changed: "type, length or term changed between chunks"
        case .empty: "one of them is empty"
        case .wrongLength: "together they are not as long as announced"
        }
    }
}

import SkeinBasics

/// Why packed gradients or parameters cannot be unpacked: they are not what `pack` writes.
package enum CodecError: Error, Equatable, Sendable {
    /// More bytes than this count of numbers can take.
    case tooLong(found: Int, limit: Int)
    /// The bytes end inside a field.
    case truncated(offset: Int, needed: Int, found: Int)
    case unknownVersion(found: UInt8)
    /// Packed by another codec, or something else altogether.
    case wrongKind(expected: String, found: UInt8)
    case wrongCount(expected: Int, found: Int)
    /// A plane that is neither raw nor a zstd frame.
    case unknownMethod(plane: Int, found: UInt8)
    /// A raw plane of the wrong length, or a frame that is not shorter than its plane.
    case wrongLength(plane: Int, expected: Int, found: Int)
    /// A zstd frame that cannot be decoded into the plane; `detail` says why.
    case badFrame(plane: Int, detail: String)
    case trailingBytes(count: Int)
    /// Place `found` of a vector of `count` numbers.
    case indexOutOfRange(found: Int, count: Int)
    /// Unrounded Floats from a codec that rounds, though all of them are finite.
    case notRounded
}

extension CodecError: Explained {
    package var explanation: Explanation {
        Explanation(
            what: "the packed numbers are damaged: \(what)", place: place,
            remedy: "run the same version of Skein on all machines; if it happens again, check the "
                + "network and the memory of the sender",
            status: .badData)
    }

    private var place: String {
        switch self {
        case .truncated(let offset, _, _): "byte \(offset)"
        case .unknownMethod(let plane, _), .wrongLength(let plane, _, _), .badFrame(let plane, _):
            "plane \(plane)"
        default: ""
        }
    }

    private var what: String {
        switch self {
        case .tooLong(let found, let limit): "\(found) bytes, more than \(limit)"
        case .truncated(_, let needed, let found): "\(found) bytes where \(needed) are needed"
        case .unknownVersion(let found): "version \(found) is not known"
        case .wrongKind(let expected, let found): "kind \(found) is not \(expected)"
        case .wrongCount(let expected, let found): "\(found) numbers instead of \(expected)"
        case .unknownMethod(_, let found): "method \(found) is not known"
        case .wrongLength(_, let expected, let found):
            "a plane of \(expected) bytes cannot take \(found)"
        case .badFrame(_, let detail): detail
        case .trailingBytes(let count): "\(count) bytes follow the last plane"
        case .indexOutOfRange(let found, let count):
            "number \(found) of a vector of \(count) numbers"
        case .notRounded: "finite numbers that the codec should have rounded"
        }
    }
}

extension ZstdFrame.Problem {
    var what: String {
        switch self {
        case .notAFrame: "it is not a zstd frame"
        case .wrongContents: "its zstd frame does not hold one plane"
        case .wrongEnd: "its zstd frame does not end where its bytes do"
        case .damaged: "its zstd frame is damaged"
        }
    }
}

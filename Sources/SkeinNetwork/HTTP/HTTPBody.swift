/// Reads the body of one request, by its length or in chunks (RFC 9112, sections 6 and 7). Pure.
///
/// Memory grows with the bytes that come, never with a length that was declared, and never
/// beyond the limit. Lines between chunks end with both CR and LF, as in no other place: proxies
/// that disagreed about a lone LF there have been made to smuggle requests. Extensions of chunks
/// and trailers are checked, limited and thrown away. A body with a content encoding is refused:
/// no site would decode it.
///
/// A class, so that its bytes have one owner: inside of the parser's value, an optimized build
/// copied them all for each piece that came (16 MiB took 4 s).
final class HTTPBody {
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    private var state: State
    /// Bytes of chunk extensions and of trailers so far.
    private var extensionBytes = 0
    private var trailerBytes = 0

    private enum State: Equatable {
        case content(rest: Int)
        /// Before the line that says how long the next chunk is.
        case size
        case chunk(rest: Int)
        /// Before the line end after a chunk's bytes.
        case chunkEnd
        case trailer
        case complete
    }

    /// The body that a head announces; nil without one.
    ///
    /// - Throws: `HTTPProblem`, also for a body that is declared longer than the limit, and
    ///   `.refused` where that is nil.
    init?(
        of head: HTTPRequest, limit: (HTTPRequest) -> Int?
    ) throws(HTTPProblem) {
        let framing = try HTTPHead.framing(of: head)
        let expectations = head.headers.filter { $0.name == "expect" }
        // HTTP/1.0 has no expectations (RFC 9110, section 10.1.1).
        if head.minorVersion > 0, !expectations.isEmpty {
            guard expectations.count == 1, expectations[0].value.lowercased() == "100-continue"
            else { throw .expectationFailed }
        }
        guard framing != .none else { return nil }
        guard let limit = limit(head) else { throw .refused }
        guard limit > 0 else { throw .bodyNotAllowed }
        guard !HTTPHead.isEncoded(head) else { throw .encodingNotSupported }
        switch framing {
        case .length(let length):
            guard length <= limit else { throw .bodyTooLong(limit: limit) }
            self.limit = length
            state = .content(rest: length)
        case .chunked, .none:
            self.limit = limit
            state = .size
        }
    }

    var isComplete: Bool { state == .complete }

    /// Takes what belongs to the body from the front of `input`.
    ///
    /// - Returns: how many bytes it took; the others must be given again, with more after them.
    func take(_ input: [UInt8]) throws(HTTPProblem) -> Int {
        var rest = input[...]
        while try step(&rest) {}
        return input.count - rest.count
    }

    /// Takes one piece or one line.
    ///
    /// - Returns: whether another may follow.
    private func step(_ input: inout ArraySlice<UInt8>) throws(HTTPProblem) -> Bool {
        switch state {
        case .content(let rest):
            let left = rest - keep(&input, atMost: rest)
            state = left == 0 ? .complete : .content(rest: left)
            return false
        case .size:
            guard let line = try line(&input, atMost: Limits.chunkLineBytes) else { return false }
            let size = try chunkSize(line)
            guard size <= limit - bytes.count else { throw .bodyTooLong(limit: limit) }
            state = size == 0 ? .trailer : .chunk(rest: size)
        case .chunk(let rest):
            let left = rest - keep(&input, atMost: rest)
            state = left == 0 ? .chunkEnd : .chunk(rest: left)
            return left == 0
        case .chunkEnd:
            guard let first = input.first else { return false }
            guard first == 0x0D || first == 0x0A else {
                throw .malformed("a chunk is longer than it says")
            }
            guard try line(&input, atMost: 0) != nil else { return false }
            state = .size
        case .trailer:
            guard let line = try line(&input, atMost: Limits.trailerBytes) else { return false }
            if line.isEmpty {
                state = .complete
                return false
            }
            trailerBytes += line.count
            guard trailerBytes <= Limits.trailerBytes else { throw .headersTooLong }
            _ = try HTTPHead.header(line)
        case .complete: return false
        }
        return true
    }

    private func keep(_ input: inout ArraySlice<UInt8>, atMost rest: Int) -> Int {
        let piece = input.prefix(rest)
        let count = bytes.count + piece.count
        if count > bytes.capacity { bytes.reserveCapacity(min(limit, max(count, 2 * bytes.count))) }
        bytes += piece
        input = input.dropFirst(piece.count)
        return piece.count
    }

    /// A line without its CR LF; nil: it has not ended.
    private func line(
        _ input: inout ArraySlice<UInt8>, atMost limit: Int
    ) throws(HTTPProblem) -> ArraySlice<UInt8>? {
        let end = input.firstIndex { $0 == 0x0D || $0 == 0x0A } ?? input.endIndex
        guard end - input.startIndex <= limit else {
            throw .malformed("a line between chunks is longer than \(limit) bytes")
        }
        guard end < input.endIndex else { return nil }
        guard input[end] == 0x0D else { throw .malformed("a line between chunks ends without CR") }
        guard end + 1 < input.endIndex else { return nil }
        guard input[end + 1] == 0x0A else { throw .malformed("a carriage return stands alone") }
        defer { input = input[(end + 2)...] }
        return input[..<end]
    }

    /// `1A3F`, or `1A3F;name=value`.
    private func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTPProblem) -> Int {
        let digits = line.prefix { HTTPBody.digit($0) != nil }
        let rest = line.dropFirst(digits.count)
        guard !digits.isEmpty, rest.isEmpty || rest.first == 0x3B,
            rest.allSatisfy({ $0 == 0x09 || ($0 > 0x1F && $0 != 0x7F) })
        else { throw .malformed("a chunk does not begin with its size") }
        // Zeros in front say nothing, either.
        extensionBytes += rest.count + max(0, digits.count - Limits.chunkDigits)
        guard extensionBytes <= Limits.chunkExtensionBytes else {
            throw .malformed(
                "the chunks have more than \(Limits.chunkExtensionBytes) bytes of extensions")
        }
        var size = 0
        for byte in digits {
            // No limit is as long, and nothing overflows.
            guard size < 1 << 48 else { throw .bodyTooLong(limit: limit) }
            size = size << 4 + (HTTPBody.digit(byte) ?? 0)
        }
        return size
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x41...0x46: Int(byte) - 0x41 + 10
        case 0x61...0x66: Int(byte) - 0x61 + 10
        default: nil
        }
    }
}

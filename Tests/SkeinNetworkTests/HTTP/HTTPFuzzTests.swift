import Testing

@testable import SkeinNetwork

@Suite("requests cut and damaged")
struct HTTPFuzzTests {
    private static let limit = 300

    /// What became of a stream of bytes.
    private struct Outcome: Equatable {
        var requests: [HTTPRequest] = []
        var problem: HTTPProblem?
    }

    private struct Numbers {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    /// Reads `bytes` in pieces that end at `cuts`.
    private static func read(_ bytes: [UInt8], cuts: some Sequence<Int>) -> Outcome {
        var parser = HTTPRequestParser()
        var outcome = Outcome()
        var start = 0
        do throws(HTTPProblem) {
            for end in Array(cuts) + [bytes.count] {
                parser.take(bytes[start..<end])
                start = end
                while let request = try parser.next(bodyLimit: { $0.path == "/no" ? 0 : limit }) {
                    #expect(request.body.count <= limit && request.path.hasPrefix("/"))
                    outcome.requests.append(request)
                }
                #expect(parser.bodyBytes <= limit && parser.heldBytes <= Limits.headBytes)
            }
        } catch {
            outcome.problem = error
        }
        return outcome
    }

    private static let streams: [[UInt8]] = [
        "POST /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\nhello\r\nworld"
            + "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        "\r\nPOST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: t\r\n\r\n"
            + "POST /d HTTP/1.0\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc",
        "POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "1\r\n\r\r\n1\r\n\n\r\n0\r\n\r\n\r\n\nGET /f HTTP/1.1\nHost: h\n\n"
            + "PUT /no HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx",
    ].map { Array($0.utf8) }

    @Test("a stream has the same requests wherever it is cut")
    func cuts() {
        let counts = [2, 2, 2]
        for (stream, count) in zip(Self.streams, counts) {
            let whole = Self.read(stream, cuts: [])
            #expect(whole.requests.count == count)
            for first in 0...stream.count {
                #expect(Self.read(stream, cuts: [first]) == whole)
                for second in stride(from: first, to: stream.count, by: 13) {
                    #expect(Self.read(stream, cuts: [first, second]) == whole)
                }
            }
            #expect(Self.read(stream, cuts: 0..<stream.count) == whole)
        }
    }

    /// Pieces that matter to a parser.
    private static let pieces = [
        "\r\n", "\n", "\r", "\r\n\r\n", "0\r\n\r\n", "Content-Length: 5\r\n", "5\r\n", ";", ":",
        "Transfer-Encoding: chunked\r\n", " ", "\t", "\u{0}", "FFFFFFFFFFFFFFFF", "HTTP/1.1",
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "Expect: 100-continue\r\n", "x\r\n",
    ].map { Array($0.utf8) }

    private static func damaged(_ stream: [UInt8], _ numbers: inout Numbers) -> [UInt8] {
        var bytes = stream
        for _ in 0...numbers.next(4) {
            let at = numbers.next(bytes.count)
            switch numbers.next(6) {
            case 0: bytes[at] = UInt8(numbers.next(256))
            case 1: bytes[at] ^= UInt8(1 << numbers.next(8))
            case 2: bytes.removeSubrange(at..<min(bytes.count, at + 1 + numbers.next(8)))
            case 3: bytes.insert(contentsOf: pieces[numbers.next(pieces.count)], at: at)
            case 4:
                let end = min(bytes.count, at + numbers.next(60))
                bytes.insert(contentsOf: bytes[at..<end], at: numbers.next(bytes.count))
            default: bytes.replaceSubrange(at..<at, with: Array(repeating: bytes[at], count: 40))
            }
            if bytes.isEmpty { bytes = stream }
        }
        return bytes
    }

    @Test("damaged streams are read or refused, the same however they are cut", arguments: 1...30)
    func mutations(seed: Int) {
        var numbers = Numbers(state: UInt64(seed))
        var (read, refused) = (0, 0)
        for round in 0..<300 {
            let bytes = Self.damaged(Self.streams[round % Self.streams.count], &numbers)
            let whole = Self.read(bytes, cuts: [])
            read += whole.requests.count
            if whole.problem != nil { refused += 1 }
            #expect(Self.read(bytes, cuts: 0..<bytes.count) == whole, "seed \(seed), \(bytes)")
            let cuts = (0..<numbers.next(8)).map { _ in numbers.next(bytes.count + 1) }.sorted()
            #expect(Self.read(bytes, cuts: cuts) == whole, "seed \(seed), \(bytes), \(cuts)")
        }
        #expect(read > 100 && refused > 50)
    }
}

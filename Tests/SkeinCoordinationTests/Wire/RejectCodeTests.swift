import SkeinBasics
import SkeinCoordination
import Testing

@Suite("words for what went wrong between two nodes")
struct RejectCodeTests {
    @Test(
        "every reject code has a name and a remedy of its own kind", arguments: RejectCode.allCases)
    func remedies(_ code: RejectCode) {
        #expect(code.name.allSatisfy { $0.isLowercase || $0 == "-" })
        #expect(code.remedy.count > 20)
        #expect(!code.remedy.hasSuffix("."))
        let error = HandshakeError.rejected(Rejection(code: code, reason: "the facts"))
        #expect(error.explanation.what.contains(code.name))
        #expect(error.explanation.what.contains("the facts"))
        #expect(error.explanation.remedy == code.remedy)
        // After these a worker comes back; if it gives up, it exits with "peer gone".
        if !code.isFinal { #expect(error.explanation.status == .peerGone) }
    }

    @Test("a worker's exit status")
    func statuses() {
        let bad = RejectCode.allCases.filter { $0.exitStatus == .badData }
        #expect(
            Set(bad) == [.authentication, .version, .model, .fingerprint, .answer])
        #expect(Set(RejectCode.allCases.filter(\.isFinal)) == Set(bad + [.stuck]))
        #expect(RejectCode.fingerprint.remedy.contains("the same OPENBLAS_CORETYPE"))
    }

    @Test("every wire error is one sentence with a remedy")
    func wireErrors() {
        let errors: [(WireError, String)] = [
            (.badMagic(found: 0x2054_4547), "47455420"), (.majorVersion(found: 3), "version 3"),
            (.badHeader(field: "flags", found: 8), "flags: 8"),
            (.headerChecksum, "damaged"), (.payloadChecksum(sequence: 4), "frame 4"),
            (.payloadTooLong(limit: 7, found: 9), "9 bytes"), (.badTag(sequence: 3), "frame 3"),
            (.badSequence(expected: 3, found: 5), "frame 5"), (.unknownType(99), "99"),
            (.unexpected(.modelRequest), "MODEL_REQUEST"),
            (.messageTooLong(.result, limit: 1, found: 2), "RESULT of 2"),
            (.badChunk(.lease, .empty), "empty"),
            (.truncated(.lease, field: "rows", needed: 2, left: 1), "rows"),
            (.trailingBytes(.lease, count: 3), "3"),
            (.overLimit(.hello, field: "name", limit: 64, found: 65), "65"),
            (.notPlainText(.hello, field: "name"), "name"),
            (.badValue(.hello, field: "role", found: 3), "role cannot be 3"),
            (.badFileName(.offer, name: ".."), "'..'"),
        ]
        for (error, part) in errors {
            let explanation = error.explanation
            #expect(explanation.what.contains(part), "\(explanation.what)")
            #expect(!explanation.what.hasSuffix(".") && !explanation.remedy.isEmpty)
            #expect(explanation.status == .badData)
            #expect(error.rejection.reason.contains(part))
            let isVersion = error == .majorVersion(found: 3)
            #expect(error.rejection.code == (isVersion ? .version : .protocolViolation))
        }
    }
}

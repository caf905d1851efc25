import SkeinBasics
import Testing

@testable import SkeinFormats

@Suite struct FormatErrorTests {
    @Test("every error says what, where and how to fix it, and counts as bad data")
    func explanations() {
        let errors: [FormatError] = [
            .notFound(path: "p"), .notAModel(path: "p"), .missingFile(path: "p", expected: "f"),
            .badMagic(path: "p", expected: "GGUF", found: "0x0"),
            .unsupportedVersion(path: "p", found: 1),
            .truncated(path: "p", offset: 9, field: "f", expected: 8, found: 2),
            .overLimit(path: "p", field: "f", limit: 1, found: 2),
            .notText(path: "p", offset: 9, field: "f"), .duplicate(path: "p", name: "n"),
            .splitFile(path: "p", parts: 2), .badShardName(path: "p", found: "../x"),
            .badJSON(path: "p", reason: "r"), .missingField(path: "p", field: "f"),
            .badField(path: "p", field: "f", expected: "e", found: "x"),
            .unsupported(path: "p", field: "f", found: "x", supported: "s"),
            .unsupportedElementType(path: "p", tensor: "t", found: "IQ1_S"),
            .badTensor(path: "p", tensor: "t", field: "f", expected: "e", found: "x"),
            .missingTensor(path: "p", tensor: "t"), .unexpectedTensor(path: "p", tensor: "t"),
            .wrongShape(path: "p", tensor: "t", expected: [1], found: [2]),
            .unnamedModule(path: "p", tensor: "t"),
            .notFinite(path: "p", tensor: "t", row: 1, column: 2, value: "nan"),
        ]
        for explanation in errors.map(\.explanation) {
            #expect(!explanation.what.isEmpty && !explanation.remedy.isEmpty)
            #expect(explanation.place.hasPrefix("p") && explanation.status == .badData)
        }
        #expect(
            errors[5].explanation
                == Explanation(
                    what: "f needs 8 bytes, but only 2 are left", place: "p, byte 9",
                    remedy: "the file is damaged or incomplete; fetch it again and "
                        + "compare its SHA-256", status: .badData))
        #expect(
            errors[15].explanation.what
                == "tensor 't' has the element type IQ1_S, which Skein cannot read as a weight")
    }
}

import Testing

@testable import SkeinRows

@Suite("Arrays in cells")
struct RowJSONTests {
    @Test(
        "what is an array stays one, so that who reads the row says what is wrong with it",
        arguments: [
            (" [1, {\"a\": []}] \n", true), ("[NaN]", true), ("[\"\\ud800\"]", true), ("[]", true),
            ("[1,]", false), ("[1] 2", false), ("{}", false), ("", false), (" ", false),
            ("[\"\\x\"]", false), (String(repeating: "[", count: 513), false),
        ])
    func arrays(_ text: String, _ isArray: Bool) {
        #expect(Array(text.utf8).withUnsafeBufferPointer(RowJSON.isArray) == isArray)
    }
}

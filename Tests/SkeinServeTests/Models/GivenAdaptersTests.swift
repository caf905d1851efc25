import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What is checked of the names and adapters that a server is started with.
@Suite struct GivenAdaptersTests {
    @Test(
        "who gave a name that is taken or none hears where",
        arguments: [
            (ServeError.NameSource.base, "--name"), (.adapter, "--adapter"),
            (.followed, "--follow"), (.request, ""),
        ])
    func sources(source: ServeError.NameSource, place: String) {
        for error in [
            ServeError.nameTaken(name: "a", from: source), .badName(name: "\"a\"", from: source),
        ] {
            let explanation = error.explanation
            #expect(explanation.place == place)
            // Flags are mended where the server is started.
            #expect(explanation.status == (place.isEmpty ? .badData : .usage))
            #expect(!explanation.remedy.isEmpty)
        }
    }

    @Test("names and adapters of the start are checked without the base's weights")
    func given() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let model = try ModelDirectory.open(path)
            let zeros = String(repeating: "0", count: 64)
            let a = try ServeCase.writeAdapter(
                directory + "/a", model: model, seed: 1, rank: 9, base: zeros)
            func given(
                _ names: [String], _ path: String, rank: Int = 9, limit: Int = 1 << 20
            ) throws -> GivenAdapters {
                try GivenAdapters(
                    names.map { .init(name: $0, path: path) }, besides: ["tiny", "run"],
                    for: model, rank: rank, memory: AdapterMemory(byteLimit: limit))
            }
            for name in ["tiny", "run"] {
                #expect(throws: ServeError.nameTaken(name: name, from: .adapter)) {
                    try given([name], a)
                }
            }
            // Names come first: they cost nothing.
            let none = directory + "/none"
            #expect(throws: ServeError.nameTaken(name: "x", from: .adapter)) {
                try given(["x", "x"], none)
            }
            #expect(throws: ServeError.badName(name: "\"x@y\"", from: .adapter)) {
                try given(["x@y"], none)
            }
            #expect(throws: FormatError.notFound(path: none)) { try given(["x"], none) }
            #expect(throws: AdapterMemoryError.rankTooLarge(adapter: a, rank: 9, limit: 8)) {
                try given(["x"], a, rank: 8)
            }
            let good = try given(["x", "y"], a)
            #expect(good.adapters.map(\.name) == ["x", "y"])
            let bytes = GenerationProjections.byteCount(
                of: try #require(good.adapters.first).adapter.adapter.parameters.shape)
            #expect(
                throws: ServeError.givenTooLarge(
                    adapter: a, bytes: 2 * bytes, limit: 2 * bytes - 1)
            ) {
                try given(["x", "y"], a, limit: 2 * bytes - 1)
            }
            _ = try given(["x", "y"], a, limit: 2 * bytes)
            #expect(throws: AdapterError.self) { try good.check(base: SHA256.digest(of: "other")) }

            var other = TinyModel()
            other.layerCount += 1
            try other.writeGGUF(to: directory + "/other.gguf")
            let unfit = try ServeCase.writeAdapter(
                directory + "/unfit", model: ModelDirectory.open(directory + "/other.gguf"), seed: 1
            )
            #expect(throws: (any Error).self) { try given(["x"], unfit) }
        }
    }
}

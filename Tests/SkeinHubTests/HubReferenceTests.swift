import Foundation
import SkeinHub
import Testing

@Suite("references to models of the Hub")
struct HubReferenceTests {
    @Test("a reference has an organization, a name, a revision and a file")
    func parts() {
        #expect(
            HubReference("Org/Na.me-1") == HubReference(organization: "Org", name: "Na.me-1"))
        #expect(
            HubReference("o/n@refs/pr/1:q/a.gguf")
                == HubReference(
                    organization: "o", name: "n", revision: "refs/pr/1", file: "q/a.gguf"))
        #expect(HubReference("o/n@v1.0:a.gguf")?.text == "o/n@v1.0:a.gguf")
        #expect(HubReference("o/n@main")?.text == "o/n")
    }

    @Test(
        "what leads elsewhere, or is a path, is no reference",
        arguments: [
            "", "/", "o", "o/", "/n", "o/n/m", "../n", "o/..", "./n", "o/n@", "o/n:", "o/n@..",
            "o/n@/a", "o/n@a//b", "o/n@.a", "o/n:../a.gguf", "o/n:/a.gguf", "o/n:a//b.gguf",
            "o/n:a\\b.gguf", "o/n:a\0.gguf", "o/n:a\u{9b}1m.gguf", "o/n:a\u{202e}b.gguf", "o--p/n",
            "-o/n", "o/n.", "o/n m", "o/n?x", "o/n#x",
            "models/tiny.gguf", "o/\u{e9}", String(repeating: "a", count: 97) + "/n",
        ])
    func refused(_ text: String) {
        #expect(HubReference(text) == nil)
    }

    @Test("where a run keeps its adapter is a path, unless a model is wanted")
    func runs() {
        #expect(HubInput.reference("run/adapter", as: .adapter) == nil)
        #expect(HubInput.reference("run/adapter@main:a.gguf", as: .adapter) == nil)
        #expect(HubInput.reference("run/adapter", as: .model) != nil)
        #expect(HubInput.reference("o/lora", as: .adapter)?.name == "lora")
    }

    @Test("a mistyped adapter in a folder that is here is a path, and downloads nothing")
    func mistyped() throws {
        // Names of the Hub are no absolute paths: the folder is one of the working directory.
        let here = FileManager.default.currentDirectoryPath
        let folder = try #require(
            try FileManager.default.contentsOfDirectory(atPath: here).sorted().first {
                HubReference($0 + "/adpater") != nil
            })
        #expect(HubInput.reference(folder + "/adpater", as: .adapter) == nil)
        #expect(HubInput.reference(folder + "/adpater", as: .model) != nil)
        #expect(HubInput.reference(folder + "/adpater@main", as: .adapter) != nil)
        #expect(HubInput.reference("none-\(folder)/adpater", as: .adapter) != nil)
    }
}

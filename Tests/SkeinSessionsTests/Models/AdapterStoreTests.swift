import Foundation
import SkeinBasics
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinSessions

@Suite("The adapter store")
struct AdapterStoreTests {
    @Test(
        "The newest compatible version comes first; removing removes exactly those for other bases")
    func store() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let tiny = try SessionCase(in: directory)
            let own = tiny.directoryModel.contentDigest().description
            let other = String(repeating: "0", count: 64)
            for (name, base) in [
                ("fmadapter-tone-2", own), ("fmadapter-tone-10", own), ("fmadapter-tone-11", other),
                ("fmadapter-free-1", nil), ("fmadapter-gone-1", other),
            ] as [(String, String?)] {
                _ = try tiny.writeAdapter("store/" + name, seed: 1, base: base)
            }
            try FileManager.default.createDirectory(
                atPath: directory + "/store/notes", withIntermediateDirectories: true)
            let store = AdapterStore(environment: [
                "SKEIN_ADAPTERS": directory + "/store", "SKEIN_MODEL": tiny.path,
            ])
            #expect(
                try store.compatible("tone").map(\.identifier)
                    == ["fmadapter-tone-10", "fmadapter-tone-2"])
            #expect(try store.compatible("free").count == 1)
            #expect(try store.compatible("gone").isEmpty)
            #expect(try store.absence(of: "gone").contains(other))
            #expect(try store.absence(of: "gone").contains(own))
            #expect(try store.absence(of: "nobody").contains("tone"))
            try store.removeObsolete()
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory + "/store").sorted()
                    == ["fmadapter-free-1", "fmadapter-tone-10", "fmadapter-tone-2", "notes"])
        }
    }

    @Test("A store that cannot be listed is an error; adapters that cannot be used are named")
    func unusable() async throws {
        typealias AssetError = SystemLanguageModel.Adapter.AssetError
        try await TestPaths.inTemporaryDirectory { directory in
            let tiny = try SessionCase(in: directory)
            func store(_ folder: String) -> AdapterStore {
                AdapterStore(environment: ["SKEIN_ADAPTERS": folder, "SKEIN_MODEL": tiny.path])
            }
            for none in [directory + "/none", tiny.path + "/adapters"] {
                #expect(try store(none).items().isEmpty)
            }
            #expect {
                try store(tiny.path).compatible("tone")
            } throws: { error in
                guard case AssetError.compatibleAdapterNotFound(let context)? = error as? AssetError
                else { return false }
                return context.debugDescription.contains("cannot list")
                    && context.debugDescription.contains("SKEIN_ADAPTERS")
            }
            for version in 1...2 {
                let url = try tiny.writeAdapter("store/fmadapter-tone-\(version)", seed: 1)
                try Data("x".utf8).write(to: url.appending(path: "adapter_model.safetensors"))
            }
            let damaged = store(directory + "/store")
            #expect(try damaged.compatible("tone").isEmpty)
            #expect(try damaged.absence(of: "tone").hasPrefix("fmadapter-tone-2 cannot be used: "))
        }
    }

    @Test(
        "One that the system does not let be read hides only those that are older",
        arguments: [EACCES, EMFILE, EIO])
    func unreadable(code: Int32) async throws {
        typealias AssetError = SystemLanguageModel.Adapter.AssetError
        try await TestPaths.inTemporaryDirectory { directory in
            let tiny = try SessionCase(in: directory)
            let store = AdapterStore(environment: [
                "SKEIN_ADAPTERS": directory + "/store", "SKEIN_MODEL": tiny.path,
            ])
            for version in 1...3 {
                _ = try tiny.writeAdapter("store/fmadapter-tone-\(version)", seed: 1)
            }
            func compatible(without version: Int, code: Int32) throws -> [String] {
                try store.compatible("tone") { path in
                    guard path.hasSuffix("-\(version)") else { return nil }
                    throw FileError.failed(operation: "open", path: path, code: code)
                }.map(\.version)
            }
            #expect(try compatible(without: 1, code: code) == ["3", "2"])
            // The newest may well be the one that fits; what is not there, or leads in a circle, does not.
            #expect {
                try compatible(without: 3, code: code)
            } throws: { error in
                guard case AssetError.invalidAsset(let context)? = error as? AssetError else {
                    return false
                }
                return context.debugDescription.contains("fmadapter-tone-3")
            }
            for damage in [ENOENT, ELOOP] {
                #expect(try compatible(without: 3, code: damage) == ["2", "1"])
            }
        }
    }

    @Test("Names are letters, digits and underscores")
    func names() {
        let store = AdapterStore(environment: ["SKEIN_ADAPTERS": "/none"])
        for name in ["", "a-b", "../x", "a b", "ü", String(repeating: "a", count: 129)] {
            #expect(throws: SystemLanguageModel.Adapter.AssetError.self) { try store.check(name) }
        }
        #expect(throws: Never.self) { try store.check("tone_2") }
    }

    @Test("What the creator wrote is read")
    func metadata() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let tiny = try SessionCase(in: directory)
            let url = try tiny.writeAdapter("a", seed: 1)
            #expect(try SystemLanguageModel.Adapter(fileURL: url).creatorDefinedMetadata.isEmpty)
            try Data(#"{"creatorDefined": {"tone": "warm", "number": 3}}"#.utf8).write(
                to: url.appending(path: "metadata.json"))
            let metadata = try SystemLanguageModel.Adapter(fileURL: url).creatorDefinedMetadata
            #expect(metadata["tone"] as? String == "warm")
            #expect(metadata["number"] as? Int == 3)
        }
    }
}

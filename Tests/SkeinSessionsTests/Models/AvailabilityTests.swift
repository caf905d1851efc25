import Foundation
import Observation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinSessions

@Suite("Where models are")
struct AvailabilityTests {
    @Test("The configured model is SKEIN_MODEL, else what the configuration's file names or is")
    func configured() throws {
        try TestPaths.withTemporaryDirectory { directory in
            func path(_ environment: [String: String]) throws -> String {
                try ModelPlace.configured.path(
                    environment: environment.merging(["HOME": directory]) { first, _ in first })
            }
            #expect(try path(["SKEIN_MODEL": "/models/a.gguf"]) == "/models/a.gguf")
            #expect(throws: ModelFlaw.notConfigured(place: directory + "/.config/skein/model")) {
                try path([:])
            }
            let folder = directory + "/.config/skein"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try Data("/models/b.gguf\n".utf8).write(to: URL(filePath: folder + "/model"))
            #expect(try path([:]) == "/models/b.gguf")
            try Data("~/c.gguf".utf8).write(to: URL(filePath: folder + "/model"))
            #expect(try path([:]) == directory + "/c.gguf")
            try Data("\u{FEFF}/models/e.gguf\r\n".utf8).write(
                to: URL(filePath: folder + "/model"))
            #expect(try path([:]) == "/models/e.gguf")
            try Data("\n \n".utf8).write(to: URL(filePath: folder + "/model"))
            #expect(throws: ModelFlaw.badConfiguration(place: folder + "/model")) { try path([:]) }
            try FileManager.default.removeItem(atPath: folder + "/model")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/model", withDestinationPath: "/models/d.gguf")
            #expect(try path([:]) == folder + "/model")
            // A folder that cannot be searched may well name a model.
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createSymbolicLink(
                atPath: folder, withDestinationPath: folder)
            let error = FileError.failed(
                operation: "look at", path: folder + "/model", code: ELOOP)
            #expect(throws: ModelFlaw.unreadable(error)) { try path([:]) }
            #expect(ModelFlaw.unreadable(error).explanation.remedy.contains("SKEIN_MODEL"))
        }
    }

    @Test("A model that comes, is loaded and goes is seen without a restart")
    func comesAndGoes() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let model = SystemLanguageModel(model: URL(filePath: directory + "/tiny.gguf"))
            #expect(model.availability == .unavailable(.modelNotReady))
            #expect(!model.isAvailable)
            var updates = model.availabilityUpdates.makeAsyncIterator()
            #expect(await updates.next(isolation: nil) == .unavailable(.modelNotReady))
            _ = try SessionCase(in: directory)
            #expect(await updates.next(isolation: nil) == .available)
            #expect(model.isAvailable)
        }
    }

    @Test("Observers hear that the files come and go, and of what the files say")
    func observed() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let model = SystemLanguageModel(model: URL(filePath: directory + "/tiny.gguf"))
            /// Counts what is heard; observers are told once, as of all observed values.
            func observe<Value: Equatable>(
                _ value: @escaping @autoclosure () -> Value, expecting expected: Value
            ) -> Heard {
                let heard = Heard()
                let now = withObservationTracking(value) { heard.tell() }
                #expect(now == expected)
                return heard
            }
            let isThere = observe(model.isAvailable, expecting: false)
            let context = observe(model.contextSize, expecting: 4096)
            // All are told when any model of this process is loaded, as other tests do meanwhile.
            #expect(!AvailabilityNews.shared.look().contains { $0 === model })
            _ = try SessionCase(in: directory, context: 512)
            AvailabilityNews.shared.look()
            #expect(isThere.isTold && context.isTold)
            #expect(model.contextSize == 512)
            let isGone = observe(model.availability, expecting: .available)
            try FileManager.default.removeItem(atPath: directory + "/tiny.gguf")
            // Another reader saw the change before the observers were told.
            #expect(!model.isAvailable)
            AvailabilityNews.shared.look()
            #expect(isGone.isTold)
        }
    }

    @Test("Observers hear within a second, without being asked to look")
    func heard() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let model = SystemLanguageModel(model: URL(filePath: directory + "/tiny.gguf"))
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            _ = withObservationTracking {
                model.availability
            } onChange: {
                continuation.yield()
            }
            _ = try SessionCase(in: directory)
            for await _ in changes { break }
            #expect(model.isAvailable)
        }
    }

    @Test("Languages are those that the files name")
    func languages() {
        func languages(_ text: String) -> [String] { ModelFiles.languages(ofCard: text) }
        #expect(
            languages("---\nlicense: mit\nlanguage:\n- en\n- \"de\"\ntags: [x]\n---\nHi") == [
                "en", "de",
            ])
        #expect(languages("---\nlanguage: [fr, pt-BR]\n---") == ["fr", "pt-BR"])
        #expect(languages("---\nlanguage: multilingual\n---").isEmpty)
        #expect(languages("# No card\nlanguage: en").isEmpty)
    }
}

/// Whether an observer was told.
private final class Heard: Sendable {
    private let told = Atomic<Bool>(false)

    var isTold: Bool { told.load(ordering: .acquiring) }

    func tell() { told.store(true, ordering: .releasing) }
}

import Foundation
import SkeinSessions
import SkeinTestSupport
import Testing

/// What `Scripts/check-generable` does with 100 random types, for those of `MacroTypes`: whatever a model
/// of random weights would rather say, the reply is a value, or the error is the stated one.
@Suite("Replies of generable types from random weights")
struct MacroReplyTests {
    private typealias GenerationError = LanguageModelSession.GenerationError

    /// What the runs differ in; a hot one draws nearly evenly from all tokens.
    private func options(_ run: UInt64) -> GenerationOptions {
        let limits = [200, 24, 60, 8]
        return GenerationOptions(
            samplingMode: run % 3 == 0
                ? .greedy : .random(probabilityThreshold: 1, seed: run),
            temperature: run % 3 == 2 ? 100 : nil,
            maximumResponseTokens: limits[Int(run / 2) % 4], closesAtLimit: run % 2 == 0)
    }

    private func check<Value: Generable>(
        _ type: Value.Type, _ model: SystemLanguageModel, _ check: (Value) -> Bool
    ) async throws {
        var values = 0
        for run in 0..<24 as Range<UInt64> {
            let options = options(run)
            do {
                let reply = try await LanguageModelSession(model: model).respond(
                    to: "q", generating: type, options: options)
                values += 1
                let text = reply.rawContent.jsonString
                #expect(check(reply.content), "\(type), run \(run): \(text)")
                // Contents, since each `GenerationID` is another one.
                let again = try type.init(GeneratedContent(json: text)).generatedContent
                #expect(again == reply.rawContent, "\(type), run \(run)")
                #expect(reply.content.generatedContent == again, "\(type), run \(run)")
                #expect(options.closesAtLimit || !reply.wasClosedEarly, "run \(run)")
            } catch GenerationError.exceededContextWindowSize(let context) {
                // Cut at the limit, or not even the shortest value fits.
                let count = try #require(context.count)
                let limit = try #require(context.limit)
                #expect(options.closesAtLimit ? count > limit : true, "\(type), run \(run)")
            }
        }
        #expect(values >= 6, "\(type)")
    }

    @Test("Structs, enums with and without values, recursion and explicit nil")
    func replies() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let model = try SessionCase(in: directory).model()
            try await check(MacroTypes.Cat.self, model, Self.isCat)
            try await check(MacroTypes.Colour.self, model) { _ in true }
            try await check(MacroTypes.Drawing.self, model, Self.isDrawing)
            try await check(MacroTypes.Tree.self, model) { _ in true }
            try await check(MacroTypes.Explicit.self, model) {
                $0.c?.allSatisfy(Self.isCat) ?? true
            }
            try await check(NamedTypes.Words.self, model) {
                ([$0.first] + ($0.second.map { [$0] } ?? [])).allSatisfy {
                    $0.wholeMatch(of: NamedTypes.word) != nil
                }
            }
        }
    }

    private static func isCat(_ cat: MacroTypes.Cat) -> Bool {
        cat.name.wholeMatch(of: /[A-Z][a-z]+/) != nil && (0...30).contains(cat.age)
            && cat.mood.map(MacroTypes.moods.contains) ?? true
            && (1...4).contains(cat.scores.count) && cat.scores.allSatisfy { $0 >= 0 }
    }

    private static func isDrawing(_ drawing: MacroTypes.Drawing) -> Bool {
        switch drawing {
        case .nothing, .circle, .pair: true
        case .group(let drawings, let first):
            drawings.allSatisfy(isDrawing) && first.map(isDrawing) ?? true
        case .cat(let cat): isCat(cat)
        }
    }
}

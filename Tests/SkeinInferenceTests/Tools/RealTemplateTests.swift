import Foundation
import SkeinJSON
import SkeinText
import Testing

@testable import SkeinInference

/// Published templates, which Scripts/check-templates fetches; they are not part of this repository.
@Suite(.enabled(if: RealTemplates.path != nil, "needs SKEIN_TEST_TEMPLATES"))
struct RealTemplateTests {
    private static func templates() throws -> [String: String] {
        let path = try #require(RealTemplates.path)
        let file = try JSONValue(parsing: Data(contentsOf: URL(fileURLWithPath: path)))
        guard case .list(let list)? = file["templates"] else { return [:] }
        var found: [String: String] = [:]
        for entry in list {
            guard let name = entry["name"]?.string else { continue }
            found[String(name.dropLast(".jinja".count))] = entry["template"]?.string
        }
        return found
    }

    private static let tokens = TemplateTokens(begin: "<s>", end: "</s>")

    private static let formats: [(name: String, format: ToolFormat)] = {
        var nemo = ToolFormat.mistral
        nemo.afterMarker = "["
        return [
            ("Qwen-Qwen2.5-7B-Instruct", .hermes), ("Qwen-Qwen3-0.6B", .hermes),
            ("Qwen-QwQ-32B", .hermes), ("qwen3_instruct_2507", .hermes),
            ("NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", .hermes),
            ("NousResearch-Hermes-3-Llama-3.1-8B-tool_use", .hermes),
            ("ibm-granite-granite-4.0", .hermes), ("ibm-granite-granite-4.1", .hermes),
            ("meta-llama-Llama-3.1-8B-Instruct", .llama),
            ("meta-llama-Llama-3.2-3B-Instruct", .llama),
            ("meta-llama-Llama-3.3-70B-Instruct", .llama),
            ("mistralai-Mistral-Nemo-Instruct-2407", nemo),
            ("ibm-granite-granite-3.3-2B-Instruct", .granite),
            ("HuggingFaceTB-SmolLM3-3B", .described),
            ("Qwen3-Coder", .described), ("GLM-4.6", .described), ("gemma3", .described),
            ("Mistral-Small-3.2-24B-Instruct-2506", .described),
            ("google-gemma-2-2b-it", .described(takesSystem: false)),
            ("phi3", .described),
        ]
    }()

    @Test("the families' own templates have the formats that they are known for")
    func detection() throws {
        let templates = try Self.templates()
        for (name, format) in Self.formats {
            guard let template = templates[name] else { continue }
            #expect(ToolFormat(template: template, tokens: Self.tokens) == format, "\(name)")
        }
    }

    @Test(
        "every template renders a loop of two turns, or nothing at all"
    )
    func loops() throws {
        var rendered = 0
        for (name, source) in try Self.templates() {
            guard let template = try? ChatTemplate(source: source, name: name) else { continue }
            let preparation = ConversationPreparation(template, tokens: Self.tokens, ends: [])
            let format = preparation.format
            let (messages, tools) = try preparation.prepared(
                try TestTools.conversation(calls: format.callNext == nil ? 1 : 2),
                tools: .list(try TestTools.all.map(\.definition)), for: .answer)
            // Those that see pictures take lists of parts.
            if RealTemplates.ofParts.contains(where: name.hasPrefix) { continue }
            let text = try? template.render(
                messages.map(\.message), addGenerationPrompt: true, tokens: Self.tokens,
                tools: tools
            ).text
            guard let text else {
                // It refuses any conversation, or needs other variables.
                let plain = [ChatMessage(role: "user", content: "q")]
                #expect(throws: (any Error).self, "\(name)") {
                    try template.render(plain, addGenerationPrompt: true, tokens: Self.tokens)
                }
                continue
            }
            rendered += 1
            for part in ["Weather in Oslo?", "get_weather", "rain", "It rains.", "And Rome?"] {
                #expect(text.contains(part), "\(name): \(part)")
            }
            if case .template = format.showing { continue }
            #expect(text.contains(#"{"name": "get_weather", "#), "\(name)")
        }
        #expect(rendered > 0)
    }
}

private enum RealTemplates {
    static let path = ProcessInfo.processInfo.environment["SKEIN_TEST_TEMPLATES"]
    static let ofParts = ["idefics3", "smolvlm", "llava_next"]
}

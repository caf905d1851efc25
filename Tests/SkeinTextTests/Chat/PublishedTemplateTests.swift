import Foundation
import SkeinJSON
import Testing

@testable import SkeinText

/// What Jinja2, set up by transformers, makes of published templates. Others' templates are not
/// part of this repository: Scripts/check-templates fetches them and makes the file.
@Suite(.enabled(if: PublishedTemplates.path != nil, "needs SKEIN_TEST_TEMPLATES"))
struct PublishedTemplateTests {
    struct Published {
        let name: String
        let template: ChatTemplate
        let cases: [JSONValue]
    }

    private static func file() throws -> JSONValue {
        let data = try Data(contentsOf: URL(fileURLWithPath: try #require(PublishedTemplates.path)))
        return try JSONValue(parsing: data)
    }

    private static func published() throws -> [Published] {
        try file()[key: "templates"].items.map { entry in
            let name = try #require(entry[key: "name"].string)
            return Published(
                name: name,
                template: try ChatTemplate(
                    source: try #require(entry[key: "template"].string), name: name),
                cases: entry[key: "cases"].items)
        }
    }

    private static let tokens = TemplateTokens(begin: "<s>", end: "</s>")

    private func render(
        _ template: ChatTemplate, _ given: JSONValue, messages: Int? = nil, prompt: Bool
    ) throws -> RenderedChat {
        let all = given[key: "messages"].items.map { ChatMessage(fields: $0.fields ?? []) }
        let extra = ["pad_token": "<pad>", "unk_token": "<unk>"].map {
            JSONField(name: $0.key, value: .text($0.value))
        }
        return try template.render(
            Array(all.prefix(messages ?? all.count)), addGenerationPrompt: prompt,
            tokens: Self.tokens, tools: given[key: "tools"] == .null ? nil : given[key: "tools"],
            arguments: extra + (given[key: "arguments"].fields ?? []))
    }

    @Test("a published template writes what it writes in transformers, or refuses with it")
    func texts() throws {
        var names: [String] = []
        for published in try Self.published() {
            for given in published.cases {
                let place: Comment =
                    "\(published.name): \(given[key: "kind"]), \(given[key: "prompt"])"
                do {
                    let chat = try render(
                        published.template, given, prompt: given[key: "prompt"] == .bool(true))
                    #expect(chat.text == given[key: "text"].string, place)
                    let generated = given[key: "generated"].items.map(\.items)
                    let joined = chat.generated.map { [$0.lowerBound, $0.upperBound] }
                    #expect(joined == Self.joined(generated), place)
                } catch {
                    #expect(given[key: "text"] == .null, "\(place): \(error)")
                }
            }
            names.append(published.name)
        }
        // The script may be given a few templates of one's own.
        if names.count > 50 {
            let missing = Self.names.filter { !names.contains("\($0).jinja") }
            #expect(missing.isEmpty)
        }
        #expect(!names.isEmpty)
    }

    @Test("a built-in template writes what the template of its family writes")
    func builtIn() throws {
        for published in try Self.published() {
            let name = String(published.name.dropLast(".jinja".count))
            guard let source = BuiltInTemplate.source(of: name) else { continue }
            let template = try ChatTemplate(source: source, name: name)
            for given in published.cases {
                let place: Comment = "\(name): \(given[key: "kind"]), \(given[key: "prompt"])"
                let chat = try? render(template, given, prompt: given[key: "prompt"] == .bool(true))
                #expect(chat?.text == given[key: "text"].string, place)
            }
        }
    }

    /// Adjacent stretches as one, empty ones left out.
    private static func joined(_ stretches: [[JSONValue]]) -> [[Int]] {
        var result: [[Int]] = []
        for stretch in stretches {
            guard let start = stretch[0].integer, let end = stretch[1].integer, start < end
            else { continue }
            if result.last?[1] == start {
                result[result.count - 1][1] = end
            } else {
                result.append([start, end])
            }
        }
        return result
    }

    @Test("every assistant's turn is trained as what the model would have said")
    func turns() throws {
        let ends = try Self.file()[key: "ends"].items.compactMap {
            $0.string.map { Array($0.utf8) }
        }
        var turns = 0
        for published in try Self.published() {
            for given in published.cases where given[key: "trained"] != .null {
                let messages = given[key: "messages"].items
                let assistants = messages.indices.filter {
                    messages[$0][key: "role"] == .text("assistant")
                }
                guard
                    let sequences = try? ChatSequence.sequences(
                        assistants: assistants, trained: Set(assistants), count: messages.count,
                        ends: ends,
                        render: {
                            try render(published.template, given, messages: $0, prompt: $1)
                        })
                else { continue }
                for expected in given[key: "trained"].items {
                    let place: Comment = "\(published.name): \(given[key: "kind"]), \(expected)"
                    let found = sequences.flatMap { sequence in
                        sequence.turns.filter {
                            $0.isTrained && .integer($0.message) == expected[key: "message"]
                        }.map { (sequence, $0) }
                    }
                    guard found.count == 1, let (sequence, turn) = found.first else {
                        Issue.record("\(place): trained \(found.count) times")
                        continue
                    }
                    turns += 1
                    let before = String(
                        decoding: sequence.text[..<turn.said.lowerBound], as: UTF8.self)
                    let said = String(decoding: sequence.text[turn.said], as: UTF8.self)
                    let end = expected[key: "end"].string ?? ""
                    if turn.isComplete {
                        // The template's author decided where the turn begins and ends.
                        let whole =
                            (expected[key: "prompt"].string ?? "")
                            + (expected[key: "said"].string ?? "")
                        #expect((before + said).hasPrefix(whole), place)
                    } else {
                        #expect(before == expected[key: "prompt"].string, place)
                        #expect(said == expected[key: "said"].string, place)
                        let after = sequence.text[turn.said.upperBound...]
                        #expect(after.starts(with: end.utf8), place)
                    }
                }
            }
        }
        #expect(turns > 0)
    }
}

private enum PublishedTemplates {
    static let path = ProcessInfo.processInfo.environment["SKEIN_TEST_TEMPLATES"]
}

extension JSONValue {
    fileprivate subscript(key name: String) -> JSONValue { self[name] ?? .null }

    fileprivate var items: [JSONValue] { list ?? [] }
}

extension PublishedTemplateTests {
    /// The templates of trl 1.16.0 and of llama.cpp (in llama-cpp-python 0.3.36).
    static let names: [Substring] = """
        Apertus-8B-Instruct Apriel-1.6-15b-Thinker-fixed Bielik-11B-v3.0-Instruct ByteDance-Seed-OSS
        Cohere2MoE CohereForAI-c4ai-command-r-plus-tool_use
        CohereForAI-c4ai-command-r7b-12-2024-tool_use GLM-4.6 GLM-4.7-Flash GigaChat3-10B-A1.8B
        GigaChat3.1-10B-A1.8B HuggingFaceTB-SmolLM3-3B Kimi-K2-Instruct Kimi-K2-Thinking Kimi-K3
        LFM2-8B-A1B LFM2.5-8B-A1B LFM2.5-Instruct MiMo-VL MiniMax-M1 MiniMax-M2 MiniMax-M3
        Mistral-Small-3.2-24B-Instruct-2506 NVIDIA-Nemotron-3-Nano-30B-A3B-BF16
        NVIDIA-Nemotron-Nano-v2 NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use
        NousResearch-Hermes-3-Llama-3.1-8B-tool_use Qwen-QwQ-32B Qwen-Qwen2.5-7B-Instruct
        Qwen-Qwen3-0.6B Qwen3-Coder Qwen3.5-4B Reka-Edge Spark2.5 StepFun3.5-Flash cohere cohere2
        cohere2_training cohere_training deepseek-ai-DeepSeek-R1-Distill-Llama-8B
        deepseek-ai-DeepSeek-R1-Distill-Qwen-32B deepseek-ai-DeepSeek-V3.1 deepseek-ai-DeepSeek-V3.2
        deepseek-ai-DeepSeek-V4 deepseek-ai-DeepSeek-V4-Flash-0731 deepseek_r1_distill
        deepseek_r1_distill_training deepseekv3 deepseekv3_training diffusion_gemma
        diffusion_gemma_training fireworks-ai-llama-3-firefunction-v2 gemma gemma3 gemma3_training
        gemma4 gemma4_v2 gemma4_v3 gemma4_v4 gemma4_v5 gemma_training glm4moe glm4moe_training
        google-gemma-2-2b-it google-gemma-4-31B-it google-gemma-4-31B-it-interleaved gptoss
        gptoss_training ibm-granite-granite-3.3-2B-Instruct ibm-granite-granite-4.0
        ibm-granite-granite-4.1 idefics3 idefics3_training inclusionai-ling-3.0-flash lfm2 lfm2_2_5
        lfm2_2_5_v2 lfm2_2_5_vl lfm2_training lfm2_v2 lfm2_v2_training llama-cpp-deepseek-r1
        llama-cpp-rwkv-world llama3 llama3_1 llama3_2 llama3_training llava_next llava_next_training
        meetkai-functionary-medium-v3.1 meetkai-functionary-medium-v3.2
        meta-llama-Llama-3.1-8B-Instruct meta-llama-Llama-3.2-3B-Instruct
        meta-llama-Llama-3.3-70B-Instruct microsoft-Phi-3.5-mini-instruct
        mistralai-Ministral-3-14B-Reasoning-2512 mistralai-Mistral-Nemo-Instruct-2407
        moonshotai-Kimi-K2 muse-glimmer muse_glimmer muse_glimmer_training nemotron_3_5_lightning
        nemotron_3_5_lightning_training nemotron_3_nano nemotron_3_nano_training nemotron_3_super
        nemotron_3_super_training nemotron_3_ultra nemotron_3_ultra_training openai-gpt-oss-120b
        openbmb-MiniCPM5-1B phi3 phi3_5 phi3_5_training phi3_training poolside-Laguna-S-2.1
        poolside-Laguna-XS-2.1 poolside-Laguna-XS.2 qwen2_5 qwen2_5_training qwen2_5_vl
        qwen2_5_vl_training qwen3 qwen3_5_nothink qwen3_5_nothink_training qwen3_5_think
        qwen3_5_think_training qwen3_6 qwen3_6_training qwen3_8 qwen3_8_training qwen3_instruct_2507
        qwen3_instruct_2507_training qwen3_training qwen3_vl qwen3_vl_training smolvlm
        smolvlm_training tencent-Hy3 unsloth-Apriel-1.5 unsloth-mistral-Devstral-Small-2507
        upstage-Solar-Open-100B
        """.split { $0.isWhitespace }
}

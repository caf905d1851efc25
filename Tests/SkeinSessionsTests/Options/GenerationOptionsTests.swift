import Foundation
import SkeinSessions
import Testing

@Suite("Options of a request")
struct GenerationOptionsTests {
    @Test("Options without anything and with one value are the new ones")
    func resolving() {
        #expect(GenerationOptions() == GenerationOptions(samplingMode: nil))
        #expect(GenerationOptions(temperature: 2.0).temperature == 2)
        #expect(GenerationOptions(maximumResponseTokens: 100).maximumResponseTokens == 100)
        #expect(GenerationOptions(samplingMode: .greedy).samplingMode == .greedy)
        #expect(!GenerationOptions().closesAtLimit)
    }

    static let allowed: [GenerationOptions] = [
        GenerationOptions(), GenerationOptions(temperature: 0), GenerationOptions(temperature: 2),
        GenerationOptions(temperature: 100), GenerationOptions(maximumResponseTokens: 1),
        GenerationOptions(samplingMode: .random(top: 1)),
        GenerationOptions(samplingMode: .random(probabilityThreshold: 1)),
        GenerationOptions(samplingMode: .random(probabilityThreshold: 1e-9, seed: 3)),
    ]

    @Test("Values within their ranges are allowed", arguments: allowed)
    func allowance(options: GenerationOptions) throws {
        try options.check()
    }

    static let refused: [(GenerationOptions, OptionsError)] = [
        (GenerationOptions(temperature: -0.1), .temperature(-0.1)),
        (GenerationOptions(temperature: 100.5), .temperature(100.5)),
        (GenerationOptions(temperature: .infinity), .temperature(.infinity)),
        (GenerationOptions(samplingMode: .random(top: 0)), .top(0)),
        (GenerationOptions(samplingMode: .random(top: -1)), .top(-1)),
        (
            GenerationOptions(samplingMode: .random(probabilityThreshold: 0)),
            .probabilityThreshold(0)
        ),
        (
            GenerationOptions(samplingMode: .random(probabilityThreshold: 1.01)),
            .probabilityThreshold(1.01)
        ),
        (GenerationOptions(maximumResponseTokens: 0), .maximumResponseTokens(0)),
        (GenerationOptions(maximumResponseTokens: -5), .maximumResponseTokens(-5)),
    ]

    @Test("Values out of their ranges are errors that name the value and the remedy")
    func refusal() throws {
        for (options, error) in Self.refused {
            #expect(throws: error) { try options.check() }
            #expect(throws: error) { try JSONEncoder().encode(options) }
        }
        for value in [Double.nan, -.nan, -.infinity] {
            #expect(throws: OptionsError.self) {
                try GenerationOptions(temperature: value).check()
            }
            let mode = GenerationOptions.SamplingMode.random(probabilityThreshold: value)
            #expect(throws: OptionsError.self) {
                try GenerationOptions(samplingMode: mode).check()
            }
        }
        let error = OptionsError.maximumResponseTokens(0)
        #expect(error.errorDescription == "GenerationOptions: maximumResponseTokens is 0")
        #expect(error.recoverySuggestion == "give 1 or more, or nil for no limit of its own")
    }

    @Test("Greedy is a mode and a temperature of 0")
    func greedy() {
        #expect(GenerationOptions(samplingMode: .greedy).isGreedy)
        #expect(GenerationOptions(temperature: 0).isGreedy)
        #expect(!GenerationOptions().isGreedy)
        #expect(!GenerationOptions(samplingMode: .random(top: 1), temperature: 1).isGreedy)
    }

    static let coded: [(GenerationOptions, String)] = [
        (GenerationOptions(), "{}"),
        (GenerationOptions(temperature: 0.5), #"{"temperature":0.5}"#),
        (
            GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 7),
            #"{"maximumResponseTokens":7,"samplingMode":{"type":"greedy"}}"#
        ),
        (
            GenerationOptions(samplingMode: .random(top: 50, seed: 18_446_744_073_709_551_615)),
            #"{"samplingMode":{"seed":18446744073709551615,"top":50,"type":"random"}}"#
        ),
        (
            GenerationOptions(
                samplingMode: .random(probabilityThreshold: 0.9), toolCallingMode: .disallowed,
                closesAtLimit: true),
            #"{"closesAtLimit":true,"samplingMode":{"probabilityThreshold":0.9,"type":"random"},"#
                + #""toolCallingMode":"disallowed"}"#
        ),
    ]

    @Test("The coded form leaves out nil and reads back as the same")
    func coding() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for (options, text) in Self.coded {
            let data = try encoder.encode(options)
            #expect(String(decoding: data, as: UTF8.self) == text)
            #expect(try JSONDecoder().decode(GenerationOptions.self, from: data) == options)
        }
    }

    @Test(
        "What is no coded form is a typed error",
        arguments: [
            #"{"temprature":1}"#, #"{"temperature":"1"}"#, #"{"temperature":-1}"#, "[]",
            #"{"maximumResponseTokens":1.5}"#, #"{"maximumResponseTokens":0}"#,
            #"{"toolCallingMode":"sometimes"}"#, #"{"samplingMode":"greedy"}"#,
            #"{"samplingMode":{"type":"greedy","top":1}}"#, #"{"samplingMode":{"type":"beam"}}"#,
            #"{"samplingMode":{"type":"random","top":1,"probabilityThreshold":0.5}}"#,
            #"{"samplingMode":{"type":"random","top":0}}"#,
            #"{"samplingMode":{"type":"random","seed":-1}}"#, #"{"closesAtLimit":1}"#,
            #"{"samplingMode":{"type":"random","seed":18446744073709551616}}"#,
        ])
    func strictness(text: String) {
        #expect(throws: TranscriptError.self) {
            try JSONDecoder().decode(GenerationOptions.self, from: Data(text.utf8))
        }
    }

    @Test("The older spellings mean the same")
    func older() {
        (OlderOptions() as any OlderSpelling).check()
    }
}

/// Deprecated declarations are used without a warning by what is deprecated itself.
private protocol OlderSpelling { func check() }

private struct OlderOptions {}

extension OlderOptions: OlderSpelling {
    @available(*, deprecated)
    func check() {
        var options = GenerationOptions(sampling: .greedy, temperature: 0.1)
        #expect(options == GenerationOptions(samplingMode: .greedy, temperature: 0.1))
        #expect(GenerationOptions(sampling: .random(top: 3)).samplingMode == .random(top: 3))
        #expect(options.sampling == .greedy)
        options.sampling = nil
        #expect(options.samplingMode == nil)

        // The temperature of the old mode counts where there is none.
        #expect(GenerationOptions(sampling: .random(temperature: 0.3)).temperature == 0.3)
        let both = GenerationOptions(sampling: .random(temperature: 0.3), temperature: 0.9)
        #expect(both.temperature == 0.9)
        var late = GenerationOptions()
        late.samplingMode = .random(temperature: 0.4)
        #expect(late.temperature == 0.4)
        #expect(throws: OptionsError.temperature(-1)) {
            try GenerationOptions(samplingMode: .random(temperature: -1)).check()
        }
        #expect(!late.isGreedy)
    }
}

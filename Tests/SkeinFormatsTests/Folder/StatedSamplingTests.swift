import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

/// What a model's files say of how its tokens are picked.
@Suite struct StatedSamplingTests {
    private func folder(_ text: String) throws -> StatedSampling {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(Array(text.utf8), to: directory + "/generation_config.json")
            return StatedSampling(folder: directory)
        }
    }

    static let read: [(String, [Double?])] = [
        // Qwen2.5, Gemma 3, SmolLM2, and what save_pretrained writes of a model without one.
        (
            #"{"do_sample":true,"repetition_penalty":1.05,"temperature":0.7,"top_p":0.8,"top_k":20,"#
                + #""eos_token_id":[151645,151643],"transformers_version":"4.37.0"}"#,
            [0.7, 20, 0.8, nil, 1.05]
        ),
        (#"{"do_sample":true,"top_k":64,"top_p":0.95}"#, [1, 64, 0.95, nil, nil]),
        (#"{"bos_token_id":1,"eos_token_id":2}"#, [nil, nil, nil, nil, nil]),
        (#"{"temperature":null,"top_p":null,"do_sample":null}"#, [nil, nil, nil, nil, nil]),
        (#"{"do_sample":false,"temperature":0.6,"top_p":0.9}"#, [0, nil, 0.9, nil, nil]),
        (#"{"temperature":0.6,"min_p":0.05,"top_k":-1}"#, [0.6, 0, nil, 0.05, nil]),
        (#"{"temperature":0.6,"length_penalty":NaN}"#, [0.6, nil, nil, nil, nil]),
    ]

    @Test(
        "a folder's generation_config.json is read as vLLM and transformers read it",
        arguments: read)
    func folders(text: String, wanted: [Double?]) throws {
        let found = try folder(text)
        #expect(found.warning == nil)
        #expect(
            [
                found.temperature, found.topK.map(Double.init), found.topP, found.minP,
                found.repetitionPenalty,
            ] == wanted)
    }

    static let wrong: [(String, String)] = [
        (#"{"temperature":-1,"top_p":0.9}"#, "temperature"),
        (#"{"temperature":"0.7"}"#, "temperature"),
        (#"{"temperature":1e999}"#, "generation_config.json"), (#"{"top_p":0}"#, "top_p"),
        (#"{"temperature":NaN}"#, "generation_config.json"),
        (#"{"top_k":1.5}"#, "top_k"), (#"{"top_k":1e15}"#, "top_k"), (#"{"min_p":2}"#, "min_p"),
        (#"{"repetition_penalty":0}"#, "repetition_penalty"),
        (#"{"do_sample":"yes"}"#, "do_sample"),
        ("[]", "generation_config.json"), ("{", "generation_config.json"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "generation_config.json"),
        (#"{"x":""# + String(repeating: "a", count: 1 << 20) + #""}"#, "file size"),
    ]

    @Test("a file that is wrong is left alone as a whole, and named", arguments: wrong)
    func flaws(text: String, place: String) throws {
        let found = try folder(text)
        #expect(found.warning?.contains(place) == true, "\(found.warning ?? "no warning")")
        #expect(found.temperature == nil && found.topK == nil && found.topP == nil)
        #expect(found.minP == nil && found.repetitionPenalty == nil)
    }

    @Test("a model without such a file says nothing, and what stands there never stops it")
    func models() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            let plain = try ModelFiles.open(directory)
            #expect(plain.sampling.temperature == nil && plain.sampling.warning == nil)
            let path = directory + "/generation_config.json"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
            let odd = try ModelFiles.open(directory)
            #expect(odd.sampling.warning?.contains("generation_config.json") == true)
            // It is no part of the model: an adapter stays one of this base.
            #expect(odd.contentDigest() == plain.contentDigest())
        }
    }

    @Test("a GGUF file says it under the names that gguf-py writes")
    func gguf() {
        let found = StatedSampling(
            [
                "general.sampling.temp": .float(0.5), "general.sampling.top_k": .integer(20),
                "general.sampling.top_p": .float(0.75), "general.sampling.min_p": .float(0.125),
                "general.sampling.penalty_repeat": .float(1.25), "general.name": .string("x"),
            ], path: "m.gguf")
        #expect(found.warning == nil)
        #expect(found.temperature == 0.5 && found.topK == 20 && found.topP == 0.75)
        #expect(found.minP == 0.125 && found.repetitionPenalty == 1.25)
        for value in [GGUFValue.string("hot"), .float(.nan), .float(-1), .floats([1])] {
            let found = StatedSampling(["general.sampling.temp": value], path: "m.gguf")
            #expect(found.temperature == nil, "\(value)")
            #expect(found.warning?.contains("m.gguf") == true, "\(value)")
            #expect(found.warning?.contains("general.sampling.temp") == true, "\(value)")
        }
    }
}

import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinTraining

@Suite struct AdapterFormatsTests {
    /// A fourth format: PEFT's folder inside of another one.
    private struct Toy: AdapterFormat {
        let id = "toy"
        let name = "Toy"
        let form = AdapterForm.folder(weights: "toy.bin")
        let cannotHold: Set<AdapterPart> = [.magnitudes]
        let mayStoreSlices = false

        func read(
            _ path: String, for model: ModelDirectory, in store: any Store,
            admitting check: (AdapterOutline) throws -> Void
        ) throws -> AdapterFiles {
            try AdapterFiles.read(path + "/inner", in: store, admitting: check)
        }

        func map(_ path: String) throws -> AdapterFiles { try AdapterFiles.map(path + "/inner") }

        func write(
            _ export: AdapterExport, to path: String, blocks: AdapterTensorName.Blocks,
            in store: any Store
        ) throws {
            try PEFTAdapter().write(export, to: path + "/inner", blocks: blocks, in: store)
            try store.write("", to: path + "/toy.bin")
        }
    }

    @Test("each format is found by the files that are there")
    func found() throws {
        for (name, id) in [("peft", "peft"), ("mlx", "mlx"), ("llamacpp.adapter", "gguf")] {
            let path = LoadedAdapterTests.folder + "/" + name
            #expect(try AdapterFormats.standard.format(at: path).id == id)
        }
        #expect(AdapterFormats.standard.all.map(\.id) == ["peft", "mlx", "gguf"])
    }

    @Test("one more format is found, written and read by its own file and its place in the list")
    func registered() throws {
        let formats = AdapterFormats(AdapterFormats.standard.all + [Toy()])
        try LoadedAdapterTests.withModel { model in
            let source = try LoadedAdapter.read(
                LoadedAdapterTests.folder + "/peft", for: model, matching: ModulePatterns.matching)
            try TestPaths.withTemporaryDirectory { directory in
                let path = directory + "/toy"
                try AdapterExport(
                    source.parameters, source: source.configuration, model: model
                ).write(Toy(), to: path)
                let back = try LoadedAdapter.read(
                    path, for: model, matching: ModulePatterns.matching, formats: formats)
                #expect(back.format.id == "toy")
                #expect(back.parameters.values == source.parameters.values)
                #expect(throws: FormatError.self) { try AdapterFormats.standard.format(at: path) }
                try AtomicFile.write("x", to: path + "/adapters.safetensors")
                #expect(
                    throws: FormatError.notAnAdapter(
                        path: path, found: "a folder with both adapters.safetensors and toy.bin")
                ) { try formats.format(at: path) }
            }
            let dora = try LoadedAdapter.read(
                DoRAAdapterTests.folder, for: model, matching: ModulePatterns.matching)
            let export = try AdapterExport(
                dora.parameters, source: dora.configuration, model: model)
            #expect(throws: AdapterError.noMagnitudes(format: "Toy")) {
                try export.write(Toy(), to: "/nowhere")
            }
        }
    }
}

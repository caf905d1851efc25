import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinServe

/// A tiny model and adapters of one size that requests may name, without a server. Below `root` are
/// adapters "a", "b" and "c", and checkpoints of runs where a test writes them.
struct ModelsCase {
    let directory: String
    let model: ModelDirectory
    let served: ServedModels
    /// What each adapter takes.
    let adapterBytes: Int

    var root: String { Self.root(in: directory) }
    private static func root(in directory: String) -> String { directory + "/root" }

    /// `count`: adapters for which there is room. `log`: hears of what is remarkable about adapters.
    init(in directory: String, room count: Int = 16, log: Log = Log(to: { _, _ in })) throws {
        self.directory = directory
        let path = directory + "/tiny.gguf"
        try TinyModel().writeGGUF(to: path)
        model = try ModelDirectory.open(path)
        let root = Self.root(in: directory)
        for (seed, name) in ["a", "b", "c"].enumerated() {
            _ = try ServeCase.writeAdapter(root + "/" + name, model: model, seed: UInt64(seed))
        }
        let shape = try LoadedAdapter.read(
            root + "/a", for: model, matching: ModulePatterns.matching
        ).parameters.shape
        adapterBytes = GenerationProjections.byteCount(of: shape)
        let remarks = AdapterRemarks(model: model, chat: ChatTemplateSettings(), log: log)
        served = try ServedModels(
            HostedAdapters(
                model, GenerationWeights(model: model, team: ComputeTeam(threadCount: 1)),
                digest: Background("skein-hash") { [model] in model.contentDigest() }, rank: 64,
                memory: AdapterMemory(byteLimit: count * adapterBytes + adapterBytes / 2),
                anyBase: false, date: ServeSources().date),
            name: "tiny",
            settings: ServedModels.Settings(
                root: AdapterRoot(root), remark: { remarks.say(of: $0) }))
    }

    var heldBytes: Int { served.memory.heldBytes }

    /// Loads "a", "b" or "c" under its name.
    func load(_ name: String) throws { try served.load(name, path: root + "/" + name) }

    /// Writes a checkpoint of the run "run", as a run has it without its other files.
    func writeCheckpoint(_ step: Int, baseName: String = "tiny") throws {
        let folder = CheckpointFolder(ofRun: root + "/run")
        _ = try ServeCase.writeAdapter(
            folder.path(ofStep: step), model: model, seed: UInt64(step), baseName: baseName)
    }
}

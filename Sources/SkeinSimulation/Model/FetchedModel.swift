import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinFormats

/// The files of a model that workers fetch: bytes that mean nothing, the same in all worlds.
struct FetchedModel: Sendable {
    static let made = Result { try FetchedModel() }

    /// Small, so that a link's events are few, and with so little memory that workers wait for each
    /// other's pieces.
    static let pieces = {
        var pieces = RunIdentity.PieceSizes()
        pieces.bytes = 4096
        pieces.memory = 10 * pieces.messageBytes
        return pieces
    }()

    let files: [Offer.ModelFile]
    let sources: [ModelFiles.SourceFile]
    private let bytes: [[UInt8]]

    private init() throws {
        var random = SplitMix(state: 4011)
        // Less than a piece, and twenty with a short one.
        let all = [
            ("config.json", random.bytes(2300)),
            ("model.safetensors", random.bytes(19 * Self.pieces.bytes + 1000)),
        ]
        bytes = all.map(\.1)
        files = all.map { name, bytes in
            Offer.ModelFile(
                name: name, byteCount: UInt64(bytes.count),
                digest: SHA256.digest(of: bytes).bytes)
        }
        sources = try all.map { name, bytes in
            ModelFiles.SourceFile(name: name, file: try MappedFile(path: name, bytes: bytes))
        }
    }

    /// Whether a file on a disk is the whole one.
    func isWhole(_ index: Int, in directory: String, on disk: SimulatedDisk) -> Bool {
        disk[path(index, in: directory)] == bytes[index]
    }

    func path(_ index: Int, in directory: String) -> String {
        directory + "/" + files[index].name
    }
}

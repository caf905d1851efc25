import SkeinBasics
import SkeinFormats
import SkeinTensors

/// A base model and an adapter as a GGUF file.
package struct FusedGGUF {
    private let input: FuseInput
    /// For matrices; vectors are F32.
    private let type: ElementType
    /// The file's metadata, in its order.
    private let metadata: [(key: String, value: GGUFWriter.Value)]
    private let tensors: [FusedTensor]

    /// - Parameters:
    ///   - input: what is written.
    ///   - type: of the matrices.
    ///   - tokenizer: the metadata below `tokenizer.`, for a base that is a folder.
    /// - Throws: `FuseError` for a model that is not written as GGUF; `FormatError`.
    package init(
        _ input: FuseInput, type: ElementType,
        tokenizer: () throws -> [(key: String, value: GGUFWriter.Value)]
    ) throws {
        self.input = input
        self.type = type
        switch input.description {
        case .gguf(let file):
            metadata = try Self.metadata(of: file, type)
            tensors = try Self.tensors(of: file, input, type)
        case .folder:
            let layout = try FolderAsGGUF(input)
            metadata = try layout.metadata(type) + tokenizer()
            tensors = try layout.tensors { Self.type(type, of: $0, columns: $1, isHead: $2) }
        }
    }

    /// Floats that will be encoded or copied.
    package var elementCount: Int { tensors.reduce(0) { $0 + $1.shape.reduce(1, *) } }
    package var byteCount: Int { tensors.reduce(0) { $0 + $1.byteCount } }

    /// Writes the file; it is there whole or not at all.
    ///
    /// - Parameters:
    ///   - path: nothing may be there.
    ///   - team: the threads that encode.
    ///   - progress: gets the number of floats since its last call; what it throws ends the work.
    /// - Returns: what was written.
    /// - Throws: `FuseError`, `FileError`.
    package func write(
        to path: String, team: ComputeTeam, progress: @escaping (Int) throws -> Void
    ) throws -> FuseReport {
        let stream = TensorStream(team: team, progress: progress)
        var report = FuseReport()
        report.files = [FilePath.name(of: path)]
        try Unfinished.removeAbandoned(beside: try AtomicFile.followingLinks(path))
        try GGUFWriter.write(
            metadata: metadata,
            tensors: tensors.map { tensor in
                GGUFWriter.Tensor(
                    name: tensor.name, shape: tensor.shape, elementType: tensor.type
                ) { append in
                    let deviation = try stream.write(tensor, append)
                    report.add(tensor, deviation, asked: type)
                    input.model.releasePages()
                }
            }, to: path)
        return report
    }

    /// The type of a matrix: as llama.cpp's quantizer has it by default, the output head, or the
    /// embedding that takes its place, is Q6_K, or Q8_0 where that does not fit.
    private static func type(
        _ type: ElementType, of shape: [Int], columns: Int, isHead: Bool
    ) -> ElementType {
        if shape.count < 2 { return .f32 }
        guard isHead, type.blockElements > 1, type != .q8x0 else {
            return type.fitting(columns: columns)
        }
        return ElementType.q6K.fitting(columns: columns)
    }

    // MARK: From a GGUF file

    /// All of the base's but what is about parts and the width of padding; the file's type is new.
    private static func metadata(
        of file: GGUFFile, _ type: ElementType
    ) throws -> [(key: String, value: GGUFWriter.Value)] {
        let dropped: Set<String> = [
            "general.alignment", "general.file_type", "general.quantization_version",
        ]
        return try file.rawMetadata().filter {
            !dropped.contains($0.key) && !$0.key.hasPrefix("split.")
        } + fileType(type)
    }

    static func fileType(_ type: ElementType) -> [(key: String, value: GGUFWriter.Value)] {
        [
            ("general.file_type", .uint32(type.ggufFileType)),
            ("general.quantization_version", .uint32(2)),
        ]
    }

    private static func tensors(
        of file: GGUFFile, _ input: FuseInput, _ type: ElementType
    ) throws -> [FusedTensor] {
        guard let layout = input.family.gguf else { return [] }
        let isTied = file.tensors["output.weight"] == nil
        return try file.tensors.values.sorted { Self.comesBefore($0.name, $1.name) }.map { view in
            guard let own = view.elementType else {
                throw FuseError.otherTensor(name: view.name, type: view.typeName)
            }
            guard let match = layout.tensor(view.name, in: input.design) else {
                // Divisors of the rotation.
                return FusedTensor(copying: view, own)
            }
            var merged = try input.tensor(match.name)
            let isHead = view.name == (isTied ? "token_embd.weight" : "output.weight")
            let wanted =
                view.shape.count < 2
                ? own : Self.type(type, of: view.shape, columns: view.columns, isHead: isHead)
            if merged.changes.isEmpty, wanted == own { return FusedTensor(copying: view, own) }
            if match.isInterleaved {
                merged.interleavedHeadRows = input.configuration.headDimension
            }
            return FusedTensor(view.name, merged, as: wanted)
        }
    }

    /// Tensors outside of blocks first, then the blocks by number.
    private static func comesBefore(_ left: String, _ right: String) -> Bool {
        func key(_ name: String) -> (Int, String) {
            let parts = name.split(separator: ".", maxSplits: 2)
            guard parts.count == 3, parts[0] == "blk", let layer = Int(parts[1]) else {
                return (-1, name)
            }
            return (layer, String(parts[2]))
        }
        return key(left) < key(right)
    }
}

extension TensorStream {
    /// Appends all bytes of a tensor; nil unless it was encoded anew.
    func write(_ tensor: FusedTensor, _ append: Append) throws -> Deviation? {
        switch tensor.source {
        case .merged(let merged):
            return try write(merged, as: tensor.type, name: tensor.name, append)
        case .copied(let view): try copy(view, append)
        case .floats(let floats): try floats.withUnsafeBytes { try append($0) }
        }
        return nil
    }
}

extension ElementType {
    /// llama.cpp's number for a file of mostly this type (its enum llama_ftype).
    var ggufFileType: UInt32 {
        switch self {
        case .f32: 0
        case .f16: 1
        case .q4x0: 2
        case .q8x0: 7
        case .q5x0: 8
        case .q4K: 14
        case .q6K: 18
        case .bf16: 32
        default: 1024
        }
    }
}

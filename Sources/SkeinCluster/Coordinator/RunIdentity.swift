import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinTraining

/// What a coordinator tells every worker about its run, and the model's bytes for those without.
package struct RunIdentity: Sendable {
    package let offer: Offer
    /// The most bytes of a packed gradient of this run.
    package let mostGradientBytes: Int
    /// The most bytes of packed parameters of this run.
    package let mostParameterBytes: Int
    /// The most bytes of a message that rebuilds a state; 0 without local steps.
    package let mostReplayBytes: Int
    /// What workers are sent of the model at a time.
    package let pieces: PieceSizes
    private let files: [ModelFiles.SourceFile]

    /// Pieces of the model on their way; smaller only in a simulation.
    package struct PieceSizes: Sendable {
        /// The most bytes of one.
        package var bytes = SkeinCoordination.Limits.modelChunkBytes
        /// The most bytes of all that are in memory, with the heads of their messages.
        package var memory = SkeinCoordination.Limits.pieceBytes

        package init() {}

        /// The most bytes of a message with one.
        package var messageBytes: Int { ModelChunk.headByteCount + bytes }
    }

    /// - Throws: `NodeError.adapterTooLarge`, `.replayTooLarge`.
    package init(
        offer: Offer, parameterCount: Int, codec: GradientCodec,
        files: [ModelFiles.SourceFile] = []
    ) throws {
        try self.init(
            offer: offer, parameterCount: parameterCount, codec: codec, local: nil, files: files)
    }

    /// `local` is that of a run with local steps; `comparesAnswers` of one with pairs of answers.
    ///
    /// - Throws: `NodeError.adapterTooLarge`, `.replayTooLarge`.
    package init(
        offer: Offer, parameterCount: Int, codec: GradientCodec, local: LocalBounds?,
        comparesAnswers: Bool = false, files: [ModelFiles.SourceFile] = [],
        pieces: PieceSizes = PieceSizes()
    ) throws {
        try Self.checkSizes(parameterCount: parameterCount, codec: codec, local: local)
        self.pieces = pieces
        self.offer = offer
        self.files = files
        mostGradientBytes =
            local?.resultBytes
            ?? Self.resultBytes(codec, count: parameterCount, comparesAnswers: comparesAnswers)
        mostParameterBytes =
            local?.parameterBytes ?? ParameterCodec.mostPackedBytes(count: parameterCount)
        mostReplayBytes = local?.replayBytes ?? 0
    }

    /// The most bytes of a result's payload, without local steps: a gradient, or the log-probabilities of
    /// the rows of a lease.
    static func resultBytes(
        _ codec: GradientCodec, count: Int, comparesAnswers: Bool
    ) -> Int {
        let gradient = codec.mostPackedBytes(count: count)
        return comparesAnswers
            ? max(gradient, 8 * SkeinCoordination.Limits.leasedRows) : gradient
    }

    /// Refuses an adapter whose gradients or parameters no message can hold.
    ///
    /// - Throws: `NodeError.adapterTooLarge`, `.replayTooLarge`.
    static func checkSizes(
        parameterCount: Int, codec: GradientCodec, local: LocalBounds? = nil
    ) throws(NodeError) {
        let bounds = MessageBounds(
            allowed: [],
            gradientPayloadBytes: local?.resultBytes
                ?? codec.mostPackedBytes(count: parameterCount),
            parameterPayloadBytes: local?.parameterBytes
                ?? ParameterCodec.mostPackedBytes(count: parameterCount),
            replayBytes: local?.replayBytes ?? 0)
        let most = max(bounds.limit(of: .result), bounds.limit(of: .parameters))
        guard most <= Int(UInt32.max) else {
            throw .adapterTooLarge(parameters: parameterCount, messageBytes: most)
        }
        let replay = bounds.limit(of: .stateReplay)
        guard replay <= Int(UInt32.max) else { throw .replayTooLarge(messageBytes: replay) }
    }

    /// Hashes every file of the model.
    ///
    /// - Parameters:
    ///   - job: of the run.
    ///   - term: of the run's directory.
    ///   - start: 16 random bytes of this start of the coordinator.
    /// - Throws: `NodeError.adapterTooLarge`, `.replayTooLarge`.
    package init(job: TrainingJob, term: UInt32, start: [UInt8]) throws {
        let files = job.model.files
        let run = job.runFile
        let offer = Offer(
            proof: [], term: term, start: start,
            modelDigest: Self.bytes(of: run.modelDigest),
            dataDigest: job.dataIdentity.bytes,
            configurationDigest: run.configuration.digest.bytes,
            recipeDigest: Self.bytes(of: run.recipeDigest ?? ""),
            answerDigest: run.knownAnswer.flatMap(KnownAnswer.digest)?.bytes ?? [],
            fingerprint: run.fingerprint,
            configuration: job.configuration.json,
            longestRow: UInt32(clamping: job.longestRow),
            modelFiles: files.map { file in
                Offer.ModelFile(
                    name: file.name, byteCount: UInt64(file.file.count),
                    digest: file.digest().bytes)
            })
        try self.init(
            offer: offer, parameterCount: job.shape.layout.count,
            codec: job.configuration.gradientCodec, local: LocalBounds(job),
            comparesAnswers: job.comparesAnswers, files: files)
    }

    private static func bytes(of digest: String) -> [UInt8] {
        guard let digest = SHA256.Digest(digest) else {
            preconditionFailure("run.json's digests are printed by Digest itself")
        }
        return digest.bytes
    }

    /// Whether the file and the offset exist.
    func has(_ request: ModelRequest) -> Bool {
        guard let index = Int(exactly: request.file), files.indices.contains(index),
            let offset = Int(exactly: request.offset)
        else { return false }
        return offset < files[index].file.count
    }

    /// A piece of a file, read from the disk; nil when the file or the offset does not exist.
    func modelChunk(_ request: ModelRequest) -> ModelChunk? {
        guard let index = Int(exactly: request.file), files.indices.contains(index),
            let offset = Int(exactly: request.offset)
        else { return nil }
        return files[index].file.withBytes { bytes in
            guard offset < bytes.count else { return nil }
            let end = min(bytes.count, offset + pieces.bytes)
            let piece = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
            return ModelChunk(file: request.file, offset: request.offset, bytes: Array(piece))
        }
    }
}

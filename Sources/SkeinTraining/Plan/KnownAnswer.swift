import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinRows
import SkeinTensors

/// What this machine makes of a small fixed piece of work, as one SHA-256: two that differ would not
/// compute the same run, whatever their fingerprints say.
///
/// It goes through the kernels that compute a run: the first numbers of each type of weights in the
/// model's files, forward and backward of a made-up model of the same design (`ProbeModel`) with the
/// run's loss, dropout, noise and codec, an evaluation, and an AdamW step. It takes some ten
/// milliseconds and needs none of the model's weights in memory. It leaves out what rounds features
/// and the coded changes of local steps.
///
/// It finds machines that err. A peer that lies can repeat the coordinator's answer.
package enum KnownAnswer {
    /// Before the digest in run.json: answers to different questions are not compared. On the wire there
    /// is the digest alone, so another question raises the protocol's minor version.
    private static let question = "1:"

    private static let rank = 64

    /// The answer as run.json has it.
    package static func text(_ digest: SHA256.Digest) -> String { question + digest.description }

    /// The digest of such a text; nil if the question was another one.
    package static func digest(of text: String) -> SHA256.Digest? {
        text.hasPrefix(question) ? SHA256.Digest(String(text.dropFirst(question.count))) : nil
    }

    /// Computes on the calling thread.
    ///
    /// - Parameters:
    ///   - configuration: of the run, as the process that computes has read it.
    ///   - model: the base model.
    /// - Returns: SHA-256 of all that was computed.
    /// - Throws: `FormatError` for a model that the compute type does not suit.
    package static func digest(
        _ configuration: TrainingConfiguration, _ model: ModelDirectory
    ) throws -> SHA256.Digest {
        var fields = DigestFields("skein known answer 1")
        try appendWeights(of: model, to: &fields)
        try appendPasses(configuration, model, to: &fields)
        return fields.finish()
    }

    /// The first row of the first tensor of each type.
    private static func appendWeights(
        of model: ModelDirectory, to fields: inout DigestFields
    ) throws {
        var known: Set<String> = []
        for (name, _) in model.configuration.requiredTensors {
            let view = try model.tensor(name)
            guard known.insert(view.typeName).inserted else { continue }
            let row = [Float](unsafeUninitializedCapacity: view.columns) { buffer, count in
                if let base = buffer.baseAddress { view.dequantize(rows: 0..<1, into: base) }
                count = view.columns
            }
            fields.append(view.typeName)
            fields.append(GradientCodec.digest(of: row))
        }
    }

    private static func appendPasses(
        _ configuration: TrainingConfiguration, _ model: ModelDirectory,
        to fields: inout DigestFields
    ) throws {
        let probe = ProbeModel(like: model.configuration, path: model.path)
        var lora = try configuration.lora(for: model.configuration)
        lora.layers = 0..<probe.configuration.layerCount
        lora.rank = min(lora.rank, rank)
        lora.exceptions = [:]
        let shape = AdapterShape(lora, model: probe.configuration)
        let base = lora.usesMagnitudes ? try BaseNorms(model: probe, shape: shape) : nil
        let engine = MicroBatchEngine(
            decoder: Decoder(
                weights: try DecoderWeights(
                    model: probe, residence: .resident, compute: configuration.compute,
                    positions: ProbeModel.positions, threads: 1),
                adapter: shape, gradientCheckpointing: configuration.gradientCheckpointing,
                baseNorms: base, roundsFeatures: configuration.featureType == .bf16),
            configuration: configuration)
        var parameters = AdapterParameters(shape: shape, seed: 0, base: base).values
        let random = AddressedRandom(seed: 1, purpose: .benchmark)
        for index in parameters.indices {
            // B begins as zero, and would hide A.
            let unit = AddressedRandom.unitFloat(random.block(UInt32(index))[0])
            parameters[index] += (unit - 0.5) / 16
        }
        let rows = rows(vocabulary: probe.configuration.vocabularySize)
        let share = configuration.preferenceLoss == nil ? 0 : TokenizedRow.tokenShare(of: rows)
        let workspace = DecoderWorkspace()
        let result = engine.gradient(
            of: MicroBatch(step: 1, index: 0, rows: rows, tokenShare: share),
            parameters: parameters, workspace: workspace)
        fields.append(result.digest)
        fields.append(Int(bitPattern: UInt(result.sum.lossSum.bitPattern)))
        var optimizer = AdamW(settings: configuration.adamW, count: parameters.count)
        optimizer.update(&parameters, gradient: result.sum.gradient, learningRate: 1e-3)
        fields.append(GradientCodec.digest(of: parameters))
        if let loss = engine.loss(
            of: rows, tokenShare: share, parameters: parameters, workspace: workspace)
        {
            fields.append(Int(bitPattern: UInt(loss.lossSum.bitPattern)))
            fields.append(loss.correct)
        }
    }

    /// Rows of several lengths, of which two are a pair of answers.
    private static func rows(vocabulary: Int) -> [TokenizedRow] {
        let random = AddressedRandom(seed: 2, purpose: .benchmark)
        return [ProbeModel.positions, 17, 9, 21].enumerated().map { number, length in
            let ids = (0..<length).map { place in
                Int32(random.block(UInt32(place), UInt32(number))[0] % UInt32(vocabulary))
            }
            var row = TokenizedRow(number: number, ids: ids, targets: [(length / 3)..<length])
            row.reference = -2.5 * Double(length)
            return row
        }
    }
}

import SkeinModels
import SkeinTensors

extension MicroBatchEngine {
    /// What a pass begins with.
    enum Beginning {
        /// The tokens.
        case tokens
        /// What leaves the frozen blocks, [T, D].
        case features([Float])
        /// The pass is no longer wanted.
        case abandoned

        /// What `pass` returns with the features, if there are any; nil if it was abandoned before.
        func perform<Result>(_ pass: (UnsafePointer<Float>?) -> Result?) -> Result? {
            switch self {
            case .tokens: pass(nil)
            case .features(let features): features.withUnsafeBufferPointer { pass($0.baseAddress) }
            case .abandoned: nil
            }
        }
    }

    /// The features of a batch: those that are kept, and the others computed and kept.
    ///
    /// - Parameters:
    ///   - batch: sequences end to end.
    ///   - training: whether a pass with a gradient follows.
    ///   - workspace: for the calling thread alone.
    ///   - place: of the calling thread among those that help it; nil: it is alone.
    ///   - progress: lets another thread follow and abandon the pass.
    /// - Returns: `tokens` if nothing is kept.
    func beginning(
        of batch: PackedBatch, training: Bool, workspace: DecoderWorkspace,
        place: WorkSharing.Place?, progress: PassProgress?
    ) -> Beginning {
        guard let store = features else { return .tokens }
        let width = decoder.width
        let sequences = zip(batch.offsets, batch.offsets.dropFirst()).map { $0..<$1 }
        let names = sequences.map { FeatureName(batch.tokens[$0]) }
        let count = batch.tokens.count * width
        var isWhole = true
        let features = [Float](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = count
            guard let out = buffer.baseAddress else { return }
            let missing = sequences.indices.filter {
                !store.read(
                    names[$0], tokens: sequences[$0].count,
                    into: out + sequences[$0].lowerBound * width)
            }
            guard !missing.isEmpty else { return }
            let made = madeFeatures(
                of: batch.inputs(of: missing), training: training, workspace: workspace,
                place: place, progress: progress)
            guard let made else {
                isWhole = false
                // They are never read, but they are numbers.
                buffer.initialize(repeating: 0)
                return
            }
            made.withUnsafeBufferPointer { made in
                guard var next = made.baseAddress else { return }
                for index in missing {
                    let range = sequences[index]
                    (out + range.lowerBound * width).update(from: next, count: range.count * width)
                    store.keep(names[index], tokens: range.count, next)
                    next += range.count * width
                }
            }
        }
        return isWhole ? .features(features) : .abandoned
    }

    private func madeFeatures(
        of batch: PackedBatch, training: Bool, workspace: DecoderWorkspace,
        place: WorkSharing.Place?, progress: PassProgress?
    ) -> [Float]? {
        let count = batch.tokens.count * decoder.width
        var isDone = false
        let made = [Float](unsafeUninitializedCapacity: count) { buffer, filled in
            guard let out = buffer.baseAddress else { return }
            isDone = decoder.features(
                of: batch, into: out, training: training, workspace: workspace, place: place,
                progress: progress)
            filled = isDone ? count : 0
        }
        return isDone ? made : nil
    }
}

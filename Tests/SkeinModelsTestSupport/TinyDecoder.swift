import SkeinModels
import SkeinTestSupport

/// A tiny model opened from a file, as every test here needs one.
package enum TinyDecoder {
    package static func weights(
        _ tiny: TinyModel = TinyModel(), residence: WeightResidence = .resident,
        compute: ComputeType = .fp32
    ) throws -> DecoderWeights {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try tiny.writeGGUF(to: path)
            return try DecoderWeights(
                model: ModelDirectory.open(path), residence: residence, compute: compute,
                positions: 256, threads: 2)
        }
    }

    /// Tokens and targets as a function of the lengths: the second half of each row is learnt.
    package static func batch(_ lengths: [Int], vocabulary: Int = 320) -> PackedBatch {
        PackedBatch(
            lengths.enumerated().map { number, length in
                let tokens = (0..<length).map { Int32(($0 * 37 + number * 11 + 5) % vocabulary) }
                return .init(
                    tokens: tokens, isTarget: (0..<length).map { $0 >= length / 2 },
                    number: UInt32(number))
            })
    }

    /// Parameters in which B is not zero, so that every path carries something.
    package static func parameters(_ shape: AdapterShape) -> [Float] {
        let start = AdapterParameters(shape: shape, seed: 5).values
        let noise = CentralDifference.numbers(start.count, seed: 6, stream: 1, spread: 0.05)
        return zip(start, noise).map { $0 + $1 }
    }
}

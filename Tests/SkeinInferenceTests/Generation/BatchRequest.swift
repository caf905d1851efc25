import SkeinBasics
import SkeinTensors

@testable import SkeinInference
@testable import SkeinModels

/// A request of a test, all of it from a number: what is asked, by which adapter, and when it gives up.
struct BatchRequest: Sendable {
    let number: Int
    let prompt: [Int32]
    let maximumTokens: Int
    /// Which of the adapters.
    let adapter: Int
    let sampler: Sampler
    /// After so many tokens three are forced at once; nil: none.
    let forcedAfter: Int?
    /// It leaves after so many tokens, which no other sequence may notice; nil: it stays.
    let cancelsAfter: Int?

    init(_ number: Int, of model: ModelConfiguration, adapters: Int, longest: Int) {
        let words = AddressedRandom(seed: 77, purpose: .benchmark).block(UInt32(number))
        self.number = number
        // Some begin alike, for the prefix cache.
        let same = GenerationCase.tokens(Int(words.x % 3) * 64, of: model, seed: 1)
        let own = GenerationCase.tokens(1 + Int(words.x >> 8) % longest, of: model, seed: number)
        prompt = same + own
        maximumTokens = 4 + Int(words.y % 21)
        adapter = Int(words.y >> 8) % adapters
        sampler = Sampler(
            temperature: words.z % 2 == 0 ? 0 : 1, topK: Int(words.z >> 8) % 3 * 20,
            topP: words.z % 3 == 0 ? 0.9 : 1, seed: UInt64(number))
        forcedAfter = words.w % 3 == 0 ? Int(words.w >> 8) % 4 : nil
        cancelsAfter = words.w % 5 == 4 ? Int(words.w >> 16) % 6 : nil
    }

    /// An answer that is being made.
    struct Answer {
        let request: BatchRequest
        var ids: [Int32] = []
        /// Fingerprints of the logits that the ids were picked from.
        var fingerprints: [UInt64] = []

        /// What is fed after these logits; nil: the answer is complete.
        mutating func next(after logits: UnsafeBufferPointer<Float>) -> [Int32]? {
            fingerprints.append(logits.fingerprint)
            var tokens = [request.sampler.pick(logits, position: ids.count)]
            if ids.count == request.forcedAfter {
                tokens += [1, 2, 3].map { Int32($0 + request.number % 20) }
            }
            tokens = Array(tokens.prefix(request.maximumTokens - ids.count))
            ids += tokens
            return ids.count < request.maximumTokens ? tokens : nil
        }

        /// Whether another answer to the same request has the same ids from the same logits, as far
        /// as it goes, and all of them unless it gave up.
        func isConfirmed(by other: Answer?) -> Bool {
            guard let other else { return false }
            return ids.starts(with: other.ids) && fingerprints.starts(with: other.fingerprints)
                && (request.cancelsAfter != nil || ids == other.ids)
        }
    }

    /// The answer to this request alone.
    func alone(
        _ adapters: [GenerationProjections], team: ComputeTeam, compute: ComputeType,
        cacheType: CacheType
    ) -> Answer {
        let session = DecoderSession(
            adapters[adapter], capacity: prompt.count + maximumTokens, team: team,
            compute: compute, cacheType: cacheType, answerRows: 4)
        var answer = Answer(request: self)
        var fed = session.withLogits(after: prompt, check: DecoderSession.uninterrupted) {
            answer.next(after: $0)
        }
        while let tokens = fed {
            fed = session.withLogits(
                after: tokens, as: .answer, check: DecoderSession.uninterrupted
            ) { answer.next(after: $0) }
        }
        return answer
    }
}

import Skein
import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// Logits of base and adapter beside those of the model that was written, on a fixed text.
struct FusedComparison: Sendable, Equatable {
    let positions: Int
    /// The largest difference of two logits.
    let largest: Double
    /// The largest logit, for comparison.
    let scale: Double
    /// Positions at which both have the same most probable token.
    let equalChoices: Int

    private static let tokens = 64
    private static let text = """
        The library opens at nine in the morning and closes at six, except on Fridays, when it \
        closes at four. Books may be kept for 3 weeks; after that, a letter is sent. "Why?" asked \
        the child. Because somebody else may be waiting for the same book, of which there are only \
        two copies, and both of them are 40 years old. def add(a, b): return a + b
        """

    /// Reads what was written, with its own tokenizer, and computes both.
    ///
    /// - Parameters:
    ///   - base: the base model and the adapter.
    ///   - path: of what was written.
    ///   - team: the threads that compute.
    ///   - check: asked before each token; what it throws ends the comparison.
    /// - Returns: how far their logits are apart.
    /// - Throws: `FuseError.readBack` when the tokens differ, or numbers are not finite;
    ///   `.notFiniteLogits`; what reading throws.
    static func of(
        _ base: AdaptedModel, fused path: String, team: ComputeTeam, check: () throws -> Void
    ) throws -> FusedComparison {
        let fused = try AdaptedModel(
            model: ModelDirectory.open(path), adapter: nil, threads: team.threadCount,
            weights: .auto)
        let ids = try ids(base)
        guard try self.ids(fused) == ids else {
            throw FuseError.readBack(path: path, what: "its tokens are others")
        }
        let expected = try logits(of: ids, base, team, check)
        guard isFinite(expected) else { throw FuseError.notFiniteLogits(path: path) }
        let found = try logits(of: ids, fused, team, check)
        guard isFinite(found) else {
            throw FuseError.readBack(path: path, what: "its logits are not finite")
        }
        guard expected.first?.count == found.first?.count else {
            throw FuseError.readBack(path: path, what: "its vocabulary has another size")
        }
        var (largest, scale, equal) = (Float(0), Float(0), 0)
        for (left, right) in zip(expected, found) {
            for (a, b) in zip(left, right) {
                largest = max(largest, abs(a - b))
                scale = max(scale, abs(a))
            }
            if choice(left) == choice(right) { equal += 1 }
        }
        return FusedComparison(
            positions: ids.count, largest: Double(largest), scale: Double(scale),
            equalChoices: equal)
    }

    /// Tokens of the text; of a model without a tokenizer, any.
    private static func ids(_ adapted: AdaptedModel) throws -> [Int32] {
        guard adapted.model.tokenizerSource != nil else {
            let size = adapted.model.configuration.vocabularySize
            return (0..<tokens).map { Int32(($0 * 37 + 5) % size) }
        }
        return try Array(adapted.tokenizer().ids(ofWhole: text).prefix(tokens))
    }

    private static func isFinite(_ logits: [[Float]]) -> Bool {
        logits.allSatisfy { $0.allSatisfy(\.isFinite) }
    }

    private static func choice(_ logits: [Float]) -> Int? {
        logits.indices.max { logits[$0] < logits[$1] }
    }

    private static func logits(
        of ids: [Int32], _ adapted: AdaptedModel, _ team: ComputeTeam, _ check: () throws -> Void
    ) throws -> [[Float]] {
        let session = DecoderSession(
            weights: try GenerationWeights(model: adapted.model, team: team),
            adapter: adapted.adapter, capacity: ids.count, team: team)
        session.expectedLength = ids.count
        defer { adapted.model.releasePages() }
        return try ids.map { id in
            try check()
            return session.logits(after: [id], as: .answer)
        }
    }
}

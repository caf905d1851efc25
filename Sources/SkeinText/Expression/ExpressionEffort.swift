/// How many steps expressions may still take for one text, and how many more once they remember what
/// has failed where. All pieces of the text draw on it, so that many slow ones take no longer than one.
final class ExpressionEffort {
    private var steps: Int
    private(set) var laterSteps: Int
    let rememberedBits: Int
    /// The part of `steps` that one piece may take, and more for each of its bytes; nil: all of
    /// them.
    private let piece: (steps: Int, forByte: Int)?

    /// The first expression that took too long, and for a piece of how many bytes.
    private(set) var unfinished: (expression: String, bytes: Int)?

    /// Exactly as many.
    init(steps: Int, laterSteps: Int, rememberedBits: Int = ExpressionLimits.rememberedBits) {
        self.steps = steps
        self.laterSteps = laterSteps
        self.rememberedBits = rememberedBits
        piece = nil
    }

    /// What `ExpressionLimits` allow for a text of which nothing is known yet.
    init() {
        steps = ExpressionLimits.stepsForText
        laterSteps = ExpressionLimits.laterStepsForText
        rememberedBits = ExpressionLimits.rememberedBits
        piece = (ExpressionLimits.stepsForText, ExpressionLimits.stepsForByte)
    }

    convenience init(bytes: Int) {
        self.init()
        add(bytes: bytes, expressions: 1)
    }

    /// Allows what that many bytes may take that go through some expressions.
    func add(bytes: Int, expressions: Int) {
        steps += bytes * expressions * ExpressionLimits.stepsForByte
        laterSteps += bytes * ExpressionLimits.laterStepsForByte
    }

    /// The steps for a piece before its matcher remembers.
    func steps(forPieceOf bytes: Int) -> Int {
        guard let piece else { return steps }
        return min(steps, piece.steps + bytes * piece.forByte)
    }

    /// Takes off what a matcher has taken.
    func charge(steps taken: Int = 0, laterSteps takenLater: Int = 0) {
        steps = max(0, steps - taken)
        laterSteps = max(0, laterSteps - takenLater)
    }

    /// An expression took too long.
    func giveUp(_ expression: String, bytes: Int) {
        unfinished = unfinished ?? (expression, bytes)
    }
}

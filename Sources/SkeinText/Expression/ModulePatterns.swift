import SkeinFormats

/// The regular expressions of an adapter's configuration, matched with names of modules.
///
/// All of them together may take `ExpressionLimits.moduleSteps` steps and be
/// `ExpressionLimits.moduleExpressions`: an adapter's file may come from a stranger.
package final class ModulePatterns {
    private var compiled: [String: Expression] = [:]
    private let effort = ExpressionEffort(
        steps: ExpressionLimits.moduleSteps, laterSteps: ExpressionLimits.moduleSteps)

    package init() {}

    /// `matches` of new ones, which nothing has worked on.
    package static func matching() -> AdapterRules.Matching {
        let patterns = ModulePatterns()
        return { (expression, text) throws(NamePatternFlaw) in
            try patterns.matches(expression, text)
        }
    }

    /// Whether an expression fits all of a text.
    ///
    /// - Parameters:
    ///   - expression: in the syntax of `ExpressionParser`, which reads what PEFT's users write for
    ///     Python.
    ///   - text: a name.
    /// - Returns: whether it does.
    /// - Throws: `NamePatternFlaw`.
    package func matches(_ expression: String, _ text: String) throws(NamePatternFlaw) -> Bool {
        let whole = try expressionForAll(of: expression)
        var text = text
        var isMatch = false
        let count = text.utf8.count
        let isDone = text.withUTF8 { bytes in
            whole.forEachStretch(of: bytes, effort: effort) { stretch, fits in
                isMatch = isMatch || (fits && stretch == 0..<count)
            }
        }
        guard isDone else { throw NamePatternFlaw(what: "it takes too long to match") }
        return isMatch
    }

    private func expressionForAll(of expression: String) throws(NamePatternFlaw) -> Expression {
        if let known = compiled[expression] { return known }
        guard compiled.count < ExpressionLimits.moduleExpressions else {
            throw NamePatternFlaw(
                what: "more than \(ExpressionLimits.moduleExpressions) expressions")
        }
        do throws(ExpressionFlaw) {
            let made = try Expression("^(?:\(expression))$")
            compiled[expression] = made
            return made
        } catch {
            throw NamePatternFlaw(what: error.prose)
        }
    }
}

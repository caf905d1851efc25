import SkeinBasics

/// Why a request's tools cannot be used.
package struct ToolProblem: Error, Equatable {
    /// Where it is in the request, such as `tools[1].function.name`.
    package var path: String
    package var flaw: Flaw

    package init(path: String, flaw: Flaw) {
        self.path = path
        self.flaw = flaw
    }

    package enum Flaw: Equatable {
        case missing(expected: String)
        case wrongType(expected: String)
        case notAFunction(found: String)
        case badName
        case repeatedName(String, first: Int)
        case tooMany(found: Int, limit: Int)
        case tooLarge(limit: Int)
        case tooDeep(limit: Int)
        case notAnObjectSchema
        /// `strict`, and the schema cannot be enforced, for this reason. Its pointer begins at `path`.
        case cannotBeEnforced(Explanation)
        case unknownTool(String)
        case unknownChoice(String)
        case noTools
        /// The arguments of an earlier call are no JSON object.
        case badArguments
        /// The shortest call takes more tokens than the answer may have.
        case doesNotFit(needed: Int?, limit: Int)
        /// The model's tokens cannot spell what begins or ends a call.
        case cannotBeWritten(String)
    }
}

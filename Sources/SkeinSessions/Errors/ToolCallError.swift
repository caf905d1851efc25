import Foundation
import SkeinBasics

extension LanguageModelSession {
    /// A tool threw while the model waited for its output, which ended the request.
    ///
    /// A tool whose failure the model should hear of returns a text that says so instead.
    public struct ToolCallError: Error, Sendable {
        /// The tool that was called.
        public var tool: any Tool
        /// What it threw.
        public var underlyingError: any Error

        /// - Parameters:
        ///   - tool: the tool that was called.
        ///   - underlyingError: what it threw.
        public init(tool: any Tool, underlyingError: any Error) {
            self.tool = tool
            self.underlyingError = underlyingError
        }
    }
}

extension LanguageModelSession.ToolCallError: LocalizedError {
    /// Which tool failed.
    public var errorDescription: String? { "The tool \(inQuotes(tool.name)) failed." }

    /// What the tool threw, in its own words.
    public var failureReason: String? { words(of: underlyingError) }

    /// What to do about it, if the tool's error says that.
    public var recoverySuggestion: String? {
        (underlyingError as? any LocalizedError)?.recoverySuggestion
    }
}

extension LanguageModelSession.ToolCallError: Explained {
    package var explanation: Explanation {
        Explanation(
            what: "the tool \(inQuotes(tool.name)) failed", place: failureReason ?? "",
            remedy: recoverySuggestion ?? "mend the tool, or let it return what went wrong as text",
            status: .internalError)
    }
}

import Foundation
import SkeinBasics
import Synchronization

/// Words and phrases that must not stand in prompts or answers: unsafe terms, names, other
/// subjects.
///
/// Whole words count, in any case, width and spelling with hidden marks: `grass` is found in
/// `GRASS`, `ｇｒａｓｓ` and `gra\u{AD}ss`, not in `grasshopper`. The words of a phrase may have any
/// spaces and punctuation between them. Scripts without spaces are compared character by character.
/// Letters of other scripts that look alike, and digits in place of letters, are not seen through.
///
/// The terms can be replaced while sessions use the list; a text whose check has begun is checked
/// with the terms of its beginning. Looking at a text takes time in proportion to its length, whole
/// or in pieces, however many terms there are.
public final class DenyList: GuardrailCheck {
    private let table: Mutex<DenyTable>
    private let stages: Set<GuardrailStage>

    /// - Parameters:
    ///   - terms: words and phrases.
    ///   - stages: which texts are looked at.
    /// - Throws: `DenyListError`.
    public init(
        _ terms: some Sequence<String>, on stages: Set<GuardrailStage> = [.input, .output]
    ) throws(DenyListError) {
        table = Mutex(try DenyTable(terms))
        self.stages = stages
    }

    /// Uses other terms from now on.
    ///
    /// - Parameter terms: words and phrases.
    /// - Throws: `DenyListError`; the old terms then stay.
    public func replace(with terms: some Sequence<String>) throws(DenyListError) {
        let new = try DenyTable(terms)
        table.withLock { $0 = new }
    }

    /// The first term in a text, as it stands in the list.
    ///
    /// - Parameter text: any text.
    /// - Returns: the term that ends first; nil if there is none.
    public func term(in text: String) -> String? {
        var matcher = DenyMatcher(table.withLock { $0 })
        matcher.add(text)
        matcher.end()
        return matcher.found
    }

    /// Whether a term stands in the text.
    ///
    /// - Parameters:
    ///   - text: all of it.
    ///   - stage: whether a person or the model wrote it.
    /// - Returns: a violation that names the term, or pass.
    public func check(_ text: String, on stage: GuardrailStage) -> GuardrailVerdict {
        guard stages.contains(stage) else { return .pass }
        return DenyMatcher.verdict(term(in: text))
    }

    /// Begins to look at a text that grows.
    ///
    /// - Parameter stage: whether a person or the model writes it.
    /// - Returns: a check that remembers the word which has begun, and looks at nothing twice.
    public func growing(on stage: GuardrailStage) -> any GrowingTextCheck {
        DenyMatcher(stages.contains(stage) ? table.withLock { $0 } : DenyTable())
    }
}

/// Why a term cannot be in a deny list.
public enum DenyListError: Error, Equatable, Sendable {
    /// There is no letter, number or symbol in it.
    case noWord(term: String)
    /// It has more characters than allowed.
    case longTerm(term: String, characters: Int, limit: Int)
    /// There are more terms than allowed.
    case tooMany(limit: Int)
}

extension DenyListError: Explained {
    package var explanation: Explanation {
        let (what, remedy) = words
        return Explanation(what: what, place: "deny list", remedy: remedy, status: .usage)
    }

    private var words: (what: String, remedy: String) {
        switch self {
        case .noWord(let term): ("the term \(inQuotes(term)) has no word", "remove it")
        case .longTerm(let term, let characters, let limit):
            (
                "the term \(inQuotes(term)) has \(characters) characters, and the limit is "
                    + "\(limit)",
                "use a part of it"
            )
        case .tooMany(let limit): ("there are more than \(limit) terms", "use several lists")
        }
    }
}

extension DenyListError: LocalizedError {
    /// What happened.
    public var errorDescription: String? { explanation.sentence }
    /// What to do about it.
    public var recoverySuggestion: String? { explanation.remedy }
}

import Foundation
import SkeinBasics
import SkeinJSON

/// A text from elsewhere, in quotes and cut where it is long, for a sentence.
func inQuotes(_ text: String) -> String {
    JSONValue.quoted(text.utf8.count <= 200 ? text : text.prefix(200) + "...")
}

/// What an error from elsewhere says of itself.
func words(of error: any Error) -> String {
    if let explained = error as? any Explained { return explained.explanation.sentence }
    return (error as? any LocalizedError)?.errorDescription ?? "\(error)"
}

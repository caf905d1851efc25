import SkeinBasics

extension Explanation {
    /// What happened, with the place in front: what `LocalizedError.errorDescription` shows.
    package var sentence: String { place.isEmpty ? what : "\(place): \(what)" }
}

/// A text from elsewhere, in quotes and cut where it is long, for a sentence.
func inQuotes(_ text: String) -> String {
    JSONLine.quote(text.utf8.count <= 200 ? text : text.prefix(200) + "...")
}

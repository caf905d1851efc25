import SkeinBasics

/// A text from elsewhere, in quotes and cut where it is long, for a sentence.
func inQuotes(_ text: String) -> String {
    JSONLine.quote(text.utf8.count <= 200 ? text : text.prefix(200) + "...")
}

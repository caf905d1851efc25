/// What a program of this package is called and what it does: its help, its manual page and its errors
/// say so.
package struct Program: Sendable {
    let name: String
    /// What it does, beginning with a verb in the third person.
    let summary: String
    /// The same as the manual page has it, beginning with the verb's plain form.
    let purpose: String

    package init(_ name: String, summary: String, purpose: String) {
        self.name = name
        self.summary = summary
        self.purpose = purpose
    }

    static let skein = Program(
        "skein", summary: "fine-tunes language models with LoRA on CPUs",
        purpose: "fine-tune language models with LoRA on CPUs")
}

/// Speakers of a conversation.
package enum ChatRole {
    /// The names that templates have for what data sets call otherwise: LLaMA-Factory, axolotl and
    /// ShareGPT, upper or lower case.
    private static let spellings = [
        "human": "user", "prompter": "user", "gpt": "assistant", "model": "assistant",
        "bot": "assistant", "chatgpt": "assistant", "bard": "assistant", "bing": "assistant",
        "observation": "tool", "function_response": "tool", "tool_response": "tool",
        "tool_result": "tool",
    ]

    /// Names that templates know, in general.
    private static let usual: Set = ["system", "developer", "user", "assistant", "tool"]

    /// What a data set's turns with calls are by.
    package static let caller = "function_call"

    /// The name under which templates know a speaker; any other name stays as it is.
    package static func canonical(_ name: String) -> String {
        if usual.contains(name) { return name }
        let folded = name.lowercased()
        if usual.contains(folded) { return folded }
        return spellings[folded] ?? name
    }

    static func isUsual(_ name: String) -> Bool { usual.contains(name) }
}

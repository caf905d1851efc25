extension ToolFormat {
    /// The format of a model, by what its template makes of a conversation with a call.
    ///
    /// A template that fails, or writes calls in a way that is not known here, gives the described form,
    /// which works with any model: what it writes is held to the grammar in any case.
    ///
    /// - Parameters:
    ///   - source: the model's chat template.
    ///   - tokens: its `bos_token` and `eos_token`.
    package init(template source: String, tokens: TemplateTokens) {
        // Rendering a conversation says what is wrong with the template.
        guard let template = try? ChatTemplate(source: source, name: "template") else {
            self = .described
            return
        }
        self = TemplateProbe(template, tokens).format
    }

    /// The format that a template explains to the model without writing calls itself.
    static func spelled(in source: String) -> ToolFormat? {
        func has(_ word: String) -> Bool { source.utf8.place(of: word.utf8) != nil }
        // It writes calls in a way that is not known here.
        if has("tool_calls") { return nil }
        if has("<|tool_call|>"), has("JSON list") { return .granite }
        let others = ["<function=", "<parameter=", "<arg_key>", "<|tool_call|>"]
        if has("<tool_call>"), has("arguments"), !others.contains(where: has) { return .hermes }
        return nil
    }
}

extension Collection<UInt8> {
    /// Where some bytes first stand, counted from the beginning.
    package func place(of wanted: some Collection<UInt8>) -> Int? {
        guard let first = wanted.first else { return 0 }
        var index = startIndex
        var place = 0
        while index != endIndex {
            if self[index] == first, self[index...].starts(with: wanted) { return place }
            index = self.index(after: index)
            place += 1
        }
        return nil
    }
}

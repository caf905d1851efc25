extension Transcript {
    /// Whether a session can have had this history: instructions first, no identity twice, outputs
    /// directly behind their calls, and no call without its output.
    ///
    /// - Parameter byIdentity: whether an output must have the identity of its call. Else an output
    ///   with another identity answers the first open call of its tool.
    /// - Returns: for the places of tool outputs, the identities of the calls that they answer.
    /// - Throws: `TranscriptError`.
    @discardableResult
    package func check(byIdentity: Bool = false) throws(TranscriptError) -> [Int: String] {
        var entryIDs: Set<String> = []
        var callIDs: Set<String> = []
        var open: [ToolCall] = []
        var openEntry = 0
        var answered: [Int: String] = [:]
        for (index, entry) in enumerated() {
            guard entryIDs.insert(entry.id).inserted else {
                throw .duplicateID(id: entry.id, entry: index)
            }
            if case .toolOutput(let output) = entry {
                guard let place = open.place(answeredBy: output, byIdentity: byIdentity) else {
                    throw .outputWithoutCall(toolName: output.toolName, entry: index)
                }
                answered[index] = open.remove(at: place).id
                continue
            }
            if let call = open.first {
                throw .openToolCall(toolName: call.toolName, entry: openEntry)
            }
            switch entry {
            case .instructions where index > 0: throw .instructionsNotFirst(entry: index)
            case .toolCalls(let calls):
                for call in calls where !callIDs.insert(call.id).inserted {
                    throw .duplicateID(id: call.id, entry: index)
                }
                open = Array(calls)
                openEntry = index
            default: continue
            }
        }
        if let call = open.first {
            throw .openToolCall(toolName: call.toolName, entry: openEntry)
        }
        return answered
    }
}

extension [Transcript.ToolCall] {
    /// Which of the open calls an output answers.
    fileprivate func place(
        answeredBy output: Transcript.ToolOutput, byIdentity: Bool
    ) -> Int? {
        let id = output.callID ?? output.id
        if let place = firstIndex(where: { $0.id == id && $0.toolName == output.toolName }) {
            return place
        }
        return byIdentity ? nil : firstIndex { $0.toolName == output.toolName }
    }
}

/// Calls that the model made together.
enum ToolRound {
    /// A call whose tool is known and whose arguments were read.
    struct Call: Sendable {
        let entry: Transcript.ToolCall
        let tool: any Tool

        /// - Throws: `GenerationError.decodingFailure` for a tool that is not there, or arguments that
        ///   are no JSON object; the grammar of calls allows neither.
        init(_ written: ReplyReading.WrittenCall, _ tools: SessionTools) throws {
            guard let tool = tools.tool(written: written.name) else {
                throw LanguageModelSession.GenerationError.decodingFailure(
                    .init(debugDescription: "the model called \(written.name), which is no tool"))
            }
            self.tool = tool
            do {
                let arguments = try GeneratedContent(json: written.arguments)
                guard arguments.isComplete else {
                    throw GeneratedContentError.wrongKind(
                        path: "", expected: "a whole object", found: "the beginning of one")
                }
                entry = Transcript.ToolCall(
                    id: written.id, toolName: tool.name, arguments: arguments)
            } catch {
                throw LanguageModelSession.GenerationError.decodingFailure(
                    .init(
                        debugDescription: "the arguments for \(tool.name) cannot be read: "
                            + ErrorText.of(error)))
            }
        }
    }

    /// Runs calls at the same time.
    ///
    /// - Returns: their outputs, in the order of the calls.
    /// - Throws: `ToolCallError` for the first one that throws, which cancels the others;
    ///   `CancellationError`.
    nonisolated(nonsending)
        static func outputs(of calls: [Call]) async throws -> [Transcript.ToolOutput]
    {
        try await withThrowingTaskGroup(of: (Int, ErasedToolOutput).self) { group in
            for (place, call) in calls.enumerated() {
                group.addTask {
                    do {
                        return (place, try await call.tool.callErased(call.entry.arguments))
                    } catch let error as CancellationError where Task.isCancelled {
                        throw error
                    } catch {
                        throw LanguageModelSession.ToolCallError(
                            tool: call.tool, underlyingError: error)
                    }
                }
            }
            var outputs = [ErasedToolOutput?](repeating: nil, count: calls.count)
            for try await (place, output) in group { outputs[place] = output }
            return zip(calls, outputs).map { call, output in
                Transcript.ToolOutput(
                    id: call.entry.id, toolName: call.entry.toolName,
                    segments: output?.segments ?? [])
            }
        }
    }
}

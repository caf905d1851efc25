import SampleRunner

/// Sessions, prompts, options, transcripts, streams of text: kinds 1 to 13, 27 to 30, 48, 49, 54 to 56.
@main
struct Asking {
    static func main() async {
        await SampleProgram.run([
            Sample("ModelStatus", needsModel: false) { try await ModelStatus.run() },
            Sample("StatusUpdates", needsModel: false) { try await StatusUpdates.run() },
            Sample("FirstPrompt") { try await FirstPrompt.run() },
            Sample("InstructionBuilders") { try await InstructionBuilders.run() },
            Sample("Temperatures") { try await Temperatures.run() },
            Sample("History") { try await History.run() },
            Sample("ChatRoom") { try await ChatRoom.run() },
            Sample("TaskSessions") { try await TaskSessions.run() },
            Sample("TextStreams") { try await TextStreams.run() },
            Sample("TextDeltas") { try await TextDeltas.run() },
            Sample("ReadTranscript", needsModel: false) { try await ReadTranscript.run() },
            Sample("ResumeTalk") { try await ResumeTalk.run() },
            Sample("WarmUp") { try await WarmUp.run() },
            Sample("FeedbackLog") { try await FeedbackLog.run() },
            Sample("PromptTrials") { try await PromptTrials.run() },
        ])
    }
}

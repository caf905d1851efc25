/// What an answer with tools consists of, in the order in which it is written.
package enum ToolEvent: Sendable, Equatable {
    case text(String)
    /// A call begins; nothing of it came before.
    case callBegan(index: Int, id: String, name: String)
    /// More of a call's arguments. All pieces together are the JSON text of an object.
    case arguments(index: Int, String)
}

/// Why an answer ended.
package enum ToolFinish: Sendable, Equatable {
    case stop
    case toolCalls
    case length
}

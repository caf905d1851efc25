/// A part of a message with an encoding of its own.
protocol WireCodable {
    init(from reader: inout ByteReader) throws(WireError)
    func write(to writer: inout ByteWriter)
}

extension Message {
    /// The message without its frame. Texts that are too long are cut; see `Limits`.
    package func encoded() -> [UInt8] {
        let parts = parts()
        return parts.head + parts.rest
    }

    /// The same, with the field that fills the message to its end kept apart and not copied.
    func parts() -> (head: [UInt8], rest: [UInt8]) {
        var writer = ByteWriter()
        content?.write(to: &writer)
        return (writer.bytes, writer.rest)
    }

    /// Reads a message that came undamaged, which does not mean that it is well-formed.
    ///
    /// - Throws: `WireError` for every byte sequence that `encoded()` does not produce.
    package static func decode(
        _ type: MessageType, _ bytes: UnsafeRawBufferPointer
    ) throws(WireError) -> Message {
        try decode(type, bytes, tail: [])
    }

    /// Reads a message whose last field comes apart.
    static func decode(
        _ type: MessageType, head: [UInt8], tail: [UInt8]
    ) throws(WireError) -> Message {
        try head.withUnsafeBufferPointer { (buffer) throws(WireError) -> Message in
            try decode(type, UnsafeRawBufferPointer(buffer), tail: tail)
        }
    }

    private static func decode(
        _ type: MessageType, _ bytes: UnsafeRawBufferPointer, tail: [UInt8]
    ) throws(WireError) -> Message {
        var reader = ByteReader(bytes, tail: tail, of: type)
        let message = try read(type, from: &reader)
        try reader.end()
        return message
    }

    /// Reads a message that came undamaged, which does not mean that it is well-formed.
    ///
    /// - Throws: `WireError` for every byte sequence that `encoded()` does not produce.
    package static func decode(
        _ type: MessageType, _ bytes: [UInt8]
    ) throws(WireError) -> Message {
        try bytes.withUnsafeBufferPointer { (buffer) throws(WireError) -> Message in
            try decode(type, UnsafeRawBufferPointer(buffer))
        }
    }

    private static func read(
        _ type: MessageType, from reader: inout ByteReader
    ) throws(WireError) -> Message {
        switch type {
        case .hello: .hello(try Hello(from: &reader))
        case .challenge: .challenge(try Challenge(from: &reader))
        case .authentication: .authentication(try Authentication(from: &reader))
        case .rejection: .rejection(try Rejection(from: &reader))
        case .offer: .offer(try Offer(from: &reader))
        case .modelRequest: .modelRequest(try ModelRequest(from: &reader))
        case .modelChunk: .modelChunk(try ModelChunk(from: &reader))
        case .ready: .ready(try Ready(from: &reader))
        case .welcome: .welcome(try Welcome(from: &reader))
        case .heartbeat: .heartbeat(try Heartbeat(from: &reader))
        case .parameters: .parameters(try ParameterUpdate(from: &reader))
        case .parameterRequest: .parameterRequest(try ParameterRequest(from: &reader))
        case .lease: .lease(try LeaseGrant(from: &reader))
        case .cancellation: .cancellation(try Cancellation(from: &reader))
        case .result: .result(try WorkResult(from: &reader))
        case .answer: .answer(try ResultAnswer(from: &reader))
        case .leave: .leave(try Leave(from: &reader))
        case .statusRequest: .statusRequest
        case .status: .status(try StatusReport(from: &reader))
        case .stateRequest: .stateRequest(try StateRequest(from: &reader))
        case .stateReplay: .stateReplay(try StateReplay(from: &reader))
        }
    }

    private var content: (any WireCodable)? {
        switch self {
        case .hello(let content): content
        case .challenge(let content): content
        case .authentication(let content): content
        case .rejection(let content): content
        case .offer(let content): content
        case .modelRequest(let content): content
        case .modelChunk(let content): content
        case .ready(let content): content
        case .welcome(let content): content
        case .heartbeat(let content): content
        case .parameters(let content): content
        case .parameterRequest(let content): content
        case .lease(let content): content
        case .cancellation(let content): content
        case .result(let content): content
        case .answer(let content): content
        case .leave(let content): content
        case .statusRequest: nil
        case .status(let content): content
        case .stateRequest(let content): content
        case .stateReplay(let content): content
        }
    }
}

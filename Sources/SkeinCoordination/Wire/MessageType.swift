/// The numbers of the messages. A number is never reused.
package enum MessageType: UInt16, Sendable, CaseIterable {
    case hello = 1
    case challenge = 2
    case authentication = 3
    case rejection = 4
    case offer = 5
    case modelRequest = 6
    case modelChunk = 7
    case ready = 8
    case welcome = 9
    case heartbeat = 10
    case parameters = 11
    case parameterRequest = 12
    case lease = 13
    case cancellation = 14
    case result = 15
    case answer = 16
    case leave = 17
    case statusRequest = 18
    case status = 19
    // These are for runs with local steps.
    case stateRequest = 20
    case stateReplay = 21

    /// Whether messages of this type are always one frame and overtake the bulky ones.
    ///
    /// The handshake's are among them so that they keep their order: a heartbeat must not come
    /// before the proof, nor a cancellation before the welcome.
    package var isUrgent: Bool {
        switch self {
        case .hello, .challenge, .authentication, .rejection, .modelRequest, .welcome, .heartbeat,
            .parameterRequest, .cancellation, .answer, .leave, .statusRequest, .stateRequest:
            true
        case .offer, .modelChunk, .ready, .parameters, .lease, .result, .status, .stateReplay:
            false
        }
    }

    /// Whether it is sent before there is a key, and so never has a tag.
    var isGreeting: Bool {
        self == .hello || self == .challenge || self == .authentication
    }

    /// Bytes before the field that fills the message to its end, of messages that may be large.
    var headByteCount: Int? {
        switch self {
        case .result: WorkResult.headByteCount
        case .parameters: ParameterUpdate.headByteCount
        case .modelChunk: ModelChunk.headByteCount
        default: nil
        }
    }

    /// As docs/PROTOCOL.md writes it, such as `MODEL_REQUEST`.
    package var name: String {
        var name = ""
        for character in "\(self)" {
            if character.isUppercase { name += "_" }
            name += character.uppercased()
        }
        return name
    }
}

extension Message {
    package var type: MessageType {
        switch self {
        case .hello: .hello
        case .challenge: .challenge
        case .authentication: .authentication
        case .rejection: .rejection
        case .offer: .offer
        case .modelRequest: .modelRequest
        case .modelChunk: .modelChunk
        case .ready: .ready
        case .welcome: .welcome
        case .heartbeat: .heartbeat
        case .parameters: .parameters
        case .parameterRequest: .parameterRequest
        case .lease: .lease
        case .cancellation: .cancellation
        case .result: .result
        case .answer: .answer
        case .leave: .leave
        case .statusRequest: .statusRequest
        case .status: .status
        case .stateRequest: .stateRequest
        case .stateReplay: .stateReplay
        }
    }

    /// Whether it is always one frame and overtakes the bulky ones.
    package var isUrgent: Bool { type.isUrgent }
}

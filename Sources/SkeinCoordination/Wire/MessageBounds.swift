/// What a receiver accepts now. All of it is known on its own side; nothing comes from the wire.
package struct MessageBounds: Sendable, Equatable {
    package var allowed: Set<MessageType>
    /// The longest payload of a gradient's result, in bytes.
    package var gradientPayloadBytes: Int
    /// The longest payload of a parameter update, in bytes.
    package var parameterPayloadBytes: Int
    /// The longest message that rebuilds a state, in bytes.
    package var replayBytes: Int
    /// Whether frames of unknown types that are marked optional are skipped.
    package var skipsUnknown: Bool

    package init(
        allowed: Set<MessageType>, gradientPayloadBytes: Int = 0, parameterPayloadBytes: Int = 0,
        replayBytes: Int = 0, skipsUnknown: Bool = true
    ) {
        self.replayBytes = replayBytes
        self.allowed = allowed
        self.gradientPayloadBytes = gradientPayloadBytes
        self.parameterPayloadBytes = parameterPayloadBytes
        self.skipsUnknown = skipsUnknown
    }

    /// What `speaker` may say in a phase; nothing optional before it is known.
    package init(
        from speaker: Speaker, in phase: ConversationPhase, gradientPayloadBytes: Int = 0,
        parameterPayloadBytes: Int = 0, replayBytes: Int = 0
    ) {
        self.init(
            allowed: phase.sayable(by: speaker), gradientPayloadBytes: gradientPayloadBytes,
            parameterPayloadBytes: parameterPayloadBytes, replayBytes: replayBytes,
            skipsUnknown: phase != .greeting && phase != .proof)
    }

    /// The longest message of a type, in bytes.
    package func limit(of type: MessageType) -> Int {
        switch type {
        case .hello, .challenge, .authentication, .rejection, .modelRequest, .welcome,
            .parameterRequest, .cancellation, .answer, .leave, .stateRequest:
            Limits.greetingBytes
        case .statusRequest: 0
        case .offer: Limits.offerBytes
        case .status: Limits.statusBytes
        case .modelChunk: ModelChunk.headByteCount + Limits.modelChunkBytes
        case .ready, .heartbeat: Limits.greetingBytes + 16 * Limits.heldWork
        case .parameters: ParameterUpdate.headByteCount + parameterPayloadBytes
        case .lease: Limits.leaseBytes
        case .stateReplay: replayBytes
        case .result: WorkResult.headByteCount + gradientPayloadBytes
        }
    }
}

/// The two ends of a connection.
package enum Speaker: Sendable, CaseIterable {
    /// A worker or an observer.
    case dialler
    case coordinator
}

/// How far a conversation has come, as the receiver of a message sees it.
package enum ConversationPhase: Sendable, CaseIterable {
    /// Neither side knows the other: HELLO, CHALLENGE.
    case greeting
    /// AUTHENTICATION, OFFER.
    case proof
    /// A worker prepares its model: from OFFER to WELCOME.
    case joining
    /// A worker works.
    case serving
    /// An observer asks: from OFFER on.
    case observing

    /// What may be said, in this phase, by one of the two. docs/PROTOCOL.md has the same table.
    package func sayable(by speaker: Speaker) -> Set<MessageType> {
        switch (self, speaker) {
        case (.greeting, .dialler): [.hello]
        case (.greeting, .coordinator): [.challenge, .rejection]
        case (.proof, .dialler): [.authentication]
        // A heartbeat can overtake an offer, and so can the farewell of a run that ends just then.
        case (.proof, .coordinator): [.offer, .heartbeat, .leave, .rejection]
        case (.joining, .dialler): [.modelRequest, .ready, .heartbeat, .leave]
        case (.joining, .coordinator): [.modelChunk, .welcome, .heartbeat, .leave, .rejection]
        case (.serving, .dialler):
            [.parameterRequest, .stateRequest, .result, .heartbeat, .leave]
        case (.serving, .coordinator):
            [
                .parameters, .lease, .stateReplay, .cancellation, .answer, .heartbeat, .leave,
                .rejection,
            ]
        case (.observing, .dialler): [.statusRequest, .heartbeat, .leave]
        case (.observing, .coordinator): [.status, .heartbeat, .leave, .rejection]
        }
    }
}

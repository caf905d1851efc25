import SkeinBasics

/// Everything that coordinator and worker say to each other. docs/PROTOCOL.md gives every byte.
///
/// Gradients, parameters and rows are opaque or plain numbers here: this room knows no tensor.
package enum Message: Sendable, Equatable {
    // Before the peer is known; each at most `Limits.greetingBytes` long.
    case hello(Hello)
    case challenge(Challenge)
    case authentication(Authentication)
    /// The coordinator may send this at any time; it is its last message.
    case rejection(Rejection)

    // From here on every frame is authenticated with a session key.
    case offer(Offer)
    case modelRequest(ModelRequest)
    case modelChunk(ModelChunk)
    case ready(Ready)
    case welcome(Welcome)
    case heartbeat(Heartbeat)
    case parameters(ParameterUpdate)
    case parameterRequest(ParameterRequest)
    case lease(LeaseGrant)
    case cancellation(Cancellation)
    case result(WorkResult)
    case answer(ResultAnswer)
    case leave(Leave)
    case statusRequest
    case status(StatusReport)
    case stateRequest(StateRequest)
    case stateReplay(StateReplay)
}

/// Who dials.
package enum PeerRole: UInt8, Sendable, CaseIterable {
    case worker = 1
    /// `skein status`: asks, and computes nothing.
    case observer = 2
}

/// The dialler's first message.
package struct Hello: Sendable, Equatable {
    /// The minor protocol versions that it speaks.
    package var minor: ClosedRange<UInt8>
    package var role: PeerRole
    /// At most `Limits.nameBytes` of UTF-8; one worker holds a name at a time.
    package var name: String
    /// 16 random bytes of this process: a newer process fences an older one of the same name.
    package var incarnation: [UInt8]
    /// 32 random bytes of this connection.
    package var nonce: [UInt8]
    /// Version of Skein, for the log.
    package var software: String

    package init(
        minor: ClosedRange<UInt8>, role: PeerRole, name: String, incarnation: [UInt8],
        nonce: [UInt8], software: String
    ) {
        self.minor = minor
        self.role = role
        self.name = name
        self.incarnation = incarnation
        self.nonce = nonce
        self.software = software
    }
}

/// The coordinator's answer to `Hello`.
package struct Challenge: Sendable, Equatable {
    /// The minor version that both speak from now on.
    package var minor: UInt8
    /// 32 random bytes.
    package var nonce: [UInt8]

    package init(minor: UInt8, nonce: [UInt8]) {
        self.minor = minor
        self.nonce = nonce
    }
}

/// The dialler's proof that it knows the token.
package struct Authentication: Sendable, Equatable {
    /// HMAC-SHA256, 32 bytes; see `WorkerHandshake`.
    package var proof: [UInt8]

    package init(proof: [UInt8]) {
        self.proof = proof
    }
}

/// What the coordinator's run is: what a worker must agree with, and what it needs to join.
package struct Offer: Sendable, Equatable {
    /// The coordinator's proof that it knows the token, 32 bytes.
    package var proof: [UInt8]
    /// Raised at every start of a coordinator in this run directory, and repeated when an older copy of
    /// the directory is restored.
    package var term: UInt32
    /// 16 random bytes of this start of the coordinator, which no other start has: what a worker has
    /// of another one counts as nothing, whatever its term.
    package var start: [UInt8]
    /// 32 bytes each.
    package var modelDigest: [UInt8]
    package var dataDigest: [UInt8]
    package var configurationDigest: [UInt8]
    /// SHA-256 of every value that the coordinator has resolved from the options, 32 bytes.
    package var recipeDigest: [UInt8]
    /// SHA-256 of what the coordinator's machine makes of a fixed piece of work, 32 bytes.
    package var answerDigest: [UInt8]
    package var fingerprint: String
    /// The run's options as JSON, as in run.json.
    package var configuration: [UInt8]
    /// Tokens of the longest row: positions that the model must know.
    package var longestRow: UInt32
    /// The files of the base model, for a worker that does not have it.
    package var modelFiles: [ModelFile]

    /// A file of the base model.
    package struct ModelFile: Sendable, Equatable {
        /// Without a directory; empty for a GGUF file.
        package var name: String
        package var byteCount: UInt64
        /// SHA-256, 32 bytes.
        package var digest: [UInt8]

        package init(name: String, byteCount: UInt64, digest: [UInt8]) {
            self.name = name
            self.byteCount = byteCount
            self.digest = digest
        }
    }

    package init(
        proof: [UInt8], term: UInt32, start: [UInt8], modelDigest: [UInt8], dataDigest: [UInt8],
        configurationDigest: [UInt8], recipeDigest: [UInt8], answerDigest: [UInt8],
        fingerprint: String, configuration: [UInt8], longestRow: UInt32, modelFiles: [ModelFile]
    ) {
        self.proof = proof
        self.term = term
        self.start = start
        self.modelDigest = modelDigest
        self.dataDigest = dataDigest
        self.configurationDigest = configurationDigest
        self.recipeDigest = recipeDigest
        self.answerDigest = answerDigest
        self.fingerprint = fingerprint
        self.configuration = configuration
        self.longestRow = longestRow
        self.modelFiles = modelFiles
    }
}

/// A worker's request for a piece of a model file.
package struct ModelRequest: Sendable, Hashable {
    /// Index into `Offer.modelFiles`.
    package var file: UInt32
    package var offset: UInt64

    package init(file: UInt32, offset: UInt64) {
        self.file = file
        self.offset = offset
    }
}

/// A piece of a model file, at most `Limits.modelChunkBytes`.
package struct ModelChunk: Sendable, Equatable {
    package var file: UInt32
    package var offset: UInt64
    /// The frame's tag proves that these bytes were sent; the file's digest in the offer, that they
    /// are the right ones.
    package var bytes: [UInt8]

    package init(file: UInt32, offset: UInt64, bytes: [UInt8]) {
        self.file = file
        self.offset = offset
        self.bytes = bytes
    }
}

/// A worker that has loaded its model and says what it is.
package struct Ready: Sendable, Equatable {
    package var modelDigest: [UInt8]
    /// The digest of the run that the worker belongs to; at its first join it echoes the offer.
    package var dataDigest: [UInt8]
    /// This digests the options, and all values, as the worker has read and resolved them.
    package var configurationDigest: [UInt8]
    package var recipeDigest: [UInt8]
    /// What the worker's machine makes of the same piece of work.
    package var answerDigest: [UInt8]
    package var fingerprint: String
    /// Micro-batches that it computes at a time.
    package var threads: UInt16
    /// The version of this coordinator's parameters that it holds; 0: none.
    package var parameterVersion: UInt64
    /// Their SHA-256, 32 bytes; zeros for none.
    package var parameterDigest: [UInt8]
    /// Finished results for this start of the coordinator that have no answer yet.
    package var held: [WorkKey]

    package init(
        modelDigest: [UInt8], dataDigest: [UInt8], configurationDigest: [UInt8],
        recipeDigest: [UInt8], answerDigest: [UInt8], fingerprint: String, threads: UInt16,
        parameterVersion: UInt64 = 0, parameterDigest: [UInt8] = Self.noDigest, held: [WorkKey]
    ) {
        self.modelDigest = modelDigest
        self.dataDigest = dataDigest
        self.configurationDigest = configurationDigest
        self.recipeDigest = recipeDigest
        self.answerDigest = answerDigest
        self.fingerprint = fingerprint
        self.threads = threads
        self.parameterVersion = parameterVersion
        self.parameterDigest = parameterDigest
        self.held = held
    }

    /// In place of the SHA-256 of parameters that there are none of.
    package static let noDigest = [UInt8](repeating: 0, count: 32)
}

/// The worker has joined.
package struct Welcome: Sendable, Equatable {
    /// How often each side must be heard, in milliseconds.
    package var heartbeatMilliseconds: UInt32
    /// The silence after which a side counts as gone, in milliseconds.
    package var silenceMilliseconds: UInt32

    package init(heartbeatMilliseconds: UInt32, silenceMilliseconds: UInt32) {
        self.heartbeatMilliseconds = heartbeatMilliseconds
        self.silenceMilliseconds = silenceMilliseconds
    }
}

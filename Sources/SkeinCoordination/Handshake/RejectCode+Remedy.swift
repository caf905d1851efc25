import SkeinBasics

extension Rejection {
    /// What a worker says that is refused and tries again.
    var sentence: String { "refused (\(code.name)): \(reason); \(code.remedy)" }
}

extension RejectCode {
    /// As logs and docs/OPERATING.md write it.
    package var name: String {
        switch self {
        case .version: "version"
        case .authentication: "authentication"
        case .model: "model"
        case .data: "data"
        case .configuration: "configuration"
        case .fingerprint: "fingerprint"
        case .full: "full"
        case .draining: "draining"
        case .staleTerm: "stale-term"
        case .quarantined: "quarantined"
        case .protocolViolation: "protocol-violation"
        case .timeout: "timeout"
        case .superseded: "superseded"
        case .stuck: "stuck"
        case .nameTaken: "name-taken"
        case .answer: "answer"
        }
    }

    /// What to do about it.
    package var remedy: String {
        switch self {
        case .version: "run the same version of skein on both sides"
        case .authentication:
            "give both sides the same --token-file, byte for byte"
        case .model:
            "give the worker the base model of the run with --model, or omit --model so that "
                + "it fetches it"
        case .data:
            "this worker was prepared for a run on other data; it prepares again by itself"
        case .configuration:
            "this worker was prepared for a run with other options; it prepares again by itself"
        case .fingerprint:
            "run the same version of skein on all hosts; in fp32 all processors with AVX2 and FMA "
                + "agree, in bf16 those with the same kernel, which "
                + "SKEIN_CPU_LEVEL=avx2 in the environment lowers everywhere; where both fingerprints name "
                + "OpenBLAS, give all hosts the same version of it and the same OPENBLAS_CORETYPE"
        case .answer:
            "one of the two machines computes wrongly: test the memory and the processor of the worker's "
                + "host, or of the coordinator's if all workers are refused"
        case .full: "wait until a worker leaves, or stop one"
        case .draining: "the coordinator is about to stop; try again when it is back"
        case .staleTerm:
            "the coordinator has restarted; the worker joins it again by itself"
        case .quarantined:
            "the worker failed several times; read its log; it is let in again after a while"
        case .protocolViolation:
            "run the same version of skein on both sides; if they are the same, report the reason"
        case .timeout: "check the network between the hosts and the load of the worker's host"
        case .superseded: "the worker has connected again; nothing is to be done"
        case .nameTaken:
            "give each worker a --name of its own; that of a worker that was killed is free within seconds"
        case .stuck:
            "start the worker again; if it gets stuck again, look at the disk that its model is on "
                + "and at the memory of its host; if it is just slow, give a longer --patience"
        }
    }

    /// Whether the same worker would be refused again, so that it must not come back by itself: if a tag
    /// proves who says so. Any process can be at the coordinator's address after it has died.
    package var isFinal: Bool {
        switch self {
        case .version, .authentication, .model, .fingerprint, .answer, .stuck: true
        // A worker can drop what belongs to another run, and a line can damage a frame: neither is
        // a reason to lose a worker.
        case .data, .configuration, .full, .draining, .staleTerm, .quarantined, .protocolViolation,
            .timeout, .superseded, .nameTaken:
            false
        }
    }

    /// Whether it is said of a process that was let in, and of no other: a thread that hangs cannot be
    /// ended, so its process must be.
    var isOfProcess: Bool { self == .stuck }

    /// Whether the worker prepared for another run and must drop that.
    package var isOfAnotherRun: Bool { self == .data || self == .configuration }

    /// The exit status of a worker that gives up because of this.
    package var exitStatus: ExitStatus {
        switch self {
        case .version, .authentication, .model, .fingerprint, .answer: .badData
        case .data, .configuration, .full, .draining, .staleTerm, .quarantined, .protocolViolation,
            .timeout, .superseded, .stuck, .nameTaken:
            .peerGone
        }
    }
}

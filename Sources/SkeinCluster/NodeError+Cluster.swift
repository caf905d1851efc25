import SkeinBasics
import SkeinCoordination

// Errors between a coordinator and its workers.
extension NodeError {
    var clusterExplanation: Explanation {
        switch self {
        case .tooFewFiles(let limit, let needed):
            Explanation(
                what: "this process may open \(limit) files and needs \(needed) for its workers",
                remedy: "raise the limit (ulimit -n; LimitNOFILE= in systemd), or wait for fewer "
                    + "workers with --min-workers",
                status: .inputOutput)
        case .roundTooLarge(let tokens, let rows):
            Explanation(
                what: "the rows of a logical worker's round may have "
                    + "\(Figures.count(tokens, "token")) in \(Figures.count(rows, "sequence")), and a lease holds \(SkeinCoordination.Limits.leasedTokens) in "
                    + "\(SkeinCoordination.Limits.leasedRows)",
                place: "--local-steps",
                remedy: "give a smaller --local-steps, --batch-size or --max-length",
                status: .badData)
        case .adapterTooLarge(let parameters, let messageBytes):
            Explanation(
                what: "an adapter of \(parameters) parameters makes messages of up to "
                    + "\(messageBytes) bytes, and the wire's lengths end at \(UInt32.max)",
                remedy:
                    "use a lower --rank, fewer --target-modules, or a --gradient-codec with fewer "
                    + "bits; or train in one process with skein train",
                status: .badData)
        case .replayTooLarge(let messageBytes):
            Explanation(
                what: "what rebuilds the state of a logical worker takes up to \(messageBytes) "
                    + "bytes, and the wire's lengths end at \(UInt32.max)",
                remedy: "save states more often, with a smaller --save-state-every; or use a "
                    + "--delta-codec with fewer bits, a lower --rank or fewer --target-modules",
                status: .badData)
        case .tokenRequired(let address):
            Explanation(
                what: "without a token, only this machine is served", place: address,
                remedy: "give --token-file FILE, a secret shared with all workers (see "
                    + "docs/OPERATING.md), or listen on 127.0.0.1",
                status: .usage)
        case .workersMissing(let sentence):
            Explanation(
                what: sentence,
                remedy: "see what the log says about the workers, start some, and continue with "
                    + "--resume; --patience sets how long to wait",
                status: .peerGone)
        case .stateLost(let sentence):
            Explanation(
                what: sentence,
                remedy: "continue with --resume from the last saved round; if the same worker is "
                    + "named again, it computes something else than the others: leave it out",
                status: .peerGone)
        case .coordinatorMissing(let sentence):
            Explanation(
                what: sentence,
                remedy: "check that the coordinator runs at this address, then start the worker "
                    + "again; --patience sets how long it tries",
                status: .peerGone)
        case .nameReserved(let name):
            Explanation(
                what: "no worker may be called \(name): that is the name of the coordinator's own",
                remedy: "give it another --name, or none", status: .usage)
        case .refused(let address, let error):
            Explanation(
                what: error.explanation.what, place: address, remedy: error.explanation.remedy,
                status: error.explanation.status)
        case .runFailed(let detail):
            Explanation(
                what: "the run failed at the coordinator: \(detail)",
                remedy: "see the coordinator's log", status: .peerGone)
        case .offerUnusable(let detail):
            Explanation(
                what: "the coordinator's options cannot be used here: \(detail)",
                remedy: "run the same version of skein on both sides", status: .badData)
        case .leaseUnusable(let round, let index, let detail):
            Explanation(
                what: "the coordinator sent work that cannot be computed: \(detail)",
                place: "round \(round), piece \(index)",
                remedy: "run the same version of skein on both sides; if they are the same, "
                    + "report this",
                status: .badData)
        case .connectionLost:
            Explanation(
                what: "the connection was lost", remedy: "the worker reconnects by itself",
                status: .peerGone)
        case .modelDamaged(let path):
            Explanation(
                what: "the fetched model does not have the SHA-256 that the coordinator gave",
                place: path,
                remedy: "it was damaged twice and has been removed: check the disk of the "
                    + "coordinator's machine, then start the worker again, or give --model",
                status: .badData)
        case .noStatus(let address, let detail):
            Explanation(
                what: "got no status: \(detail)", place: address,
                remedy:
                    "check the address and the token, and that a coordinator runs there; a run's page "
                    + "(--status) is asked by its URL, such as http://127.0.0.1:7535/",
                status: .peerGone)
        default: preconditionFailure("explained elsewhere")
        }
    }
}

extension NodeError {
    /// Whether a fetched model was not what it should be.
    var isOfDamagedModel: Bool { if case .modelDamaged = self { true } else { false } }
}

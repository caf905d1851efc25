import Foundation
import SkeinBasics

extension HubError {
    /// Whether its explanation says that what was given is no path either.
    package var saysThatNoPath: Bool {
        switch self {
        case .offline, .notInCache, .noRepository, .unreadableCache: true
        default: false
        }
    }
}

extension HubError: Explained {
    package var explanation: Explanation {
        switch self {
        case .offline, .notInCache, .noRepository, .noRevision, .noFile, .gated, .unauthorized,
            .onlyGGUF,
            .noWeights, .noModel, .noAdapter, .notAReference:
            ofRepository
        case .badAnswer, .status, .badFileName, .tooManyFiles, .tooManyRedirects, .insecureRedirect,
            .network,
            .wrongBytes, .wrongSize:
            ofServer
        default: ofMachine
        }
    }

    private static let tokenAdvice =
        "set HF_TOKEN to a token that may read it (huggingface.co/settings/tokens)"

    private var ofRepository: Explanation {
        func bad(_ what: String, _ place: String, _ remedy: String) -> Explanation {
            Explanation(what: what, place: place, remedy: remedy, status: .badData)
        }
        switch self {
        case .offline(let reference, let cache):
            return bad(
                "no file or folder has this path, the Hub's cache \(cache) has no such model or adapter, "
                    + "and HF_HUB_OFFLINE forbids to ask the Hub", reference,
                "check the path, or unset HF_HUB_OFFLINE")
        case .notInCache(let reference, let cache):
            return bad(
                "no file or folder has this path, and the Hub's cache \(cache) has no such model or "
                    + "adapter",
                reference, "check the path, or download it: skein pull \(reference)")
        case .noRepository(let reference, let hasToken):
            return bad(
                "no file or folder has this path, and the Hub shows no such repository", reference,
                hasToken
                    ? "check the name; if it is private, the token may not read it"
                    : "check the name; if it is private, " + Self.tokenAdvice)
        case .noRevision(let repository, let revision):
            return bad(
                "the repository has no revision \(revision)", repository,
                "give a branch, tag or commit that its page lists")
        case .noFile(let repository, let file):
            return bad(
                "the repository has no file \(file)", repository,
                "give a file that its page lists")
        case .gated(let repository, let hasToken):
            return bad(
                "the repository is gated: its owner must let you in", repository,
                "accept its conditions on its page"
                    + (hasToken ? "" : ", and " + Self.tokenAdvice))
        case .unauthorized(let repository, let hasToken):
            return bad(
                hasToken
                    ? "the Hub does not accept the token" : "the Hub wants a token for this",
                repository,
                hasToken
                    ? "check HF_TOKEN: the token may be wrong, expired or of another endpoint"
                    : Self.tokenAdvice)
        case .onlyGGUF(let repository, let files):
            return bad(
                "the repository has only GGUF files, such as \(files.joined(separator: ", "))",
                repository,
                "name one: \(repository):\(files.first ?? "FILE.gguf")")
        case .noWeights(let repository):
            return bad(
                "the repository has no safetensors and no GGUF file", repository,
                "choose a repository with one of them")
        case .noModel(let repository):
            return bad(
                "the repository has an adapter and no model", repository,
                "give it where an adapter is taken, such as --adapter, and its base model as --model"
            )
        case .noAdapter(let repository, let found):
            return bad(
                "the repository has no adapter that can be read" + Self.detail(of: found),
                repository,
                "choose one with adapter_config.json and adapter_model.safetensors (PEFT) or "
                    + "adapters.safetensors (mlx-lm), or name a GGUF file of it: "
                    + "\(repository):FILE.gguf")
        default:
            return bad(
                "this is not the name of a model or an adapter on the Hub", text,
                "write ORG/NAME[@revision][:file]")
        }
    }

    private static func detail(of found: Remains) -> String {
        switch found {
        case .model: ", but a model"
        case .weights: ": its adapter_config.json is missing"
        case .pickle: ", but adapter_model.bin, a pickle, which may run code"
        case .nothing: ""
        }
    }

    private var text: String {
        if case .notAReference(let text) = self { return text }
        return ""
    }

    private var ofServer: Explanation {
        func gone(_ what: String, _ place: String, _ remedy: String) -> Explanation {
            Explanation(what: what, place: place, remedy: remedy, status: .peerGone)
        }
        let again = "try again: what was downloaded is kept"
        switch self {
        case .badAnswer(let place, let problem):
            return gone(
                "the server's answer is not one of a Hub: \(problem)", place,
                "check HF_ENDPOINT, and whether a proxy answers instead of the Hub")
        case .status(let place, 403):
            return gone(
                "the server answered with status 403: forbidden", place,
                "check the token's rights, and whether a proxy answers instead of the Hub")
        case .status(let place, let code):
            return gone("the server answered with status \(code)", place, again)
        case .badFileName(let repository, let bytes):
            return gone(
                "the server names a file (\(bytes) bytes) that would lie outside of the cache",
                repository, "do not use this repository")
        case .tooManyFiles(let repository):
            return gone(
                "the server lists more files than are looked at", repository,
                "choose a repository with the model alone")
        case .tooManyRedirects(let place):
            return gone("the server redirects without end", place, "check HF_ENDPOINT")
        case .insecureRedirect(let place):
            return gone("the server redirects from https to http", place, "check HF_ENDPOINT")
        case .network(let place, let problem, let attempts):
            return gone(
                "\(problem) (\(Figures.count(attempts, "attempt")))", place,
                "check this machine's network and https_proxy, and run it again: what was downloaded is "
                    + "kept. Without a network give the path of a file or folder, or bring the Hub's "
                    + "cache (HF_HOME) of a machine where `skein pull` has run")
        case .wrongBytes(let file, let expected, let found):
            return gone(
                "the downloaded bytes have the digest \(found), not \(expected)", file,
                "try again; if it remains, something between here and the Hub changes bytes")
        case .wrongSize(let file, let expected, let found):
            return gone("the file has \(found) bytes, not \(expected)", file, again)
        default: return gone("the Hub failed", "", again)
        }
    }

    private var ofMachine: Explanation {
        func failed(
            _ what: String, _ place: String, _ remedy: String, _ status: ExitStatus = .inputOutput
        ) -> Explanation {
            Explanation(what: what, place: place, remedy: remedy, status: status)
        }
        switch self {
        case .locked(let file):
            return failed(
                "another process has been downloading this file for longer than Skein waits",
                file, "wait until it is done, or end it")
        case .storage(let path, let operation, let code):
            return FileError.failed(operation: operation, path: path, code: code).explanation
        case .unreadableCache(let reference, let path, let operation, let code):
            let error = FileError.failed(operation: operation, path: path, code: code)
            return failed(
                "no file or folder has this path, and the Hub's cache cannot be read: "
                    + error.explanation.located, reference,
                "check the path; \(error.explanation.remedy), or set HF_HUB_CACHE to another folder"
            )
        case .badEndpoint:
            return failed(
                "this is not the address of a server", "HF_ENDPOINT",
                "write https://HOST[:PORT], without a user name or a query", .usage)
        case .badToken(let place):
            return failed(
                "the token has characters that no token has, or is too long", place,
                "copy it again from huggingface.co/settings/tokens", .usage)
        case .noFetcher(let path):
            return failed(
                "the program that downloads is not there", path,
                "build it with `swift build -c release --product skein-fetch` and put it beside "
                    + "skein, or set SKEIN_FETCH to its path")
        case .fetcherEnded(let status, let isSignal):
            return failed(
                "skein-fetch ended with \(isSignal ? "signal" : "status") \(status) before it was "
                    + "done", "",
                "try again: what was downloaded is kept")
        case .fetcherSilent(let seconds):
            return failed(
                "skein-fetch has said nothing for \(seconds) s", "",
                "try again: what was downloaded is kept", .peerGone)
        case .badMessage:
            return failed(
                "skein-fetch said something that skein does not know", "",
                "build both from the same sources")
        case .interrupted:
            return failed(
                "interrupted", "", "continue with the same command", .interrupted)
        default: return failed("the Hub failed", "", "try again")
        }
    }
}

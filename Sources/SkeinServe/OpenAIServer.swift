import Foundation
import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinNetwork
import SkeinText
import Synchronization

/// A model and its adapters, served over HTTP in OpenAI's protocol.
package final class OpenAIServer: Sendable {
    /// What is served, and within which bounds.
    @dynamicMemberLookup
    package struct Options: Sendable {
        package struct NamedAdapter: Sendable, Equatable {
            package var name: String
            package var path: String

            package init(name: String, path: String) {
                self.name = name
                self.path = path
            }
        }

        /// `HOST:PORT`; port 0 lets the system choose.
        package var listen: String
        /// What requests call the base model; nil: its file's name.
        package var name: String?
        package var adapters: [NamedAdapter] = []
        package var adapterRoot: String?
        package var anyBase = false
        /// The output directory of a run whose newest checkpoint is served.
        package var follow: String?
        package var keys = APIKeys.none
        package var corsOrigin: String?
        /// Names of this server beside those of this machine.
        package var allowedHosts: [String] = []
        /// How tokens are picked where a request does not say.
        package var sampling = SamplingWish()
        package var connections = 16384
        package var chat = ChatTemplateSettings()
        package var logsRequests = true

        /// What the model and all that answers with it may take.
        package var host = OptionValues<HostOptions>()

        package init(listen: String) { self.listen = listen }

        package subscript<Value>(dynamicMember path: KeyPath<HostOptions, Option<Value>>) -> Value {
            get { host[dynamicMember: path] }
            set { host[dynamicMember: path] = newValue }
        }
    }

    private let http: HTTPServer
    private let box = SiteBox()
    private let host: ModelHost
    let threads: PreparationThreads
    private let follower: RunFollower?
    /// The bound address, `HOST:PORT`.
    package let address: String
    package var url: String { "http://\(address)" }
    /// Whether only this machine can reach it.
    package var isLoopback: Bool { http.isLoopback }

    /// Loads the model and the adapters, and begins to answer.
    ///
    /// - Parameters:
    ///   - model: the base.
    ///   - options: what is served.
    ///   - door: the port, bound already with the same options, which an error closes; nil: it is bound
    ///     now.
    ///   - sources: clocks and random numbers.
    ///   - log: what happens.
    /// - Throws: `HostError`, `ServeError`, `SocketError`; what reading the model and the adapters throws.
    package init(
        _ model: ModelDirectory, _ options: Options, door: ServeDoor? = nil,
        sources: ServeSources = ServeSources(), log: Log
    ) throws {
        // A port that is taken is known before anything that takes long.
        let door = try door ?? ServeDoor(options, sources: sources)
        var isOpen = false
        defer { if !isOpen { door.close() } }
        http = door.http
        address = door.address
        // What can be refused is refused before anything that takes long.
        let served = options.name ?? Self.name(of: model.path)
        guard ServedModels.isName(served) else {
            throw ServeError.badName(name: APIError.printable(served), from: .base)
        }
        let followed = options.follow.map { Self.runName(of: $0) }
        if followed == served { throw ServeError.nameTaken(name: served, from: .followed) }
        let root = try options.adapterRoot.map { try AdapterRoot($0) }
        let opened = try ModelHost.Opened(model, options.host, for: options.use)
        log.info(opened.plan.statement)
        let sampling = SamplingRule(options: options.sampling, model: SamplingWish(model.sampling))
        model.sampling.warning.map { log.warning($0) }
        let given = try GivenAdapters(
            options.adapters,
            besides: [served] + [followed].compactMap { $0 },
            for: model, rank: opened.plan.batch.rank, memory: opened.memory)
        if !options.anyBase, !given.adapters.isEmpty { try given.check(base: opened.digest.wait()) }
        let box = box
        host = try ModelHost(
            opened, chat: options.chat, owners: max(1, options.keys.count),
            anyBase: options.anyBase, date: sources.date
        ) { events in
            box.post { $0.take(events) }
        }
        // A request that brings an adapter must not wait for it on a thread that prepares others.
        if !options.anyBase, opened.plan.adapterBytes > 0 { _ = opened.digest.wait() }
        let remarks = AdapterRemarks(model: model, chat: options.chat, log: log)
        let models = try ServedModels(
            host.adapters, name: served,
            settings: ServedModels.Settings(
                adapters: max(options.maximumAdapters, options.adapters.count), root: root,
                remark: { remarks.say(of: $0) }))
        var started: (threads: PreparationThreads?, follower: RunFollower?) = (nil, nil)
        do {
            for (name, admitted) in given.adapters {
                try models.add(name, admitted)
                log.info("adapter \(name): \(admitted.adapter.path)")
                remarks.say(of: admitted.adapter)
            }
            threads = try PreparationThreads(count: 2)
            started.threads = threads
            // Before any client can ask: no other model may have its name.
            follower = try options.follow.map { directory in
                try RunFollower(
                    directory, name: Self.runName(of: directory), models: models, log: log)
            }
            started.follower = follower
            host.prompts.unusedArgument.map {
                log.warning("\($0.explanation.place): \($0.explanation.what), so it does nothing")
            }
            let preparation = Preparation(
                models: models, host: host, answerTokens: options.answerTokens,
                sampling: sampling)
            let parts = ServeSite.Parts(
                preparation: preparation, threads: threads,
                access: door.access, requests: options.parallel + options.queue,
                bodyBytes: min(
                    Limits.bodyBytes,
                    max(Limits.leastBodyBytes, host.context * Limits.bodyBytesPerToken)),
                sources: sources, log: log, logsRequests: options.logsRequests)
            try door.open { clock in
                let site = ServeSite(parts, loop: clock) { body in box.post(body) }
                box.take(site)
                return site
            }
            box.take(http)
            isOpen = true
        } catch {
            started.follower?.stop()
            started.threads?.stop()
            host.engine.stop()
            throw error
        }
    }

    /// A file's name without what says its format.
    private static func name(of path: String) -> String {
        let name = FilePath.name(of: path)
        return name.hasSuffix(".gguf") ? String(name.dropLast(5)) : name
    }

    private static func runName(of directory: String) -> String {
        let name = FilePath.name(of: directory)
        return ServedModels.isName(name) ? name : "run"
    }

    /// What the engine does now.
    var figures: AnswerEngine.Figures { host.engine.figures }

    /// Takes no more requests and lets those that are under way have their answers.
    ///
    /// - Parameters:
    ///   - grace: how long they may take.
    ///   - last: how long the engine may then take to end what it does for the others, so that the log has
    ///     it: a step.
    /// - Returns: whether all were answered within `grace`.
    @discardableResult
    package func drain(grace: Duration, last: Duration = .seconds(1)) -> Bool {
        follower?.stop()
        http.drain()
        let deadline = ContinuousClock.now + grace
        var isEmpty = false
        while ContinuousClock.now < deadline {
            // An error means that it has stopped.
            guard let count = try? http.connectionCount(), count > 0 else {
                isEmpty = true
                break
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
        if !isEmpty {
            // Those who are cut off hear why, and the log has what they had: the engine ends it
            // within a step.
            let left = DispatchSemaphore(value: 0)
            box.post { $0.cutOff { left.signal() } }
            _ = left.wait(timeout: .now() + last / .seconds(1))
            http.stop(grace: .seconds(1))
        }
        http.stop()
        host.engine.stop()
        threads.stop()
        box.clear()
        return isEmpty
    }
}

extension OpenAIServer.Options {
    /// Room for a followed run's adapter and for a checkpoint that a request names beside those that may
    /// be loaded.
    var use: HostUse {
        let hasAdapters = !adapters.isEmpty || adapterRoot != nil || follow != nil
        return .server(
            adapters: hasAdapters ? max(host.maximumAdapters, adapters.count) + 2 : 0,
            ownBytes: Limits.writingBytes)
    }
}

/// The way to the site's thread, which others are given before there is one.
private final class SiteBox: Sendable {
    /// The site lives on the server's thread: it is only used within `HTTPServer.post`.
    private struct Site: @unchecked Sendable { let value: ServeSite }
    private let site = Mutex<Site?>(nil)
    private struct Way {
        var server: HTTPServer?
        /// What was posted before there was a server.
        var early: [@Sendable (ServeSite) -> Void] = []
        var isOver = false
    }
    private let way = Mutex(Way())

    func take(_ site: ServeSite) {
        let site = Site(value: site)
        self.site.withLock { $0 = site }
    }
    /// Those who were quick get what they asked for before they could be reached.
    func take(_ server: HTTPServer) {
        let early = way.withLock { way in
            way.server = server
            defer { way.early = [] }
            return way.early
        }
        for body in early { post(body) }
    }

    func post(_ body: @escaping @Sendable (ServeSite) -> Void) {
        let found: HTTPServer? = way.withLock { way in
            if way.server == nil, !way.isOver { way.early.append(body) }
            return way.server
        }
        guard let found, let site = site.withLock({ $0 }) else { return }
        found.post { body(site.value) }
    }

    /// Lets go of what it leads to; nothing is posted any longer.
    func clear() {
        way.withLock { $0 = Way(isOver: true) }
        site.withLock { $0 = nil }
    }
}

import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinNetwork
import SkeinTraining

/// A coordinator's network: a shell on a thread of its own, and its connection to the run's thread.
package struct CoordinatorNetwork: Sendable {
    let shellHandle: ShellHandle
    let inbox: RunInbox
    /// The bound address, `HOST:PORT`.
    package let address: String
    /// Ends the network's thread.
    let endThread: @Sendable () -> Void

    package init(
        shellHandle: ShellHandle, inbox: RunInbox, address: String,
        endThread: @escaping @Sendable () -> Void
    ) {
        (self.shellHandle, self.inbox) = (shellHandle, inbox)
        (self.address, self.endThread) = (address, endThread)
    }
}

extension CoordinatorNetwork {
    /// Binds the port and begins to answer.
    ///
    /// - Parameters:
    ///   - name: what the user wrote for `addresses`, for errors.
    ///   - addresses: where to listen.
    ///   - identity: what workers are told about the run.
    ///   - options: whom to admit.
    ///   - settings: how to lease.
    ///   - log: told what happens.
    /// - Throws: `SocketError.portInUse` and others.
    package init(
        _ name: NetworkAddress, _ addresses: [SocketAddress], identity: RunIdentity,
        options: CoordinatorOptions, settings: CoordinatorSettings, log: Log
    ) throws {
        let inbox = RunInbox()
        let room = ProcessFigures.connectionRoom()
        let counts = ShellCounts()
        let loop = try EventLoop(name: "skein-network")
        do {
            let shell = try Confined(to: loop) {
                CoordinatorShell(
                    loop: loop, inbox: inbox, identity: identity, options: options,
                    settings: settings, counts: counts, log: log)
            }
            let address = try shell.call { [shell] in
                $0.desk = shell
                $0.connectionRoom = room
                return try $0.listen(on: addresses, name: name).description
            }
            self.init(
                shellHandle: ShellHandle(shell: shell, counts: counts), inbox: inbox,
                address: address, endThread: { loop.stop() })
        } catch {
            loop.stop()
            throw error
        }
    }

    /// The workers as the source of a run whose adapter begins with these numbers; without samples and
    /// local steps.
    package func source(
        _ recipe: WorkRecipe, _ configuration: TrainingConfiguration, initial: [Float],
        shouldStop: @escaping @Sendable () -> Bool
    ) -> any StepSource {
        ClusterSource(
            shellHandle: shellHandle, inbox: inbox, recipe: recipe, configuration: configuration,
            initial: initial, shouldStop: shouldStop)
    }

    /// Shows the cluster on a board from now on.
    package func show(on board: RunBoard) {
        let shellHandle = shellHandle
        board.attach { shellHandle.view() }
    }

    /// What the benchmark notes of a step, for status and page.
    package func note(_ progress: RunSnapshot.Progress) { shellHandle.note(progress) }

    /// Processor seconds that the network's thread has spent on what people look at.
    package func viewSeconds() throws -> Double { try shellHandle.shell.call { $0.viewSeconds } }

    /// Tells all peers, and gives the last messages time to arrive.
    package func farewell(_ leave: Leave) {
        shellHandle.finish(leave)
        let deadline = ContinuousClock.now + Limits.flush
        while shellHandle.counts.connections > 0, ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    /// Ends the network's thread.
    package func stop() { endThread() }
}

extension CoordinatorSettings {
    /// Lowers the number of workers that are let in to what this process has descriptors for, with
    /// an eighth of them for strangers.
    ///
    /// - Parameter room: connections, see `ProcessFigures.connectionRoom`.
    /// - Throws: `NodeError.tooFewFiles` when there is no room even for the minimum of workers.
    package mutating func fit(_ room: Int) throws(NodeError) {
        let workers = room - min(Limits.strangers, max(1, room / 8))
        guard workers >= minimumWorkers else {
            let needed = minimumWorkers + max(1, minimumWorkers / 7) + Limits.otherFiles
            throw .tooFewFiles(limit: room + Limits.otherFiles, needed: needed)
        }
        maximumWorkers = min(maximumWorkers, workers)
    }
}

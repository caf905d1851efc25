import Foundation
import SkeinBasics
import SkeinJSON

/// The folder in which the tasks of a job find each other: the coordinator writes its address and
/// its token there, each task a card.
///
/// Files are written whole or not at all. Nothing in them is compared with a clock: hosts' clocks
/// differ.
package struct Rendezvous: Sendable, Equatable {
    /// What the coordinator last said.
    package struct Notice: Sendable, Equatable {
        package enum State: String, Sendable {
            /// Reads model and data.
            case starting
            case listening
            /// Asked to stop, with a checkpoint: it comes back, perhaps on another host.
            case stopped
            case complete
            case failed
        }

        package var state: State
        /// Where it may be reached, `HOST:PORT`, the likeliest first.
        package var addresses: [String]
        /// For tasks in the same system and network namespace.
        package var localAddress: String?
        /// Why it failed.
        package var detail: String
        package var task: TaskCard

        package init(
            state: State, addresses: [String], localAddress: String?, detail: String = "",
            task: TaskCard
        ) {
            self.state = state
            self.addresses = addresses
            self.localAddress = localAddress
            self.detail = detail
            self.task = task
        }

        /// Whether it is of the same start of the same job as a task, and not an earlier start's.
        package func isCurrent(for reader: TaskCard) -> Bool {
            task.job != nil && task.job == reader.job && task.launcher == reader.launcher
                && task.restarts == reader.restarts
        }

        /// The addresses for a task, the likeliest first.
        package func addresses(for reader: TaskCard) -> [String] {
            guard let localAddress, let network = reader.network, network == task.network else {
                return addresses
            }
            return [localAddress] + addresses
        }
    }

    /// What the folder has to say.
    package enum Answer: Sendable, Equatable {
        /// The coordinator has not been there.
        case nothing
        /// A file that is not whole, as while another host writes it.
        case damaged(String)
        case notice(Notice)
    }

    static let noticeName = "address.json"
    static let mostBytes = 1 << 14
    static let mostAddresses = 8

    package let directory: String
    private let calls: any FileCalls

    /// - Parameters:
    ///   - directory: made when it is needed.
    ///   - calls: of the disk.
    package init(directory: String, calls: any FileCalls = SystemCalls()) {
        self.directory = directory
        self.calls = calls
    }

    private var store: DiskStore { DiskStore(calls: calls) }

    package static func == (left: Self, right: Self) -> Bool { left.directory == right.directory }

    /// The file with the coordinator's address.
    package var noticeFile: String { FilePath.join(directory, Self.noticeName) }

    /// Where the coordinator makes a token if none is given.
    package var tokenFile: String { FilePath.join(directory, "token") }

    /// Takes the coordinator's place, until the result is released or the process ends.
    ///
    /// - Returns: nil while another process has it.
    /// - Throws: `FileError`.
    package func takePlace() throws -> (any Sendable & AnyObject)? {
        try AtomicFile.makeDirectory(directory, in: calls)
        return try store.lock(FilePath.join(directory, ".lock"))
    }

    /// Says where the coordinator is, or how it ended. Only for who has its place.
    ///
    /// - Throws: `FileError`.
    package func publish(_ notice: Notice) throws {
        try AtomicFile.makeDirectory(directory, in: calls)
        let list = notice.addresses.prefix(Self.mostAddresses).map { JSONValue.text($0) }
        let line = JSONValue.fields(
            [
                ("version", .integer(1)), ("state", .text(notice.state.rawValue)),
                ("addresses", .list(list)),
                ("local_address", notice.localAddress.map { .text($0) } ?? .null),
                (
                    "detail",
                    .text(String(decoding: Array(notice.detail.utf8.prefix(1000)), as: UTF8.self))
                ),
            ] + notice.task.fields)
        try replace(noticeFile, with: line)
    }

    /// Leaves a task's card, so that others can say who was there.
    ///
    /// - Throws: `FileError`.
    package func leave(_ card: TaskCard) throws {
        guard let rank = card.rank else { return }
        try AtomicFile.makeDirectory(directory, in: calls)
        try replace(
            FilePath.join(directory, "task-\(rank).json"), with: JSONValue.fields(card.fields))
    }

    /// Writes a line whole or not at all. Into a pipe it might have to wait for ever, and a link
    /// leads out of the folder, so what is there must be a file or nothing.
    private func replace(_ path: String, with line: JSONValue) throws {
        if case .done(let status) = try calls.linkStatus(of: path), status.kind != .regular {
            throw FileError.wrongKind(path: path, found: status.kind, use: .writing)
        }
        try Unfinished.removeAbandoned(beside: path, in: calls)
        try AtomicFile.write(line.written + "\n", to: path, in: calls)
    }

    /// Reads what the coordinator last said.
    ///
    /// - Throws: `FileError` if the file is there and cannot be read.
    package func read() throws -> Answer {
        // A network file system may remember that a file was not there until its folder is listed.
        guard try store.names(in: directory).contains(Self.noticeName) else {
            return .nothing
        }
        let bytes: [UInt8]
        do {
            bytes = try RegularFile.bytes(
                of: noticeFile, from: 0, limit: Self.mostBytes + 1, in: calls)
        } catch FileError.failed(_, _, ENOENT) {
            return .nothing
        } catch FileError.failed(_, _, ESTALE) {
            // It was replaced meanwhile.
            return .nothing
        }
        return Self.answer(bytes)
    }

    static func answer(_ bytes: [UInt8]) -> Answer {
        guard bytes.count <= mostBytes else { return .damaged("more than \(mostBytes) bytes") }
        guard let object = object(bytes) else { return .damaged("not a JSON object") }
        guard object["version"]?.integer == 1 else {
            return .damaged("not of version 1, which this skein reads")
        }
        guard let state = object["state"]?.string.flatMap(Notice.State.init),
            let list = object["addresses"]?.list, list.count <= mostAddresses,
            case let addresses = list.compactMap(\.string), addresses.count == list.count,
            state != .listening || !addresses.isEmpty,
            addresses.allSatisfy({ Endpoint($0).map { $0.port > 0 } ?? false }),
            let task = TaskCard(object)
        else { return .damaged("a field is missing or wrong") }
        let local = object["local_address"]?.string
        guard local.map({ Endpoint($0) != nil }) ?? true else {
            return .damaged("a field is missing or wrong")
        }
        // It is shown on terminals.
        let detail = PlainText.of(object["detail"]?.string ?? "", atMost: 1000)
        return .notice(
            Notice(
                state: state, addresses: addresses, localAddress: local,
                detail: detail, task: task))
    }

    private static func object(_ bytes: [UInt8]) -> [JSONField]? {
        do {
            return try JSONReader.read(bytes, .foundation).fields
        } catch {
            // It is half written, or damaged: `answer` says so, and a card only has a host's name.
            return nil
        }
    }

    /// The ranks that have left a card here.
    ///
    /// - Throws: `FileError`.
    package func ranksSeen() throws -> [Int] {
        try store.names(in: directory).compactMap { name in
            guard name.hasPrefix("task-"), name.hasSuffix(".json") else { return nil }
            return Int(name.dropFirst("task-".count).dropLast(".json".count))
        }.sorted()
    }

    /// The card that a task has left; nil if there is none that can be read.
    package func card(ofRank rank: Int) -> TaskCard? {
        let path = FilePath.join(directory, "task-\(rank).json")
        // Without its card a task is called by its rank.
        guard
            let bytes = try? RegularFile.bytes(
                of: path, from: 0, limit: Self.mostBytes, in: calls),
            let object = Self.object(bytes)
        else { return nil }
        return TaskCard(object)
    }
}

import Foundation
import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import Synchronization

/// Adapters by name: folders and files `fmadapter-NAME-VERSION` in `SKEIN_ADAPTERS`, or else in
/// `~/.local/share/skein/adapters`.
struct AdapterStore {
    struct Item: Equatable {
        var identifier: String
        var name: String
        var version: String
        var path: String
    }

    let directory: String
    /// The configured model.
    private let place: ModelPlace
    private let environment: [String: String]

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
        place = .configured
        if let given = environment["SKEIN_ADAPTERS"], !given.isEmpty {
            directory = given
        } else {
            let data =
                environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
                ?? FilePath.join(
                    FilePath.join(environment["HOME"] ?? NSHomeDirectory(), ".local"), "share")
            directory = FilePath.join(FilePath.join(data, "skein"), "adapters")
        }
    }

    /// - Throws: `AssetError.invalidAdapterName`.
    func check(_ name: String) throws {
        let isName =
            !name.isEmpty && name.utf8.count <= Self.nameBytes
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
                default: false
                }
            }
        guard isName else {
            throw SystemLanguageModel.Adapter.AssetError.invalidAdapterName(
                .init(
                    debugDescription:
                        "\(String(reflecting: String(name.prefix(80)))) is no name of "
                        + "an adapter: use letters, digits and underscores, at most "
                        + "\(Self.nameBytes)"))
        }
    }

    private static let nameBytes = 128
    private static let prefix = "fmadapter-"

    /// All that the store holds, sorted by name, the newest version of each first.
    ///
    /// - Throws: `AssetError.compatibleAdapterNotFound` when its folder cannot be listed.
    func items() throws -> [Item] {
        let names: [String]
        do {
            // Where nothing is, no adapter was put yet.
            let isThere = try FileKind.at(directory) != nil
            names = isThere ? try DiskStore().names(in: directory) : []
        } catch {
            throw SystemLanguageModel.Adapter.AssetError.compatibleAdapterNotFound(
                .init(
                    debugDescription: ErrorText.of(error)
                        + ", or set SKEIN_ADAPTERS to another folder of adapters"))
        }
        let items = names.compactMap { identifier -> Item? in
            guard identifier.hasPrefix(Self.prefix) else { return nil }
            let rest = identifier.dropFirst(Self.prefix.count)
            guard let dash = rest.lastIndex(of: "-"), dash != rest.startIndex else { return nil }
            return Item(
                identifier: identifier, name: String(rest[..<dash]),
                version: String(rest[rest.index(after: dash)...]),
                path: FilePath.join(directory, identifier))
        }
        return items.sorted { first, second in
            if first.name != second.name { return first.name < second.name }
            let order = first.version.compare(second.version, options: .numeric)
            return order == .orderedDescending
        }
    }

    /// The adapters of a name that fit the configured model, the newest first. One that does not say
    /// which base it was made for counts as fitting; a damaged one does not, nor one that cannot be read
    /// behind a newer one that fits.
    ///
    /// - Parameters:
    ///   - name: of the adapters.
    ///   - digest: reads from an adapter's folder for which base it was made.
    /// - Returns: those that fit.
    /// - Throws: `AssetError.compatibleAdapterNotFound` when there is no configured model, or the
    ///   store's folder cannot be listed; `.invalidAsset` for one that the system does not let be read,
    ///   if no newer one fits: it may well be the newest that does.
    func compatible(
        _ name: String,
        by digest: (String) throws -> String? = {
            try SystemLanguageModel.Adapter(reading: $0).baseDigest
        }
    ) throws -> [Item] {
        let named = try items().filter { $0.name == name }
        guard !named.isEmpty else { return [] }
        let base = try baseDigest()
        var fitting: [Item] = []
        for item in named {
            do {
                let made = try digest(item.path)
                if made == nil || made?.lowercased() == base { fitting.append(item) }
            } catch let error as FileError where error.isPassing && fitting.isEmpty {
                throw SystemLanguageModel.Adapter.AssetError.invalidAsset(.init(error))
            } catch {
                // `absence` says what is wrong with it where no other fits.
            }
        }
        return fitting
    }

    /// Why there is none.
    func absence(of name: String) throws -> String {
        let all = try items()
        let named = all.filter { $0.name == name }
        guard !named.isEmpty else {
            let others = Set(all.map(\.name)).sorted().prefix(8).joined(separator: ", ")
            return "there is no adapter \(name) in \(directory)"
                + (others.isEmpty ? "" : " (there are: \(others))")
                + ": put it there as \(Self.prefix)\(name)-VERSION"
        }
        var stated: Set<String> = []
        var flaw = ""
        // The newest comes last, so that its flaw is the one that is told.
        for item in named.reversed() {
            do {
                let adapter = try SystemLanguageModel.Adapter(path: item.path)
                if let base = adapter.baseDigest { stated.insert(base) }
            } catch {
                flaw = "\(item.identifier) cannot be used: \(error.localizedDescription)"
            }
        }
        guard flaw.isEmpty || !stated.isEmpty else { return flaw }
        return
            "no adapter \(name) in \(directory) was made for the configured model, whose SHA-256 is "
            + "\(try baseDigest()): those there are for \(stated.sorted().joined(separator: ", "))"
            + "; train one for this model, or set SKEIN_MODEL to theirs"
            + (flaw.isEmpty ? "" : "; \(flaw)")
    }

    /// Removes adapters that say that they were made for another base.
    func removeObsolete() throws {
        let all = try items()
        guard !all.isEmpty else { return }
        let base = try baseDigest()
        for item in all {
            // One that cannot be read does not say for which base it was made, so it stays.
            guard let made = try? SystemLanguageModel.Adapter(path: item.path).baseDigest,
                made.lowercased() != base
            else { continue }
            try FileManager.default.removeItem(atPath: item.path)
        }
    }

    private struct KnownDigest {
        var path: String
        var identity: FileIdentity
        var digest: String
    }

    /// Hashing a gigabyte takes a second: the last one stays known.
    private static let knownDigest = Mutex<KnownDigest?>(nil)

    private func baseDigest() throws -> String {
        do {
            let path = try place.path(environment: environment)
            let identity = try FileIdentity(of: path)
            if let known = Self.knownDigest.withLock({ $0 }), known.path == path,
                known.identity == identity
            {
                return known.digest
            }
            let digest = try ModelDirectory.open(path).contentDigest().description
            Self.knownDigest.withLock {
                $0 = KnownDigest(path: path, identity: identity, digest: digest)
            }
            return digest
        } catch {
            throw SystemLanguageModel.Adapter.AssetError.compatibleAdapterNotFound(
                .init(
                    debugDescription: "which adapters fit cannot be told: " + ErrorText.of(error)))
        }
    }
}

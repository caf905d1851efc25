import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// The file of features: what comes back is what was kept, or nothing.
@Suite struct FeatureStoreTests {
    private static let width = 6

    private func key(_ text: String = "model", rounded: Bool = false) -> FeatureKey {
        FeatureKey(
            modelDigest: text, fingerprint: "engine", frozenLayers: 2, width: Self.width,
            isRounded: rounded)
    }

    private func store(
        _ directory: String, _ key: FeatureKey? = nil, limit: Int = 1 << 20
    ) throws -> FeatureStore {
        var settings = FeatureSettings(directory: directory)
        settings.limit = limit
        return try FeatureStore(key ?? self.key(), settings: settings)
    }

    private func tokens(_ number: Int) -> [Int32] { (0...(number % 5)).map { Int32($0 + number) } }

    private func name(_ number: Int) -> FeatureName { FeatureName(tokens(number)[...]) }

    /// Features as a function of the row's number; bf16 numbers.
    private func numbers(_ number: Int) -> [Float] {
        (0..<tokens(number).count * Self.width).map { Float($0 - 7) * 0.25 + Float(number) }
    }

    private func keep(_ store: FeatureStore, _ number: Int) {
        store.keep(name(number), tokens: tokens(number).count, numbers(number))
    }

    private func read(_ store: FeatureStore, _ number: Int) -> [Float]? {
        var found = [Float](repeating: .nan, count: tokens(number).count * Self.width)
        let isThere = store.read(name(number), tokens: tokens(number).count, into: &found)
        return isThere ? found : nil
    }

    private func bytes(_ store: FeatureStore) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: store.path)))
    }

    @Test(
        "rows come back bit by bit, here, in another process's store, and later",
        arguments: [false, true])
    func roundTrip(rounded: Bool) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let key = key(rounded: rounded)
            let first = try store(directory, key)
            let second = try store(directory, key)
            #expect(read(first, 1) == nil)
            for number in 0..<5 { keep(first, number) }
            // The other one finds them, and appends behind them.
            #expect(read(second, 3) == numbers(3))
            for number in 5..<9 { keep(second, number) }
            let third = try store(directory, key)
            for store in [first, second, third] {
                for number in 0..<9 { #expect(read(store, number) == numbers(number)) }
                #expect(store.rowCount == 9)
                #expect(store.takeWarnings() == [])
            }
            let size = try bytes(first).count
            #expect(first.byteCount == size)
            for number in 0..<9 { keep(third, number) }
            #expect(try bytes(first).count == size, "a row that is there is not appended")
            var status = stat()
            #expect(stat(first.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
    }

    @Test("a file of another key, or one that is none, is begun anew")
    func otherKey() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let first = try store(directory)
            keep(first, 1)
            let other = try store(directory, key("other"))
            #expect(other.path != first.path && read(other, 1) == nil)
            keep(other, 1)
            let mixed = try bytes(other)
            try Data(mixed).write(to: URL(fileURLWithPath: first.path))
            let again = try store(directory)
            #expect(again.rowCount == 0 && read(again, 1) == nil)
            keep(again, 1)
            #expect(read(again, 1) == numbers(1))
        }
    }

    @Test("a row with any byte changed or cut off is not used, and the file goes on")
    func damaged() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let made = try store(directory)
            for number in 0..<3 { keep(made, number) }
            let whole = try bytes(made)
            let url = URL(fileURLWithPath: made.path)
            for index in whole.indices {
                for isCut in [false, true] {
                    var bytes = isCut ? Array(whole[..<index]) : whole
                    if !isCut { bytes[index] ^= 0x10 }
                    try Data(bytes).write(to: url)
                    let found = try store(directory)
                    for number in 0..<3 {
                        let values = read(found, number)
                        #expect(values == nil || values == numbers(number), "byte \(index)")
                    }
                    // What is missing is appended, and then everything is there.
                    for number in 0..<3 { keep(found, number) }
                    for number in 0..<3 { #expect(read(found, number) == numbers(number)) }
                    let again = try store(directory)
                    for number in 0..<3 { #expect(read(again, number) == numbers(number)) }
                }
            }
        }
    }

    @Test("a file that shrinks under the store gives no wrong row")
    func shrinks() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = try store(directory)
            for number in 0..<4 { keep(store, number) }
            let whole = try bytes(store)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: store.path))
            try handle.truncate(atOffset: UInt64(whole.count - 50))
            for number in 0..<4 {
                let values = read(store, number)
                #expect(values == nil || values == numbers(number))
            }
            #expect(read(store, 3) == nil)
            #expect(store.takeWarnings() == [.damaged(path: store.path)])
        }
    }

    @Test("a full file says so once, and what is there stays")
    func full() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let room = 40 + 2 * FeatureRecord.bytes(tokens: 5, key())
            let store = try store(directory, limit: room)
            for number in [4, 9, 14, 19] { keep(store, number) }
            #expect(store.rowCount == 2)
            #expect(read(store, 4) == numbers(4) && read(store, 14) == nil)
            #expect(store.takeWarnings() == [.full(path: store.path, bytes: room)])
            keep(store, 14)
            #expect(store.takeWarnings() == [])
        }
    }

    @Test("while another process writes, a row is not kept, and no process waits for long")
    func locked() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = try store(directory)
            keep(store, 1)
            let other = open(store.path, O_RDWR | O_CLOEXEC)
            #expect(flock(other, LOCK_EX) == 0)
            keep(store, 2)
            #expect(read(store, 2) == nil && read(store, 1) == numbers(1))
            let late = try self.store(directory)
            #expect(late.rowCount == 1)
            #expect(read(late, 1) == numbers(1))
            _ = flock(other, LOCK_UN)
            close(other)
            keep(store, 2)
            #expect(read(store, 2) == numbers(2) && read(late, 2) == numbers(2))
        }
    }

    @Test("the least recently used files go, never the one in use")
    func pruning() throws {
        try TestPaths.withTemporaryDirectory { directory in
            for number in 0..<4 {
                let old = try store(directory, key("\(number)"))
                keep(old, 4)
                var times = [timespec(), timespec()]
                times[0].tv_sec = 1_000_000 + number
                times[1].tv_sec = 1_000_000 + number
                #expect(utimensat(AT_FDCWD, old.path, &times, 0) == 0)
            }
            let size = 40 + FeatureRecord.bytes(tokens: 5, key())
            let new = try store(directory, key("1"), limit: 3 * size + 1)
            #expect(new.rowCount == 1)
            let plan = plan(key("1"), rows: [4], directory, limit: 3 * size + 1)
            try plan.makeRoom(in: new)
            let names = try DiskStore().names(in: directory)
            #expect(names.count == 3)
            for text in ["1", "2", "3"] {
                #expect(names.contains("\(key(text).digest).features"))
            }
        }
    }

    private func plan(
        _ key: FeatureKey, rows: [Int], _ directory: String, limit: Int
    ) -> FeaturePlan {
        var settings = FeatureSettings(directory: directory)
        settings.limit = limit
        var records: [FeatureName: Int] = [:]
        for row in rows {
            records[name(row)] = FeatureRecord.bytes(tokens: tokens(row).count, key)
        }
        return FeaturePlan(
            settings: settings, key: key, records: records, tokens: 0, frozenLayers: 2, layers: 4)
    }

    @Test("a plan makes room: behind other rows, in place of them, or says that there is none")
    func room() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let one = FeatureRecord.bytes(tokens: 5, key())
            let store = try store(directory, limit: 40 + 3 * one)
            for number in [4, 9] { keep(store, number) }
            // One of its rows is there, the other fits.
            try plan(key(), rows: [4, 14], directory, limit: 40 + 3 * one).makeRoom(in: store)
            #expect(store.rowCount == 2)
            try plan(key(), rows: [14, 19], directory, limit: 40 + 3 * one).makeRoom(in: store)
            #expect(store.rowCount == 0)
            let large = plan(key(), rows: [4, 9, 14, 19], directory, limit: 40 + 3 * one)
            #expect(
                throws: FeatureError.beyondLimit(
                    directory: directory, needed: 40 + 4 * one, limit: 40 + 3 * one)
            ) { try large.makeRoom(in: store) }
            // More than any disk has.
            var huge = FeatureSettings(directory: directory)
            huge.limit = .max
            let wanted = FeaturePlan(
                settings: huge, key: key(), records: [name(4): 1 << 60], tokens: 0,
                frozenLayers: 2, layers: 4)
            keep(store, 9)
            let error = #expect(throws: FeatureError.self) { try wanted.makeRoom(in: store) }
            guard case .noSpace(directory, 1 << 60, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(store.rowCount == 1, "nothing was removed for a run that is refused")
        }
    }

    @Test("what is not a store's file is never removed, nor are rights of a directory changed")
    func others() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let place = FilePath.join(directory, "shared")
            #expect(mkdir(place, 0o755) == 0)
            try AtomicFile.write("precious", to: FilePath.join(place, "train.features"))
            keep(try store(place, key("old")), 4)
            let new = try store(place)
            let limit = 40 + FeatureRecord.bytes(tokens: 5, key())
            try plan(key(), rows: [4], place, limit: limit).makeRoom(in: new)
            #expect(try DiskStore().names(in: place).count == 2)
            #expect(new.rowCount == 0)
            var status = stat()
            #expect(stat(place, &status) == 0 && status.st_mode & 0o777 == 0o755)
            let own = FilePath.join(directory, "own")
            keep(try store(own), 4)
            #expect(stat(own, &status) == 0 && status.st_mode & 0o777 == 0o700)
        }
    }

    @Test("a file that others may write is refused")
    func foreign() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = try store(directory).path
            for mode in [0o620, 0o602] as [mode_t] {
                #expect(chmod(path, mode) == 0)
                #expect(throws: FeatureError.foreign(path: path)) { try store(directory) }
            }
            #expect(chmod(path, 0o644) == 0)
            #expect(try store(directory).rowCount == 0)
        }
    }

    @Test("stores of one process share files, and make no room at each other's expense")
    func together() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let one = FeatureRecord.bytes(tokens: 5, key())
            let limit = 2 * 40 + 3 * one
            let stores = FeatureStores()
            func plan(_ text: String, _ rows: [Int]) -> FeaturePlan {
                self.plan(key(text), rows: rows, directory, limit: limit)
            }
            keep(try store(directory, key("old")), 4)
            let first = try stores.store(plan("a", [4]))
            keep(first, 4)
            let second = try stores.store(plan("b", [9]))
            keep(second, 9)
            #expect(try stores.store(plan("a", [14])) === first)
            keep(first, 14)
            let names = try DiskStore().names(in: directory)
            #expect(Set(names) == ["\(key("a").digest).features", "\(key("b").digest).features"])
            // Together they would be too many for one file.
            #expect(throws: FeatureError.self) { try stores.store(plan("a", [19, 24])) }
            #expect(read(first, 4) == numbers(4) && read(second, 9) == numbers(9))
            // A file that is begun anew is written to again.
            try first.beginAnew()
            keep(first, 14)
            #expect(read(first, 4) == nil && read(first, 14) == numbers(14))
        }
    }

    @Test("a damaged row before a torn one is mended")
    func mended() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let made = try store(directory)
            for number in 0..<3 { keep(made, number) }
            var bytes = try bytes(made)
            bytes[40 + FeatureRecord.headBytes + 1] ^= 1
            bytes.removeLast(5)
            try Data(bytes).write(to: URL(fileURLWithPath: made.path))
            #expect(chmod(made.path, 0o600) == 0)
            let found = try store(directory)
            #expect(read(found, 0) == nil && read(found, 1) == numbers(1) && read(found, 2) == nil)
            keep(found, 0)
            keep(found, 2)
            for number in 0..<3 { #expect(read(found, number) == numbers(number)) }
            let again = try store(directory)
            for number in 0..<3 { #expect(read(again, number) == numbers(number)) }
        }
    }

    @Test("a file with too many rows of other data is begun anew, and other stores notice")
    func anew() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let room = 40 + 3 * FeatureRecord.bytes(tokens: 5, key())
            let first = try store(directory, limit: room)
            let second = try store(directory, limit: room)
            for number in [4, 9] { keep(first, number) }
            #expect(read(second, 4) == numbers(4))
            #expect(first.hasRoom(for: FeatureRecord.bytes(tokens: 5, key())))
            #expect(!first.hasRoom(for: 2 * FeatureRecord.bytes(tokens: 5, key())))
            try first.beginAnew()
            #expect(first.rowCount == 0 && read(first, 4) == nil)
            keep(first, 14)
            #expect(read(second, 9) == nil && read(second, 14) == numbers(14))
            keep(second, 19)
            #expect(read(first, 19) == numbers(19))
        }
    }

    @Test("a file that is begun anew and longer than before when another store looks loses nothing")
    func longer() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let first = try store(directory)
            let second = try store(directory)
            for number in [4, 9] { keep(first, number) }
            #expect(read(second, 9) == numbers(9))
            try first.beginAnew()
            // The other one's end is in the middle of a row.
            for number in [3, 8, 13] { keep(first, number) }
            keep(second, 24)
            for number in [3, 8, 13, 24] {
                #expect(read(first, number) == numbers(number))
                #expect(read(second, number) == numbers(number))
            }
            let third = try store(directory)
            #expect(third.rowCount == 4)
        }
    }

    @Test("a file that is removed under the store goes on for it, and a new one begins")
    func removed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let old = try store(directory)
            keep(old, 1)
            #expect(unlink(old.path) == 0)
            keep(old, 2)
            let new = try store(directory)
            #expect(read(old, 2) == numbers(2) && read(new, 1) == nil)
            keep(new, 1)
            #expect(read(new, 1) == numbers(1))
        }
    }

    @Test("what is no regular file is refused")
    func kinds() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = FilePath.join(directory, "\(key().digest).features")
            #expect(mkfifo(path, 0o600) == 0)
            #expect(throws: FileError.self) { try store(directory) }
            #expect(unlink(path) == 0)
            try AtomicFile.write("elsewhere", to: directory + "/target")
            #expect(symlink(directory + "/target", path) == 0)
            #expect(throws: FileError.self) { try store(directory) }
            #expect(try MappedFile(path: directory + "/target").count == 9)
        }
    }
}

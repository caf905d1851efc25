import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinWatch

/// Reads event files as a program that knows only the formats: the tests' own reader.
private struct EventReader {
    struct Field {
        var number: Int
        var varint: UInt64 = 0
        var bytes: [UInt8] = []
    }

    /// The records of a file; nil where a checksum is wrong.
    static func records(_ path: String) throws -> [[UInt8]] {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        var records: [[UInt8]] = []
        var place = 0
        while place + 16 <= bytes.count {
            let count = Int(number(bytes[place..<place + 8]))
            #expect(
                number(bytes[place + 8..<place + 12]) == masked(Array(bytes[place..<place + 8])))
            let record = Array(bytes[place + 12..<place + 12 + count])
            #expect(number(bytes[place + 12 + count..<place + 16 + count]) == masked(record))
            records.append(record)
            place += 16 + count
        }
        return records
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The checksum bit by bit.
    static func masked(_ bytes: [UInt8]) -> UInt64 {
        var crc: UInt32 = 0xffff_ffff
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82f6_3b78 : crc >> 1 }
        }
        crc = ~crc
        return UInt64((crc >> 15 | crc << 17) &+ 0xa282_ead8)
    }

    static func fields(_ bytes: [UInt8]) -> [Field] {
        var rest = bytes[...]
        func varint() -> UInt64 {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while let byte = rest.popFirst() {
                value |= UInt64(byte & 0x7F) << shift
                shift += 7
                if byte < 0x80 { break }
            }
            return value
        }
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        var fields: [Field] = []
        while !rest.isEmpty {
            let key = varint()
            var field = Field(number: Int(key >> 3))
            switch key & 7 {
            case 0: field.varint = varint()
            case 1: field.bytes = take(8)
            case 5: field.bytes = take(4)
            default: field.bytes = take(Int(varint()))
            }
            fields.append(field)
        }
        return fields
    }

    /// `step tag value` for each scalar, `step start`, `step tag text`; a tensor of a double is
    /// marked as such.
    static func lines(_ path: String) throws -> [String] {
        try records(path).flatMap { record -> [String] in
            let event = fields(record)
            let step = event.first { $0.number == 2 }.map { Int($0.varint) } ?? 0
            if event.contains(where: { $0.number == 7 }) { return ["\(step) start"] }
            if let version = event.first(where: { $0.number == 3 }) {
                return [String(decoding: version.bytes, as: UTF8.self)]
            }
            let summary = event.first { $0.number == 5 }?.bytes ?? []
            return fields(summary).map { value in
                let parts = fields(value.bytes)
                let tag = parts.first { $0.number == 1 }?.bytes ?? []
                let tensor = fields(parts.first { $0.number == 8 }?.bytes ?? [])
                let start = "\(step) \(String(decoding: tag, as: UTF8.self)) "
                if let text = tensor.first(where: { $0.number == 8 }) {
                    return start + String(decoding: text.bytes, as: UTF8.self)
                }
                if let double = tensor.first(where: { $0.number == 6 })?.bytes {
                    return start + "tensor \(Double(bitPattern: number(double[...])))"
                }
                let simple = parts.first { $0.number == 2 }?.bytes ?? []
                return start + "\(Float(bitPattern: UInt32(number(simple[...]))))"
            }
        }
    }
}

@Suite("event files for TensorBoard")
struct TensorBoardTests {
    private func step(_ number: Int) -> StepMetrics {
        StepMetrics(
            step: number, epoch: 1, loss: 1 / Double(number), tokens: 7, lossTokens: 5,
            learningRate: 0.1, gradientNorm: 1, seconds: 2, tokensPerSecond: 3.5, workers: 1)
    }

    private let third = Float(1) / 3

    private func lines(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted().flatMap {
            try EventReader.lines(directory + "/" + $0)
        }
    }

    @Test("a scalar has the bytes that PyTorch's SummaryWriter writes")
    func asSummaryWriter() {
        // torch 2.15.0, tensorboard 2.21.0: add_scalar("train/loss", 1 / 3, 3).
        let theirs = "094f7067e39ec2da4110032a130a110a0a747261696e2f6c6f737315abaaaa3e"
        let ours = EventRecord(
            wallTime: 1_795_849_101.6162298, step: 3,
            content: .scalars([(tag: "train/loss", value: 1.0 / 3)]))
        #expect(ours.bytes.map { String(format: "%02x", $0) }.joined() == theirs)
    }

    @Test("every scalar reads back as a float, and texts as they are")
    func readBack() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("{\"a\": 1}\n", to: directory + "/run.json")
            let export = TensorBoardExport(directory: directory + "/tb", run: directory, log: Log())
            export.note(.step(step(3), stepCount: 9))
            export.note(
                .validation(
                    ValidationMetrics(step: 3, epoch: 1, loss: 0.1, tokens: 11), isBest: true))
            export.note(
                .validation(
                    ValidationMetrics(step: 4, epoch: 1, loss: nil, tokens: 0), isBest: false))
            export.note(
                .sample(SampleMetrics(step: 3, epoch: 1, prompt: "p?", text: "a\nb", tokens: 2)))
            export.finish()
            let found = try lines(in: directory + "/tb")
            #expect(found[0] == "brain.Event:2")
            #expect(found[1] == "0 start")
            #expect(found[2].hasPrefix("0 run/configuration     {\"a\": 1}"))
            #expect(found.contains("3 train/loss \(third)"))
            #expect(found.contains("3 train/learning_rate 0.1"))
            #expect(found.contains("3 validation/loss 0.1"))
            #expect(found.contains("3 sample/p?     a\n    b"))
            #expect(!found.contains { $0.hasPrefix("4 ") })
        }
    }

    @Test("a resumed run voids later steps, and fills in what was not written")
    func resume() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tb = directory + "/tb"
            let first = TensorBoardExport(directory: tb, run: directory, log: Log())
            for number in 1...4 { first.note(.step(step(number), stepCount: 9)) }
            first.finish()
            do {
                let metrics = try Metrics(path: directory + "/metrics.jsonl", keepingThroughStep: 0)
                for number in 1...8 { try metrics.append(step(number)) }
            }
            // Resumed after step 6: 5 and 6 are missing. Then after step 3: 4 is void.
            let second = TensorBoardExport(directory: tb, run: directory, log: Log())
            second.note(.resumed(step: 6, rejected: []))
            second.note(.step(step(7), stepCount: 9))
            second.finish()
            let third = TensorBoardExport(directory: tb, run: directory, log: Log())
            third.note(.resumed(step: 3, rejected: []))
            third.note(.step(step(4), stepCount: 9))
            third.finish()
            // Resumed after the last step that the files have.
            let fourth = TensorBoardExport(directory: tb, run: directory, log: Log())
            fourth.note(.resumed(step: 4, rejected: []))
            fourth.finish()
            let found = try lines(in: tb).filter {
                $0.contains("train/loss ") || $0.hasSuffix(" start")
            }
            let expected: [String] = [
                "0 start", "1 train/loss 1.0", "2 train/loss 0.5", "3 train/loss \(self.third)",
                "4 train/loss 0.25", "4 start", "4 train/loss 0.25", "5 train/loss 0.2",
                "6 train/loss \(Float(1) / 6)", "7 train/loss \(Float(1) / 7)", "3 start",
                "3 train/loss \(self.third)", "4 train/loss 0.25", "4 start",
                "4 train/loss 0.25",
            ]
            #expect(found == expected)
        }
    }

    @Test("a resumed run writes the validation that a kill cut off, whatever else is damaged")
    func cutOff() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tb = directory + "/tb"
            let first = TensorBoardExport(directory: tb, run: directory, log: Log())
            for number in 1...3 { first.note(.step(step(number), stepCount: 9)) }
            first.finish()
            let validation = ValidationMetrics(step: 3, epoch: 1, loss: 0.5, tokens: 2)
            let lines = [
                step(1).line.written, "garbage", step(3).line.written, validation.line.written,
            ]
            try AtomicFile.write(
                lines.map { $0 + "\n" }.joined(), to: directory + "/metrics.jsonl")
            let second = TensorBoardExport(directory: tb, run: directory, log: Log())
            second.note(.resumed(step: 3, rejected: []))
            second.finish()
            let found = try self.lines(in: tb).filter { !$0.contains("configuration") }
            let again = try #require(found.firstIndex(of: "3 start"))
            #expect(found[again...].contains("3 validation/loss 0.5"))
            #expect(found[again...].contains("3 train/loss \(third)"))
        }
    }

    @Test("the validation before the first step stands once, whichever process has written it")
    func atStart() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let validation = ValidationMetrics(
                step: 0, epoch: 0, loss: 0.5, tokens: 2, tokenAccuracy: 0.25, namesAccuracy: true)
            let lines = [validation.line.written, step(1).line.written, step(2).line.written]
            try AtomicFile.write(
                lines.map { $0 + "\n" }.joined(), to: directory + "/metrics.jsonl")
            // The first of these has no file of a process before it.
            let late = directory + "/late"
            for _ in 0..<2 {
                let export = TensorBoardExport(directory: late, run: directory, log: Log())
                export.note(.resumed(step: 2, rejected: []))
                export.finish()
            }
            let tb = directory + "/tb"
            let first = TensorBoardExport(directory: tb, run: directory, log: Log())
            first.note(.validation(validation, isBest: false))
            first.note(.step(step(1), stepCount: 9))
            first.finish()
            let second = TensorBoardExport(directory: tb, run: directory, log: Log())
            second.note(.resumed(step: 2, rejected: []))
            second.finish()
            for place in [late, tb] {
                let found = try self.lines(in: place)
                for line in ["0 validation/loss 0.5", "0 validation/accuracy 0.25"] {
                    #expect(found.filter { $0 == line }.count == 1, "\(place): \(found)")
                }
                #expect(found.contains("2 train/loss 0.5"))
            }
        }
    }

    @Test("a run whose older files hold tensors is written anew from its beginning")
    func tensors() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tb = directory + "/tb"
            try AtomicFile.makeDirectory(tb)
            try AtomicFile.write("{\"a\": 1}\n", to: directory + "/run.json")
            try AtomicFile.write(
                EventFile.framed(tensor("train/loss", 0.5, step: 2)),
                to: tb + "/events.out.tfevents.0000000001.0.host.1.0.skein")
            #expect(try lines(in: tb) == ["2 train/loss tensor 0.5"])
            let validation = ValidationMetrics(step: 0, epoch: 0, loss: 0.5, tokens: 2)
            let known = [validation.line.written, step(1).line.written, step(2).line.written]
            try AtomicFile.write(
                known.map { $0 + "\n" }.joined(), to: directory + "/metrics.jsonl")
            for number in [3, 4] {
                let export = TensorBoardExport(directory: tb, run: directory, log: Log())
                export.note(.resumed(step: number - 1, rejected: []))
                export.note(.step(step(number), stepCount: 9))
                export.finish()
            }
            let found = try lines(in: tb).filter {
                $0.contains("/loss ") || $0.contains("configuration") || $0.hasSuffix(" start")
            }
            // A start voids what came before it, from its step on.
            let configuration = "0 run/configuration     {\"a\": 1}\n    "
            let expected: [String] = [
                "2 train/loss tensor 0.5", "0 start", configuration, "0 validation/loss 0.5",
                "1 train/loss 1.0", "2 train/loss 0.5", "3 train/loss \(third)", configuration,
                "3 start", "4 train/loss 0.25",
            ]
            #expect(found == expected)
        }
    }

    /// A scalar as Skein wrote it before: a tensor of one double.
    private func tensor(_ tag: String, _ value: Double, step: UInt64) -> [UInt8] {
        var event = ProtobufWriter()
        event.varint(2, step)
        event.message(5) { summary in
            summary.message(1) { scalar in
                scalar.bytes(1, Array(tag.utf8))
                scalar.message(9) { metadata in
                    metadata.message(1) { $0.bytes(1, Array("scalars".utf8)) }
                    metadata.varint(4, 1)
                }
                scalar.message(8) { tensor in
                    tensor.varint(1, 2)
                    tensor.message(2) { _ in }
                    tensor.message(6) { $0.raw(double: value) }
                }
            }
        }
        return event.data
    }

    @Test("a torn or foreign file does not stop a resumed run's export")
    func damaged() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tb = directory + "/tb"
            let first = TensorBoardExport(directory: tb, run: directory, log: Log())
            for number in 1...4 { first.note(.step(step(number), stepCount: 9)) }
            first.finish()
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: tb).first)
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: tb + "/" + name)))
            for cut in [bytes.count - 1, bytes.count - 20, 17, 3, 0] {
                try AtomicFile.write(Array(bytes[..<cut]), to: directory + "/cut")
                let last = try EventFile.lastStep(of: directory + "/cut", upTo: 9)
                #expect(last ?? 0 <= 3)
            }
            var wild = bytes
            wild[0] = 0xFF
            wild[7] = 0xFF
            try AtomicFile.write(wild, to: directory + "/wild")
            #expect(try EventFile.lastStep(of: directory + "/wild", upTo: 9) == nil)
        }
    }

    @Test("a directory that cannot be written is said once, and the run does not notice")
    func failing() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("x", to: directory + "/file")
            let said = Condition<[String]>([])
            let log = Log { _, text in said.change { $0.append(text) } }
            let export = TensorBoardExport(
                directory: directory + "/file/tb", run: directory, log: log)
            for number in 1...5 { export.note(.step(step(number), stepCount: 9)) }
            export.finish()
            let lines = said.change { $0 }
            #expect(lines.count == 2, "\(lines)")
            #expect(lines.first?.contains("this is said once") == true)
            #expect(lines.last?.contains("5 items") == true)
        }
    }

    @Test("a disk that hangs costs the giver nothing and memory up to a limit")
    func hanging() {
        let gate = Condition(false)
        let said = Condition<[String]>([])
        let log = Log { _, text in said.change { $0.append(text) } }
        let began = Condition(false)
        let queue = ExportQueue<Int>("Slow", log: log) { _ in
            began.change { $0 = true }
            gate.wait { $0 ? () : nil }
        }
        queue.give(0)
        began.wait { $0 ? () : nil }
        for number in 1..<10_000 { queue.give(number) }
        #expect(queue.finish(within: .milliseconds(50)) == 10_000)
        #expect(said.change { $0 }.count == 1)
        gate.change { $0 = true }
        #expect(queue.finish(within: .seconds(60)) == 10_000 - Limits.waiting - 1)
    }
}

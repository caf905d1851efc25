import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

/// Damaged configurations: each is read or refused, and never stops the process.
///
/// SKEIN_TEST_MUTATIONS is how many of each format; SKEIN_TEST_SEED draws others.
@Suite struct ConfigurationMutationTests {
    private static let count = Damage.count(1500)
    private static let seed = Damage.seed
    /// So many are read, and as many refused, with any seed: about 5 % of the GGUF files are read.
    private static let least = count / 50

    private static let texts = [
        "null", "0", "-1", "1", "2", "3", "1e308", "-1e308", "1e-308", "4294967296", "2147483647",
        "9223372036854775807", "-9223372036854775808", "18446744073709551615", "0.5", "true",
        "false", "[]", "{}", #""""#, #""yarn""#, #""longrope""#, #""llama3""#, #""linear""#,
        "[0]", "[1,0]", "[1e308]", #"["sliding_attention"]"#, "1e19", "256", "7",
    ]

    /// Every value of the object, one level deep in objects, as a path to it.
    private func paths(_ object: [String: Any]) -> [[String]] {
        object.keys.sorted().flatMap { key -> [[String]] in
            let inner = (object[key] as? [String: Any]).map(paths) ?? []
            return [[key]] + inner.map { [key] + $0 }
        }
    }

    private func set(_ object: inout [String: Any], _ path: ArraySlice<String>, _ value: Any?) {
        guard let key = path.first else { return }
        if path.count == 1 {
            object[key] = value
        } else {
            var inner = object[key] as? [String: Any] ?? [:]
            set(&inner, path.dropFirst(), value)
            object[key] = inner
        }
    }

    @Test("a config.json with damaged values is read or refused")
    func folders() throws {
        let random = AddressedRandom(seed: Self.seed, purpose: .benchmark)
        let originals = try FamilyGolden.all.map { try $0.configuration() }
        var (read, refused) = (0, 0)
        for index in 0..<Self.count {
            let words = random.block(UInt32(index))
            var object = originals[Int(words[0]) % originals.count]
            let paths = paths(object)
            for change in 0...Int(words[1] % 3) {
                let draw = random.block(UInt32(index), UInt32(change + 1))
                let text = Self.texts[Int(draw[1]) % Self.texts.count]
                let value = try JSONSerialization.jsonObject(
                    with: Data(text.utf8), options: .fragmentsAllowed)
                set(
                    &object, paths[Int(draw[0]) % paths.count][...],
                    draw[2] % 8 == 0 ? nil : value)
            }
            let changed = object
            do {
                let model = try TestPaths.withTemporaryDirectory { directory in
                    try AtomicFile.write(
                        Array(JSONSerialization.data(withJSONObject: changed)),
                        to: directory + "/config.json")
                    return try FamilyRegistry.standard.read(ModelDescription.open(directory))
                        .configuration
                }
                expectSound(model, "mutation \(index) of seed \(Self.seed)")
                read += 1
            } catch is FormatError {
                refused += 1
            }
        }
        #expect(read > Self.least && refused > Self.least, "\(read), \(refused)")
    }

    @Test("a GGUF file with damaged metadata is read or refused")
    func metadata() throws {
        let random = AddressedRandom(seed: Self.seed, purpose: .benchmark)
        let originals = try FamilyGolden.all.map { try $0.image() }
        let values: [GGUFImage.Value] = [
            .uint32(0), .uint32(1), .uint32(.max), .int32(-1), .uint64(.max), .float32(.nan),
            .float32(.infinity), .float32(0), .float32(-1), .float32(.leastNonzeroMagnitude),
            .float32(3),
            .uint32(7), .uint32(8), .string(""), .string("yarn"), .string("longrope"),
            .bools([true, false]), .int32s([]), .float32s([1]), .strings(["x"]), .bool(true),
        ]
        var (read, refused) = (0, 0)
        for index in 0..<Self.count {
            let words = random.block(UInt32(index), 9)
            var image = originals[Int(words[0]) % originals.count]
            for change in 0...Int(words[1] % 3) {
                let draw = random.block(UInt32(index), UInt32(change + 10))
                let place = Int(draw[0]) % image.metadata.count
                image.metadata[place].value = values[Int(draw[1]) % values.count]
                if draw[2] % 8 == 0 { image.metadata.remove(at: place) }
            }
            do {
                let model = try FamilyGolden.read(image)
                expectSound(model, "mutation \(index) of seed \(Self.seed)")
                read += 1
            } catch is FormatError {
                refused += 1
            }
        }
        #expect(read > Self.least && refused > Self.least, "\(read), \(refused)")
    }

    /// What the engine relies on.
    private func expectSound(_ model: ModelConfiguration, _ comment: Comment) {
        let design = model.design
        #expect(design.blocks.count == model.layerCount, comment)
        #expect(model.headCount % model.keyValueHeadCount == 0, comment)
        #expect(!model.requiredTensors.contains { $0.shape.contains { $0 < 1 } }, comment)
        for table in design.rotaryTables {
            #expect(table.theta >= 1 && table.dimension % 2 == 0, comment)
            #expect(table.dimension <= model.headDimension && table.longFrom >= 1, comment)
            #expect(table.attentionFactor > 0 && table.attentionFactor.isFinite, comment)
            for divisors in [table.divisors, table.longDivisors].compactMap({ $0 }) {
                #expect(divisors.count == table.dimension / 2, comment)
                #expect(divisors.allSatisfy { $0 >= 0.25 && $0.isFinite }, comment)
            }
        }
        for block in design.blocks.prefix(3) + design.blocks.suffix(3) {
            #expect(block.window.map { (1..<model.contextLength).contains($0) } ?? true, comment)
            #expect(block.rotaryTable.map { $0 < design.rotaryTables.count } ?? true, comment)
            let numbers = [
                block.attentionScale, block.attentionSoftCap, block.residualMultiplier,
                design.logitsSoftCap, design.logitsMultiplier, design.embeddingMultiplier,
            ].compactMap { $0 }
            #expect(numbers.allSatisfy { $0.isFinite && $0 > 0 }, comment)
            #expect(block.queryGrowth.map { $0.original >= 1 && $0.beta > 0 } ?? true, comment)
        }
    }
}

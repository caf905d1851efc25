import Foundation
import SkeinBasics
import Testing

@testable import SkeinTraining

@Suite struct ParameterCodecTests {
    /// Parameters, and how AdamW might move them.
    private func versions(_ count: Int) -> [[Float]] {
        let random = AddressedRandom(seed: 3, purpose: .benchmark)
        var parameters = (0..<count).map {
            AddressedRandom.unitFloat(random.block(UInt32($0)).x) * 0.1
        }
        return (0..<5).map { version in
            if version > 0 {
                for i in parameters.indices {
                    let words = random.block(UInt32(i), UInt32(version))
                    parameters[i] += 1e-4 * (AddressedRandom.unitFloat(words.x) - 0.5)
                }
            }
            return parameters
        }
    }

    @Test("a snapshot and differences give the last version, bit for bit")
    func versions() throws {
        for count in [0, 1, 63, 5000] {
            var versions = versions(count)
            versions.append(
                (0..<count).map { $0 % 3 == 0 ? .nan : $0 % 3 == 1 ? -0.0 : .infinity })
            versions.append(versions[2])
            let snapshot = ParameterCodec.snapshot(versions[0])
            var held = try ParameterCodec.parameters(of: snapshot, count: count)
            #expect(held.map(\.bitPattern) == versions[0].map(\.bitPattern))
            for (old, new) in zip(versions, versions.dropFirst()) {
                let delta = ParameterCodec.delta(from: old, to: new)
                #expect(delta.count <= ParameterCodec.mostPackedBytes(count: count))
                try ParameterCodec.apply(delta, to: &held)
                #expect(held.map(\.bitPattern) == new.map(\.bitPattern))
            }
        }
    }

    @Test("small changes make small differences, and no change almost none")
    func sizes() {
        let versions = versions(50_000)
        let delta = ParameterCodec.delta(from: versions[3], to: versions[4]).count
        let snapshot = ParameterCodec.snapshot(versions[4]).count
        #expect(delta * 5 < snapshot * 4)
        #expect(ParameterCodec.delta(from: versions[4], to: versions[4]).count < 200)
    }

    @Test("damaged bytes are an error and change nothing, or give the same count of numbers")
    func damage() throws {
        let versions = versions(300)
        let delta = ParameterCodec.delta(from: versions[0], to: versions[1])
        let snapshot = ParameterCodec.snapshot(versions[0] + [Float](repeating: 0, count: 300))
        for (bytes, count) in [(delta, 300), (snapshot, 600)] {
            for index in bytes.indices {
                for damaged in [Array(bytes[..<index]), flipped(bytes, index)] {
                    var held = versions[0] + [Float](repeating: 0, count: count - 300)
                    let before = held
                    do {
                        if count == 300 {
                            try ParameterCodec.apply(damaged, to: &held)
                        } else {
                            held = try ParameterCodec.parameters(of: damaged, count: count)
                        }
                        #expect(damaged.count == bytes.count && held.count == count)
                    } catch is CodecError {
                        #expect(held == before)
                    }
                }
            }
        }
        var held = versions[0]
        #expect(
            throws: CodecError.wrongKind(expected: "a difference of parameters", found: 4)
        ) { try ParameterCodec.apply(ParameterCodec.snapshot(versions[0]), to: &held) }
        #expect(throws: CodecError.wrongKind(expected: "a snapshot of parameters", found: 5)) {
            try ParameterCodec.parameters(of: delta, count: 300)
        }
        #expect(throws: CodecError.wrongCount(expected: 299, found: 300)) {
            held.removeLast()
            try ParameterCodec.apply(delta, to: &held)
        }
        #expect(throws: CodecError.trailingBytes(count: 1)) {
            held = versions[0]
            try ParameterCodec.apply(delta + [0], to: &held)
        }
    }

    private func flipped(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
        var copy = bytes
        copy[index] ^= 0x55
        return copy
    }
}

import Foundation
import SkeinBasics
import Testing

@testable import SkeinTensors

@Suite struct ElementaryFunctionsTests {
    /// The first eight digits of a rotary table's SHA-256. Made with glibc 2.36's pow, cos and sin,
    /// rounded to Float; no float of these tables differed.
    struct Table: Sendable {
        let dimension: Int
        let theta: Double
        let divisors: [Float]?
        let positions: Int
        let digest: String
    }

    static let tables = [
        Table(dimension: 128, theta: 100_000, divisors: nil, positions: 1024, digest: "4ab3cdee"),
        Table(dimension: 64, theta: 100_000, divisors: nil, positions: 2048, digest: "159c3010"),
        Table(dimension: 128, theta: 500_000, divisors: nil, positions: 4096, digest: "f63218cd"),
        Table(
            dimension: 64, theta: 10_000, divisors: (0..<32).map { 0.25 + Float($0) * 0.37 },
            positions: 2048, digest: "b871b265"),
    ]

    @Test("a rotary table has the same bits on every machine", arguments: tables)
    func sameBits(_ table: Table) {
        let rotary = RotaryEmbedding(
            headDimension: table.dimension, theta: table.theta, divisors: table.divisors,
            positions: table.positions)
        let digest = rotary.table.withUnsafeBytes { SHA256.digest(of: $0) }
        #expect(digest.description.prefix(8) == table.digest)
    }

    @Test("cosine and sine are those of the C library up to the last bit of a Double")
    func rotation() {
        var angles: [Float] = [0, 1e-30, 0.5, 1, 3.1415927, 1.5707964, 710, 65535.5, 0x1p26]
        var angle: Float = 1e-3
        while angle < 0x1p26 {
            angles.append(angle)
            angle *= 1.0007
        }
        for angle in angles.map(Double.init) {
            let (cosine, sine) = ElementaryFunctions.cosineAndSine(angle)
            #expect(abs(cosine - cos(angle)) < 3e-16, "\(angle)")
            #expect(abs(sine - sin(angle)) < 3e-16, "\(angle)")
        }
    }

    @Test("powers are exact where they can be, and otherwise the C library's up to the last bit")
    func powers() {
        #expect(ElementaryFunctions.power(10_000, -0.0) == 1)
        #expect(ElementaryFunctions.power(10_000, -0.5) == 0.01)
        #expect(ElementaryFunctions.power(4, -0.5) == 0.5)
        #expect(ElementaryFunctions.power(1, -0.3) == 1)
        #expect(ElementaryFunctions.power(0.25, 2) == 0.0625)
        for base in [1.5, 2, 10_000, 500_000, 1e6, 9.9e14] {
            for part in 0..<64 {
                let exponent = -Double(part) / 64
                let found = ElementaryFunctions.power(base, exponent)
                #expect(abs(found - pow(base, exponent)) <= found.ulp, "\(base)^\(exponent)")
            }
        }
    }
}

/// A weight matrix whose numbers are computed from several tensors, such as codes and scales.
///
/// Rows may be asked for in any ranges, on several threads, with equal bits.
protocol CompositeMatrix: Sendable {
    /// [out, in].
    var shape: [Int] { get }
    /// What the format calls it, for people: "NF4".
    var typeName: String { get }
    /// The plain type that holds each of the matrix's numbers exactly.
    var exactType: ElementType { get }
    /// Bytes of all tensors in the file.
    var byteCount: Int { get }
    /// The file that holds the codes.
    var path: String { get }

    /// Writes rows `range` as Float, row-major.
    ///
    /// - Parameters:
    ///   - range: Rows within the matrix.
    ///   - out: Room for `range.count` x columns floats.
    func dequantize(rows range: Range<Int>, into out: UnsafeMutablePointer<Float>)
}

/// Scales beside the codes of a composite matrix: F32, F16 or BF16.
enum ScaleType: String, CaseIterable {
    case f32 = "F32"
    case f16 = "F16"
    case bf16 = "BF16"

    static let names = allCases.map(\.rawValue)

    var elementType: ElementType {
        switch self {
        case .f32: .f32
        case .f16: .f16
        case .bf16: .bf16
        }
    }
}

/// Arithmetic in a floating-point type, done in Float and rounded after each operation.
protocol RoundedArithmetic {
    static func load(_ source: UnsafeRawPointer, at index: Int) -> Float
    /// The nearest numbers of the type; ties go to the even one.
    static func round(_ lanes: SIMD4<Float>) -> SIMD4<Float>
}

extension RoundedArithmetic {
    /// Rounds `count` numbers in place.
    static func round(_ y: UnsafeMutablePointer<Float>, count: Int) {
        let whole = count & ~3
        for index in stride(from: 0, to: whole, by: 4) {
            let lanes = UnsafeRawPointer(y + index).loadUnaligned(as: SIMD4<Float>.self)
            QuantizationBlocks.store(round(lanes), to: y + index)
        }
        for index in whole..<count { y[index] = round(SIMD4(repeating: y[index]))[0] }
    }
}

enum SingleArithmetic: RoundedArithmetic {
    @inline(__always)
    static func load(_ source: UnsafeRawPointer, at index: Int) -> Float {
        source.loadUnaligned(fromByteOffset: index * 4, as: Float.self)
    }

    @inline(__always)
    static func round(_ lanes: SIMD4<Float>) -> SIMD4<Float> { lanes }
}

/// Scales that are powers of two (E8M0), one byte each: 2^(byte - 127), and NaN for 255. What is
/// computed with them is not rounded.
enum ExponentArithmetic: RoundedArithmetic {
    @inline(__always)
    static func load(_ source: UnsafeRawPointer, at index: Int) -> Float {
        let exponent = UInt32(source.load(fromByteOffset: index, as: UInt8.self))
        // 2^-127 is half of the smallest normal number.
        return switch exponent {
        case 0: Float(bitPattern: 0x40_0000)
        case 255: .nan
        default: Float(bitPattern: exponent &<< 23)
        }
    }

    @inline(__always)
    static func round(_ lanes: SIMD4<Float>) -> SIMD4<Float> { lanes }
}

enum BFloat16Arithmetic: RoundedArithmetic {
    @inline(__always)
    static func load(_ source: UnsafeRawPointer, at index: Int) -> Float {
        Float(
            bitPattern: UInt32(source.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
                &<< 16)
    }

    @inline(__always)
    static func round(_ lanes: SIMD4<Float>) -> SIMD4<Float> {
        let bits = unsafeBitCast(lanes, to: SIMD4<UInt32>.self)
        var rounded = (bits &+ 0x7fff &+ ((bits &>> 16) & 1)) & 0xffff_0000
        rounded.replace(with: 0x7fc0_0000, where: lanes .!= lanes)
        return unsafeBitCast(rounded, to: SIMD4<Float>.self)
    }
}

enum Float16Arithmetic: RoundedArithmetic {
    @inline(__always)
    static func load(_ source: UnsafeRawPointer, at index: Int) -> Float {
        QuantizationBlocks.half(at: source + index * 2)
    }

    /// With integers: a CPU without F16C would call a library function for each number.
    @inline(__always)
    static func round(_ lanes: SIMD4<Float>) -> SIMD4<Float> {
        let bits = unsafeBitCast(lanes, to: SIMD4<UInt32>.self)
        let sign = bits & 0x8000_0000
        let magnitude = bits & 0x7fff_ffff
        // 13 bits of the fraction go; a carry goes on into the exponent.
        var rounded = (magnitude &+ 0x0fff &+ ((magnitude &>> 13) & 1)) & 0xffff_e000
        rounded.replace(with: 0x7f80_0000, where: rounded .>= 0x4780_0000)  // 65,536
        // Below 2^-14 numbers are multiples of 2^-24, as those of Float are from 1/2 to 1.
        let small = (unsafeBitCast(magnitude, to: SIMD4<Float>.self) + 0.5) - 0.5
        rounded.replace(
            with: unsafeBitCast(small, to: SIMD4<UInt32>.self), where: magnitude .< 0x3880_0000)
        rounded.replace(with: 0x7fc0_0000, where: lanes .!= lanes)
        return unsafeBitCast(rounded | sign, to: SIMD4<Float>.self)
    }
}

/// `GatedActivation.swiGLU`, by the name that callers without a choice use; shapes are said there.
package enum SwiGLU {
    package static func forward(
        gate: UnsafePointer<Float>, up: UnsafePointer<Float>, count: Int,
        into a: UnsafeMutablePointer<Float>
    ) {
        GatedActivation.swiGLU.forward(gate: gate, up: up, count: count, into: a)
    }

    package static func forward(
        gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>, rows: Int, columns: Int,
        into a: UnsafeMutablePointer<UInt16>
    ) {
        GatedActivation.swiGLU.forward(gate: gate, up: up, rows: rows, columns: columns, into: a)
    }

    package static func backward(
        da: UnsafeMutablePointer<Float>, gate: UnsafePointer<Float>, up: UnsafePointer<Float>,
        count: Int, du: UnsafeMutablePointer<Float>
    ) {
        GatedActivation.swiGLU.backward(da: da, gate: gate, up: up, count: count, du: du)
    }

    package static func backward(
        da: UnsafePointer<UInt16>, gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>,
        rows: Int, columns: Int, dg: UnsafeMutablePointer<UInt16>, du: UnsafeMutablePointer<UInt16>
    ) {
        GatedActivation.swiGLU.backward(
            da: da, gate: gate, up: up, rows: rows, columns: columns, dg: dg, du: du)
    }
}

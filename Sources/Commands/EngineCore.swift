import Basics
import Foundation

/// Which of OpenBLAS's kernel sets this processor deserves.
///
/// OpenBLAS picks its kernels by processor model when it is loaded. A version that is older than the
/// processor does not know the model and falls back to kernels of 2004: on an Emerald Rapids Xeon
/// Debian's 0.3.21 takes "Prescott" and reaches 30 GFLOP/s a core instead of 135. It obeys
/// `OPENBLAS_CORETYPE`, but only while it is being loaded, and this program is linked to it: so the
/// variable is set and `bench` starts itself once more. See docs/decisions/0003.
///
/// On these processors our own kernels compute (docs/decisions/0008); OpenBLAS is what benchmarks
/// compare with, and one with the wrong kernels would be no yardstick.
public enum EngineCore {
    static let variable = "OPENBLAS_CORETYPE"

    /// A kernel set's vector width. Sets of one class differ by little; the classes by a factor of two.
    enum VectorClass: Int, Comparable {
        /// SSE and the first AVX; also every name that is not known here.
        case narrow
        case avx2
        case avx512

        static func < (left: VectorClass, right: VectorClass) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The class of one of OpenBLAS's own names (driver/others/dynamic.c in its source).
        init(coreName: String) {
            switch coreName.lowercased() {
            case "skylakex", "cooperlake", "sapphirerapids": self = .avx512
            case "haswell", "zen": self = .avx2
            default: self = .narrow
            }
        }

        /// The name that asks for this class: the oldest of it, so that every OpenBLAS knows it.
        var coreName: String? {
            switch self {
            case .avx512: "SkylakeX"
            case .avx2: "Haswell"
            case .narrow: nil
            }
        }
    }

    /// Starts a benchmark again with OPENBLAS_CORETYPE when OpenBLAS chose too low; else returns.
    ///
    /// Call it first of all, with the command's name. It does nothing when the variable is set, which is also what keeps the
    /// second start from a third. Linux on x86-64 only.
    public static func selectBeforeStart(of command: String?) {
        #if os(Linux) && arch(x86_64)
            guard command == BenchCommand.table.command, getenv(variable) == nil,
                let chosen = chosenByOpenBLAS(),
                let better = choice(chosen: chosen, processor: processorDescription)
            else { return }
            setenv(variable, better, 1)
            execv(programPath, CommandLine.unsafeArgv)
            // Still here: the benchmark's limits are too low.
            let reason = String(cString: strerror(errno))
            unsetenv(variable)
            Log().warning(
                "OpenBLAS runs with its \(chosen) kernels, and starting again with "
                    + "\(variable)=\(better) failed: \(reason); set the variable by hand")
        #endif
    }

    /// The program's file by its own name, so that `ps` and `pgrep` know it after the second start.
    static var programPath: String {
        let link = "/proc/self/exe"
        guard let path = realpath(link, nil) else { return link }
        defer { free(path) }
        return String(cString: path)
    }

    /// The core name to ask for instead of `chosen` when the processor can do better.
    ///
    /// - Parameters:
    ///   - chosen: What `openblas_get_corename` says.
    ///   - processor: The text of /proc/cpuinfo; asked for only when it matters.
    /// - Returns: A value for OPENBLAS_CORETYPE, or nil.
    static func choice(chosen: String, processor: () -> String) -> String? {
        let current = VectorClass(coreName: chosen)
        guard current < .avx512 else { return nil }
        let possible = vectorClass(processor: processor())
        return possible > current ? possible.coreName : nil
    }

    /// The widest class whose instructions the first processor of `/proc/cpuinfo` has.
    static func vectorClass(processor description: String) -> VectorClass {
        let line = description.split(separator: "\n").first { $0.hasPrefix("flags") } ?? ""
        guard let colon = line.firstIndex(of: ":") else { return .narrow }
        let flags = Set(line[line.index(after: colon)...].split(separator: " "))
        guard flags.isSuperset(of: ["avx2", "fma"]) else { return .narrow }
        return flags.isSuperset(of: ["avx512f", "avx512bw", "avx512dq", "avx512vl"])
            ? .avx512 : .avx2
    }

    /// What OpenBLAS chose when it was loaded, or nil when this process has no OpenBLAS.
    private static func chosenByOpenBLAS() -> String? {
        // By name and not through the Tensors room: this runs before anything of the engine does.
        guard let symbol = dlsym(nil, "openblas_get_corename") else { return nil }
        typealias Function = @convention(c) () -> UnsafePointer<CChar>?
        return unsafeBitCast(symbol, to: Function.self)().map { String(cString: $0) }
    }

    /// The first processor's part of /proc/cpuinfo; empty when it cannot be read.
    ///
    /// A host with hundreds of cores takes long to write all of it, so only the beginning is read.
    static func processorDescription() -> String {
        let descriptor = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Limits.processorDescriptionBytes)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

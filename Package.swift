// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

/// One list of settings for every Swift target: Swift 6 mode, no warning passes.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// SKEIN_ROOMS: the rooms whose tests are built, with commas between them, or `all`. Scripts/test
/// sets it; see docs/TESTING.md.
let wanted = Context.environment["SKEIN_ROOMS"].flatMap { $0.isEmpty ? nil : $0 }

/// For tests that compute little: no optimizer, which takes most of their time to build, and both cores
/// at a single target. Only Scripts/test asks for it: SwiftPM refuses dependencies with unsafe flags.
let quick: [SwiftSetting] =
    wanted == nil
    ? [] : [.unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"])]

func room(_ name: String, _ dependencies: [String]) -> Target {
    .target(
        name: "Skein\(name)", dependencies: dependencies.map { .target(name: $0) },
        swiftSettings: strict)
}

/// `loops`: whether the tests themselves compute so much that without the optimizer they take longer
/// to run than they take less to build.
func tests(of name: String, _ dependencies: [String], loops: Bool = false) -> Target {
    testTarget(
        "Skein\(name)Tests", ["Skein\(name)", "SkeinTestSupport"] + dependencies, loops: loops)
}

func testTarget(_ name: String, _ dependencies: [String], loops: Bool = false) -> Target {
    .testTarget(
        name: name, dependencies: dependencies.map { .target(name: $0) },
        swiftSettings: strict + (loops ? [] : quick))
}

/// One test target for each room, and two for all of them.
let testTargets: [Target] = [
    tests(of: "Basics", ["CSkeinHashes"]),
    tests(of: "Tensors", ["SkeinBasics", "CSkeinKernels"], loops: true),
    tests(of: "Formats", ["SkeinBasics"]),
    tests(of: "JSON", []),
    tests(of: "Text", ["SkeinBasics", "SkeinFormats", "SkeinJSON"]),
    tests(of: "Grammar", ["SkeinBasics", "SkeinJSON"]),
    tests(of: "Rows", ["SkeinBasics", "SkeinText", "SkeinJSON", "SkeinRowsTestSupport"]),
    tests(
        of: "Models",
        [
            "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModelsTestSupport",
            "SkeinInference",
        ], loops: true),
    tests(
        of: "Training",
        [
            "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
            "SkeinRows", "SkeinJSON", "SkeinRowsTestSupport",
        ]),
    tests(of: "Network", ["SkeinBasics"]),
    tests(
        of: "Inference",
        [
            "SkeinBasics", "SkeinFormats", "SkeinModels", "SkeinText", "SkeinGrammar",
            "SkeinJSON", "SkeinTensors", "SkeinModelsTestSupport",
        ], loops: true),
    tests(of: "MacroKit", ["SkeinBasics", "SkeinJSON"]),
    tests(
        of: "Sessions",
        [
            "SkeinBasics", "SkeinFormats", "SkeinText", "SkeinGrammar", "SkeinModels",
            "SkeinInference", "SkeinJSON", "SkeinTensors",
        ]),
    tests(
        of: "Serve",
        [
            "SkeinBasics", "SkeinFormats", "SkeinModels", "SkeinText", "SkeinGrammar",
            "SkeinNetwork", "SkeinTensors", "SkeinInference", "SkeinSessions", "SkeinJSON",
        ]),
    tests(of: "Coordination", ["SkeinBasics"]),
    tests(of: "Launch", ["SkeinBasics", "SkeinJSON"]),
    tests(
        of: "Watch",
        [
            "SkeinBasics", "SkeinTraining", "SkeinHub", "SkeinTool", "SkeinFetch",
            "SkeinCluster", "SkeinCoordination", "SkeinNetwork", "SkeinJSON",
        ]),
    tests(of: "Hub", ["SkeinBasics", "SkeinTool", "SkeinFetch"]),
    tests(
        of: "Lab",
        [
            "SkeinBasics", "SkeinTensors", "SkeinModels", "SkeinText", "SkeinTraining",
            "SkeinNetwork", "SkeinCluster", "SkeinRows",
        ]),
    tests(
        of: "Cluster",
        [
            "SkeinBasics", "SkeinFormats", "SkeinModels", "SkeinTraining", "SkeinCoordination",
            "SkeinNetwork", "SkeinRows", "SkeinJSON", "SkeinSimulation",
        ], loops: true),
    tests(of: "Simulation", ["SkeinBasics", "SkeinTraining", "SkeinLaunch"], loops: true),
    tests(
        of: "Commands",
        [
            "SkeinBasics", "SkeinServe", "SkeinFormats", "SkeinModels", "SkeinText",
            "SkeinTraining", "SkeinCoordination", "SkeinCluster", "SkeinLaunch", "SkeinTool",
            "SkeinJSON", "SkeinWatch", "SkeinInference", "SkeinLab", "SkeinNetwork", "Skein",
        ]),
    tests(
        of: "",
        [
            "SkeinBasics", "SkeinTensors", "SkeinModels", "SkeinTraining", "SkeinRows",
            "SkeinInference", "SkeinText",
        ]),
    testTarget(
        "EndToEndTests",
        [
            "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinTraining",
            "SkeinCoordination", "SkeinCluster", "SkeinLab", "SkeinTestSupport", "SkeinTool",
            "SkeinFetch", "SkeinRows", "SkeinLabTool", "SkeinJSON",
        ]),
    // What holds for the whole house: which room may know which.
    testTarget("HouseTests", []),
]

/// `Grammar` for SkeinGrammarTests; `Skein` for SkeinTests.
func roomName(_ target: Target) -> String {
    let name = target.name.dropLast("Tests".count)
    return String(name.hasPrefix("Skein") && name != "Skein" ? name.dropFirst("Skein".count) : name)
}

/// Those that SKEIN_ROOMS names.
func chosen(of targets: [Target]) -> [Target] {
    guard let wanted, wanted != "all" else { return targets }
    let names = wanted.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let known = targets.map(roomName)
    if let unknown = names.first(where: { !known.contains($0) }) {
        let text =
            "error: SKEIN_ROOMS: no room \"\(unknown)\" has tests\n  fix: name some of "
            + known.sorted().joined(separator: ", ") + " with commas between them, or all\n"
        FileHandle.standardError.write(Data(text.utf8))
        exit(64)
    }
    return targets.filter { names.contains(roomName($0)) }
}

// Names of targets are one space over all packages of a program, so each has the prefix.
let package = Package(
    name: "skein",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Skein", targets: ["Skein"]),
        // A product of its own: it makes `canImport(FoundationModels)` true.
        .library(name: "FoundationModels", targets: ["FoundationModels"]),
        .executable(name: "skein", targets: ["SkeinTool"]),
        // For developers: Scripts/package leaves it out.
        .executable(name: "skein-lab", targets: ["SkeinLabTool"]),
        .executable(name: "skein-fetch", targets: ["SkeinFetch"]),
    ],
    targets: [
        .systemLibrary(
            name: "CSkeinOpenBLAS", pkgConfig: "openblas",
            providers: [.apt(["libopenblas-dev"]), .brew(["openblas"])]),
        .systemLibrary(
            name: "CSkeinZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(name: "CSkeinSystem"),
        .target(name: "CSkeinHashes"),
        .target(name: "CSkeinKernels"),
        room("Basics", ["CSkeinHashes", "SkeinJSON"]),
        room("Tensors", ["SkeinBasics", "CSkeinOpenBLAS", "CSkeinKernels"]),
        room("JSON", []),
        room("Formats", ["SkeinBasics", "SkeinJSON"]),
        room("Text", ["SkeinBasics", "SkeinFormats", "SkeinJSON"]),
        room("Rows", ["SkeinBasics", "CSkeinZstd", "SkeinText", "SkeinJSON"]),
        room("Grammar", ["SkeinBasics", "SkeinJSON"]),
        room("Models", ["SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinJSON"]),
        room(
            "Training",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinRows", "SkeinJSON", "CSkeinZstd",
            ]),
        room("Network", ["SkeinBasics", "CSkeinSystem"]),
        room("Coordination", ["SkeinBasics", "SkeinJSON"]),
        room("Launch", ["SkeinBasics", "SkeinJSON", "CSkeinSystem"]),
        room("Hub", ["SkeinBasics", "SkeinJSON", "SkeinLaunch"]),
        room(
            "Watch",
            [
                "SkeinBasics", "SkeinTraining", "SkeinLaunch", "SkeinHub", "SkeinCluster",
                "SkeinCoordination", "SkeinNetwork", "SkeinFormats", "SkeinTensors", "SkeinRows",
                "SkeinJSON",
            ]),
        room(
            "Cluster",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinTraining",
                "SkeinCoordination", "SkeinNetwork", "SkeinRows", "SkeinJSON",
            ]),
        // For skein-lab and tests; its model is the tests' tiny one.
        room(
            "Simulation",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinTraining",
                "SkeinCoordination", "SkeinNetwork", "SkeinRows", "SkeinJSON", "SkeinCluster",
                "SkeinLaunch", "SkeinTestSupport",
            ]),
        room(
            "",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTraining", "SkeinCoordination", "SkeinNetwork", "SkeinCluster",
                "SkeinSessions", "SkeinJSON", "SkeinRows", "SkeinInference",
            ]),
        .target(name: "FoundationModels", dependencies: ["Skein"], swiftSettings: strict),
        room(
            "Inference",
            [
                "SkeinBasics", "SkeinTensors", "SkeinModels", "SkeinText", "SkeinGrammar",
                "SkeinJSON", "SkeinFormats",
            ]),
        room(
            "Sessions",
            [
                "SkeinBasics", "SkeinFormats", "SkeinText", "SkeinGrammar", "SkeinModels",
                "SkeinInference", "SkeinMacros", "SkeinJSON",
            ]),
        room(
            "Serve",
            [
                "SkeinBasics", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinGrammar", "SkeinNetwork", "SkeinInference", "SkeinJSON",
            ]),
        room(
            "Lab",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTraining", "SkeinCoordination", "SkeinNetwork", "SkeinCluster",
                "SkeinLaunch", "SkeinGrammar", "SkeinJSON", "SkeinWatch", "SkeinRows",
                "SkeinInference", "SkeinCommands", "SkeinSimulation",
            ]),
        room(
            "Commands",
            [
                "Skein", "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels",
                "SkeinText", "SkeinTraining", "SkeinCoordination", "SkeinNetwork",
                "SkeinCluster", "SkeinLaunch", "SkeinHub", "SkeinWatch",
                "SkeinGrammar", "SkeinServe", "SkeinJSON", "SkeinRows", "SkeinInference",
            ]),
        // The compiler runs it; it links the C library and SkeinJSON only, so that it builds in seconds.
        // What depends on it directly is built for the compiler's machine, so tests depend on SkeinMacroKit.
        room("MacroKit", ["SkeinJSON"]),
        .macro(name: "SkeinMacros", dependencies: ["SkeinMacroKit"], swiftSettings: strict),
        .executableTarget(
            name: "SkeinTool", dependencies: ["SkeinCommands"], swiftSettings: strict),
        // Benchmarks and chaos.
        .executableTarget(
            name: "SkeinLabTool", dependencies: ["SkeinLab"], swiftSettings: strict),
        // The only code that talks to the Hub: it loads libcurl and libssl, and `skein` does not.
        .executableTarget(
            name: "SkeinFetch", dependencies: ["SkeinBasics", "SkeinHub", "SkeinJSON"],
            swiftSettings: strict),

        .target(
            name: "SkeinRowsTestSupport",
            dependencies: ["SkeinText", "SkeinRows"],
            path: "Tests/SkeinRowsTestSupport", swiftSettings: strict),
        .target(
            name: "SkeinModelsTestSupport",
            dependencies: ["SkeinFormats", "SkeinModels", "SkeinTestSupport"],
            path: "Tests/SkeinModelsTestSupport", swiftSettings: strict),
        .target(
            name: "SkeinTestSupport", dependencies: ["SkeinBasics", "CSkeinSystem"],
            path: "Tests/SkeinTestSupport", swiftSettings: strict),
    ] + chosen(of: testTargets)
)

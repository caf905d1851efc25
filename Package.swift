// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// One list of settings for every Swift target: Swift 6 mode, no warning passes.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ dependencies: [String]) -> Target {
    .target(
        name: "Skein\(name)", dependencies: dependencies.map { .target(name: $0) },
        swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [String]) -> Target {
    .testTarget(
        name: "Skein\(name)Tests",
        dependencies: (["Skein\(name)", "SkeinTestSupport"] + dependencies).map {
            .target(name: $0)
        },
        swiftSettings: strict)
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
        .executable(name: "skein-fetch", targets: ["SkeinFetch"]),
    ],
    targets: [
        .systemLibrary(
            name: "CSkeinOpenBLAS", pkgConfig: "openblas",
            providers: [.apt(["libopenblas-dev"]), .brew(["openblas"])]),
        .systemLibrary(
            name: "CSkeinZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(name: "CSkeinEpoll"),
        .systemLibrary(name: "CSkeinPipe"),
        .target(name: "CSkeinSHA256"),
        .target(name: "CSkeinCRC32C"),
        .target(name: "CSkeinKernels"),
        room("Basics", ["CSkeinSHA256", "CSkeinCRC32C"]),
        room("Tensors", ["SkeinBasics", "CSkeinOpenBLAS", "CSkeinKernels"]),
        room("Formats", ["SkeinBasics", "SkeinTensors"]),
        room("Text", ["SkeinBasics", "SkeinFormats"]),
        room("Tables", ["SkeinBasics", "CSkeinZstd"]),
        room("Grammar", ["SkeinBasics"]),
        room("Models", ["SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinGrammar"]),
        room(
            "Training",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTables", "CSkeinZstd",
            ]),
        room("Sockets", ["SkeinBasics", "CSkeinEpoll"]),
        room("HTTP", ["SkeinBasics", "SkeinSockets"]),
        room("Coordination", ["SkeinBasics"]),
        room("Launch", ["SkeinBasics", "CSkeinPipe"]),
        room("Hub", ["SkeinBasics"]),
        room("Exports", ["SkeinBasics", "SkeinTraining", "SkeinLaunch", "SkeinHub"]),
        room(
            "Nodes",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinTraining",
                "SkeinCoordination", "SkeinSockets", "SkeinHTTP",
            ]),
        room(
            "",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTraining", "SkeinCoordination", "SkeinSockets", "SkeinNodes",
                "SkeinSessions",
            ]),
        .target(name: "FoundationModels", dependencies: ["Skein"], swiftSettings: strict),
        room(
            "Answers",
            [
                "SkeinBasics", "SkeinTensors", "SkeinModels", "SkeinText", "SkeinTraining",
                "SkeinGrammar",
            ]),
        room(
            "Sessions",
            [
                "SkeinBasics", "SkeinFormats", "SkeinText", "SkeinGrammar", "SkeinModels",
                "SkeinTraining", "SkeinAnswers", "SkeinMacros",
            ]),
        room(
            "Serve",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTraining", "SkeinGrammar", "SkeinSockets", "SkeinHTTP", "SkeinAnswers",
            ]),
        room(
            "Bench",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTraining", "SkeinCoordination", "SkeinSockets", "SkeinNodes", "SkeinLaunch",
                "SkeinGrammar",
            ]),
        room(
            "Commands",
            [
                "Skein", "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTraining", "SkeinCoordination", "SkeinSockets", "SkeinNodes", "SkeinLaunch",
                "SkeinHub", "SkeinExports", "SkeinBench", "SkeinGrammar", "SkeinServe",
            ]),
        // The compiler runs it; it links the C library only, so that it builds in seconds. Whatever depends
        // on it directly is built for the compiler's machine, so tests depend on SkeinExpansion.
        room("Expansion", []),
        .macro(name: "SkeinMacros", dependencies: ["SkeinExpansion"], swiftSettings: strict),
        .executableTarget(
            name: "SkeinTool", dependencies: ["SkeinCommands"], swiftSettings: strict),
        // The only code that talks to the Hub: it loads libcurl and libssl, and `skein` does not.
        .executableTarget(
            name: "SkeinFetch", dependencies: ["SkeinBasics", "SkeinHub"], swiftSettings: strict),

        .target(
            name: "SkeinTestSupport", dependencies: ["SkeinBasics", "CSkeinPipe"],
            path: "Tests/SkeinTestSupport", swiftSettings: strict),
        tests(of: "Basics", ["CSkeinSHA256"]),
        tests(of: "Tensors", ["SkeinBasics", "CSkeinKernels"]),
        tests(of: "Formats", ["SkeinBasics"]),
        tests(of: "Text", ["SkeinBasics", "SkeinFormats"]),
        tests(of: "Grammar", ["SkeinBasics"]),
        tests(of: "Tables", ["SkeinBasics"]),
        tests(of: "Models", ["SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinGrammar"]),
        tests(
            of: "Training",
            [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTables",
            ]),
        tests(of: "Sockets", ["SkeinBasics"]),
        tests(of: "HTTP", ["SkeinBasics", "SkeinSockets"]),
        tests(
            of: "Answers",
            [
                "SkeinBasics", "SkeinFormats", "SkeinModels", "SkeinText", "SkeinTraining",
                "SkeinGrammar",
            ]),
        tests(of: "Expansion", ["SkeinBasics"]),
        tests(
            of: "Sessions",
            [
                "SkeinBasics", "SkeinFormats", "SkeinText", "SkeinGrammar", "SkeinModels",
                "SkeinTraining", "SkeinAnswers",
            ]),
        tests(
            of: "Serve",
            [
                "SkeinBasics", "SkeinFormats", "SkeinModels", "SkeinText", "SkeinTraining",
                "SkeinGrammar", "SkeinHTTP", "SkeinTensors", "SkeinAnswers", "SkeinSessions",
            ]),
        tests(of: "Coordination", ["SkeinBasics"]),
        tests(of: "Launch", ["SkeinBasics"]),
        tests(
            of: "Exports", ["SkeinBasics", "SkeinTraining", "SkeinHub", "SkeinTool", "SkeinFetch"]),
        tests(of: "Hub", ["SkeinBasics", "SkeinTool", "SkeinFetch"]),
        tests(
            of: "Bench",
            [
                "SkeinBasics", "SkeinTensors", "SkeinModels", "SkeinText", "SkeinTraining",
                "SkeinSockets", "SkeinNodes", "SkeinLaunch",
            ]),
        tests(
            of: "Nodes",
            [
                "SkeinBasics", "SkeinFormats", "SkeinModels", "SkeinTraining", "SkeinCoordination",
                "SkeinSockets", "SkeinHTTP",
            ]),
        tests(
            of: "Commands",
            [
                "Skein", "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinText",
                "SkeinTraining", "SkeinCoordination", "SkeinNodes", "SkeinLaunch",
            ]),
        tests(
            of: "",
            [
                "SkeinBasics", "SkeinTensors", "SkeinModels", "SkeinTraining", "SkeinNodes",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "SkeinBasics", "SkeinTensors", "SkeinFormats", "SkeinModels", "SkeinTraining",
                "SkeinCoordination", "SkeinNodes", "SkeinLaunch", "SkeinBench",
                "SkeinTestSupport", "SkeinTool", "SkeinFetch",
            ],
            swiftSettings: strict),
    ]
)

// swift-tools-version: 6.2
import PackageDescription

/// One list of settings for every Swift target: Swift 6 mode, no warning passes.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.target(name: name), "TestSupport"] + dependencies,
        swiftSettings: strict)
}

let package = Package(
    name: "skein",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "skein", targets: ["skein"])],
    targets: [
        .systemLibrary(
            name: "COpenBLAS", pkgConfig: "openblas",
            providers: [.apt(["libopenblas-dev"]), .brew(["openblas"])]),
        .systemLibrary(
            name: "CZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(name: "CEpoll"),
        .target(name: "CSHA256"),
        .target(name: "CCRC32C"),
        .target(name: "CKernels"),
        room("Basics", ["CSHA256"]),
        room("Tensors", ["Basics", "COpenBLAS", "CKernels"]),
        room("Formats", ["Basics", "Tensors"]),
        room("Tokenizers", ["Basics", "Formats"]),
        room("Models", ["Basics", "Tensors", "Formats"]),
        room("Training", ["Basics", "Tensors", "Formats", "Models", "Tokenizers", "CZstd"]),
        room("Coordination", ["Basics", "CCRC32C"]),
        room(
            "Nodes",
            ["Basics", "Tensors", "Formats", "Models", "Training", "Coordination", "CEpoll"]),
        room(
            "Commands",
            [
                "Basics", "Tensors", "Formats", "Models", "Tokenizers", "Training", "Coordination",
                "Nodes",
            ]),
        .executableTarget(name: "skein", dependencies: ["Commands"], swiftSettings: strict),

        .target(
            name: "TestSupport", dependencies: ["Basics"], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests(of: "Basics", ["CSHA256"]),
        tests(of: "Tensors", ["Basics", "CKernels"]),
        tests(of: "Formats", ["Basics"]),
        tests(of: "Tokenizers", ["Basics", "Formats"]),
        tests(of: "Models", ["Basics", "Tensors", "Formats"]),
        tests(of: "Training", ["Basics", "Tensors", "Formats", "Models", "Tokenizers"]),
        tests(of: "Coordination", ["Basics"]),
        tests(of: "Nodes", ["Basics", "Formats", "Models", "Training", "Coordination"]),
        tests(
            of: "Commands",
            [
                "Basics", "Tensors", "Formats", "Models", "Tokenizers", "Training", "Coordination",
                "Nodes",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Basics", "Tensors", "Formats", "Models", "Training", "Coordination", "Nodes",
                "TestSupport",
                "skein",
            ],
            swiftSettings: strict),
    ]
)

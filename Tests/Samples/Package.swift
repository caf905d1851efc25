// swift-tools-version: 6.2
import PackageDescription

/// Skein's repository: any URL or absolute path that git can clone.
let repository = Context.environment["SKEIN_REPOSITORY"] ?? "https://example.org/skein.git"

let foundationModels = Target.Dependency.product(name: "FoundationModels", package: "skein")

/// Programs that do nothing but `import FoundationModels`, as any package would.
let package = Package(
    name: "samples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: repository, from: "0.1.0")],
    targets: [
        .target(name: "SampleRunner"),
        .testTarget(name: "SampleTests", dependencies: [foundationModels]),
    ]
        + ["Asking", "Shaping", "Calling", "Guarding"].map { name in
            .executableTarget(name: name, dependencies: ["SampleRunner", foundationModels])
        }
)

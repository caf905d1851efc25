// swift-tools-version: 6.2
import PackageDescription

/// Skein: the clone that this package stands in. SKEIN_REPOSITORY names another one, any URL or absolute path that
/// git can clone, which has the tag 0.1.0: Scripts/check-package makes it.
let skein: Package.Dependency =
    Context.environment["SKEIN_REPOSITORY"].map { .package(url: $0, from: "0.1.0") }
    ?? .package(name: "skein", path: "../..")

let foundationModels = Target.Dependency.product(name: "FoundationModels", package: "skein")

/// Programs that do nothing but `import FoundationModels`, as any package would.
let package = Package(
    name: "samples",
    platforms: [.macOS(.v15)],
    dependencies: [skein],
    targets: [
        .target(name: "SampleRunner"),
        .testTarget(name: "SampleTests", dependencies: [foundationModels]),
    ]
        + ["Asking", "Shaping", "Calling", "Guarding"].map { name in
            .executableTarget(name: name, dependencies: ["SampleRunner", foundationModels])
        }
)

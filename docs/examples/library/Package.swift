// swift-tools-version: 6.2
import PackageDescription

/// Skein: the clone that this package stands in. SKEIN_REPOSITORY names another one, any URL or absolute path that
/// git can clone, which has the tag 0.1.0: Scripts/check-package makes it.
let skein: Package.Dependency =
    Context.environment["SKEIN_REPOSITORY"].map { .package(url: $0, from: "0.1.0") }
    ?? .package(name: "skein", path: "../../..")

let package = Package(
    name: "library",
    platforms: [.macOS(.v15)],
    dependencies: [skein],
    targets: ["Train", "Cluster", "Sessions", "Adapters", "Chat", "Menu"].map { name in
        .executableTarget(name: name, dependencies: [.product(name: "Skein", package: "skein")])
    }
)

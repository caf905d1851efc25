// swift-tools-version: 6.2
import PackageDescription

/// Skein's repository: any URL or absolute path that git can clone.
let repository = Context.environment["SKEIN_REPOSITORY"] ?? "https://example.org/skein.git"

let package = Package(
    name: "library",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: repository, from: "0.1.0")],
    targets: ["Train", "Cluster", "Sessions", "Adapters", "Chat", "Menu"].map { name in
        .executableTarget(name: name, dependencies: [.product(name: "Skein", package: "skein")])
    }
)

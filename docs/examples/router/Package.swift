// swift-tools-version: 6.2
import PackageDescription

/// Skein: the clone that this package stands in. SKEIN_REPOSITORY names another one, any URL or absolute path that
/// git can clone, which has the tag 0.1.0: Scripts/check-package makes it.
let skein: Package.Dependency =
    Context.environment["SKEIN_REPOSITORY"].map { .package(url: $0, from: "0.1.0") }
    ?? .package(name: "skein", path: "../../..")

/// A chat over several providers. `Routing` knows no model and links nothing: what it does can be tested in a second.
let package = Package(
    name: "router",
    platforms: [.macOS(.v15)],
    dependencies: [skein],
    targets: [
        .target(name: "Routing"),
        .executableTarget(
            name: "Router",
            dependencies: ["Routing", .product(name: "FoundationModels", package: "skein")]),
        .testTarget(name: "RoutingTests", dependencies: ["Routing"]),
    ]
)

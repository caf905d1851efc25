// swift-tools-version: 6.2
import PackageDescription

/// Skein's repository: any URL or absolute path that git can clone.
let repository = Context.environment["SKEIN_REPOSITORY"] ?? "https://example.org/skein.git"

/// A chat over several providers. `Routing` knows no model and links nothing: what it does can be tested in a second.
let package = Package(
    name: "router",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: repository, from: "0.1.0")],
    targets: [
        .target(name: "Routing"),
        .executableTarget(
            name: "Router",
            dependencies: ["Routing", .product(name: "FoundationModels", package: "skein")]),
        .testTarget(name: "RoutingTests", dependencies: ["Routing"]),
    ]
)

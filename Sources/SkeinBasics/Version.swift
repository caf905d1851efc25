/// The version of Skein, as `skein --version`, run.json and handshakes give it.
package enum Version {
    package static let text = "0.1.0"
}

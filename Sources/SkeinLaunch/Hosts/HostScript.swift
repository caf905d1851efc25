import SkeinBasics

/// What a host's shell runs when the host is checked. Pure.
///
/// It answers in lines that begin with `mark`; whatever the shell's start files print is skipped. It
/// uses what every Linux has: a POSIX shell, coreutils or BusyBox, tar and gzip.
enum HostScript {
    static let mark = "skein-host"

    /// Where releases are kept, below the user's home.
    static let releases = ".skein/releases"

    /// - Parameters:
    ///   - program: the path of `skein` there, for a host that keeps its own.
    ///   - release: is copied from standard input unless it is there already; nil: no copy.
    ///   - system: of this machine, as `uname -sm` has it; a release runs on no other.
    /// - Returns: a script for `sh -c`, in one line.
    static func text(program: String, release: Release?, system: String) -> String {
        let place =
            release.map { copying($0, system: system) }
            ?? "p=$(command -v \(ShellWords.quoted(program))) || { say absent; exit 0; }"
        return [
            "say() { echo \"\(mark) $*\"; }", "say system $(uname -sm)", "say time $(date +%s)",
            place, "say path \"$p\"", "\"$p\" --version --json </dev/null; s=$?", "echo",
            "say status $s",
        ].joined(separator: "; ")
    }

    /// Puts the release into a directory named by its SHA-256. That name appears by a rename, after
    /// length and checksum were found right, so what has it is whole. Two launches may copy at the
    /// same time; the second rename fails, and the first one's directory is used.
    private static func copying(_ release: Release, system: String) -> String {
        let unpack = [
            "umask 077", "mkdir -p \"$d\" || fail directory",
            // What a killed copy has left.
            "find \"$d\" -maxdepth 1 -name '.copy.*' -mtime +0 -exec rm -rf {} + 2>/dev/null",
            "t=$(mktemp -d \"$d/.copy.XXXXXX\") || fail directory",
            "trap 'rm -rf \"$t\"' EXIT", "trap 'exit 129' HUP INT TERM PIPE", "say copying",
            "cat >\"$t/tar\" || fail write", "n=$(wc -c <\"$t/tar\")",
            "[ \"$n\" -eq \(release.byteCount) ] || fail short",
            "echo \"\(release.digest)  $t/tar\" | sha256sum -c >/dev/null 2>&1 || fail checksum",
            "say received", "mkdir \"$t/new\" || fail directory",
            "tar -xzf \"$t/tar\" -C \"$t/new\" --strip-components=1 || fail unpack",
            "[ -x \"$t/new/bin/skein\" ] || fail content",
            // A power cut must not leave the name without the bytes.
            "sync \"$t\"/new/*/* 2>/dev/null", "say unpacked",
            "mv -T \"$t/new\" \"$d/\(release.digest)\" 2>/dev/null || [ -x \"$p\" ] || fail rename",
        ].joined(separator: "; ")
        return [
            "fail() { say failed \"$1\"; exit 0; }", "d=\"$HOME/\(releases)\"",
            "p=\"$d/\(release.digest)/bin/skein\"",
            "[ \"$(uname -sm)\" = \(ShellWords.quoted(system)) ] || exit 0",
            "if [ -x \"$p\" ]; then say present; else \(unpack); fi",
        ].joined(separator: "; ")
    }
}

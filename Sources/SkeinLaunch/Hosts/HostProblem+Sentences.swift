import SkeinBasics

extension HostProblem {
    /// One or two words, for the table.
    var label: String {
        switch self {
        case .unreachable(.unknownKey, _): "unknown key"
        case .unreachable(.changedKey, _): "changed key"
        case .unreachable(.login, _): "no login"
        case .unreachable: "unreachable"
        case .silent: "silent"
        case .floods: "floods"
        case .noShell: "no shell"
        case .noSkein: "no skein"
        case .doesNotRun: "does not run"
        case .notSkein: "not skein"
        case .otherSystem: "other system"
        case .otherVersion: "other version"
        case .otherEngine: "other engine"
        case .copyFailed: "not copied"
        }
    }

    /// What is wrong, and how to mend it.
    ///
    /// - Parameter host: as ssh has it.
    /// - Returns: one line for each.
    func sentences(host: String) -> (what: String, remedy: String) {
        switch self {
        case .unreachable(let refusal, let words): Self.unreachable(refusal, words, host)
        case .silent(let stage, let seconds): Self.silent(stage, seconds, host)
        case .floods:
            (
                "it writes more than \(Figures.bytes(Limits.answerBytes)) in answer to one command",
                "see what `ssh \(host) true` prints, and remove it from the start files of its shell"
            )
        case .noShell(let words):
            (
                "ssh connects, but no POSIX shell answers\(Self.said(words))",
                "`ssh \(host) sh -c true` must work; check the user's shell there"
            )
        case .noSkein(let program):
            (
                "there is no \"\(PlainText.of(program))\" in the PATH of a non-interactive shell",
                "give --copy-binary a release, install skein there, or write skein=PATH in the line "
                    + "of the host"
            )
        case .doesNotRun(let path, let status, let words)
        where path.contains("/\(HostScript.releases)/"):
            (
                "\(path) ends with status \(status)\(Self.said(words))",
                "compare its system with what the README of the release says; a home directory that "
                    + "is mounted noexec runs nothing"
            )
        case .doesNotRun(let path, let status, let words):
            (
                "\(path) ends with status \(status)\(Self.said(words))",
                "give --copy-binary a release, which brings the libraries that it needs"
            )
        case .notSkein(let path):
            (
                "\(path) does not answer as skein does", "check skein=PATH in the line of the host"
            )
        case .otherSystem(let found, let here):
            (
                "it is \(found), and this machine is \(here): one run needs machines that give "
                    + "equal bits", "leave it out"
            )
        case .otherVersion(let found, let here) where found == here:
            (
                "its skein \(found) is an older build: it does not know `skein --version --json`",
                "give --copy-binary a release of this build, or install this build there"
            )
        case .otherVersion(let found, let here):
            (
                "it has skein \(found), and this machine has \(here)",
                "give --copy-binary a release of \(here), or install \(here) there"
            )
        case .otherEngine(let found, let here):
            (
                "its engine gives other bits: \"\(found)\", not \"\(here)\"",
                "see \"CPUs are mixed\" in docs/OPERATING.md; --admit-other-engines gives up the one "
                    + "hash"
            )
        case .copyFailed(let step, let words): Self.copyFailed(step, words)
        }
    }

    /// A program's last words, behind a sentence.
    private static func said(_ words: String) -> String { words.isEmpty ? "" : ": " + words }

    private static func unreachable(
        _ refusal: Refusal, _ words: String, _ host: String
    ) -> (what: String, remedy: String) {
        switch refusal {
        case .unknownKey:
            (
                "ssh does not know the host's key",
                "run `ssh \(host)` once by hand, compare the fingerprint and accept it"
            )
        case .changedKey:
            (
                "the host has another key than the one that ssh knows",
                "find out why before you connect; then remove the old key with `ssh-keygen -R`"
            )
        case .login:
            (
                "the host does not let you in\(said(words))",
                "`ssh -o BatchMode=yes \(host) true` must work: copy your key with ssh-copy-id, or "
                    + "add it to ssh-agent"
            )
        case .name:
            ("no host has this name\(said(words))", "correct the name, or add it to ~/.ssh/config")
        case .network:
            (
                "it cannot be reached\(said(words))",
                "check that it is up and that `ssh \(host) true` works"
            )
        }
    }

    private static func silent(
        _ stage: Stage, _ seconds: Int, _ host: String
    ) -> (what: String, remedy: String) {
        let what =
            switch stage {
            case .connecting: "no answer within \(seconds) s"
            case .answering: "it began to answer and has said nothing for \(seconds) s"
            case .copying(let done, let total):
                "the copy has not moved for \(seconds) s, after \(Figures.bytes(done)) of "
                    + Figures.bytes(total)
            }
        return (what, "look at what `ssh \(host) uptime` does, and at the load and disk there")
    }

    private static func copyFailed(_ step: String, _ words: String) -> (
        what: String, remedy: String
    ) {
        switch step {
        case "directory":
            (
                "~/\(HostScript.releases) cannot be made there\(said(words))",
                "check owner, mode and free space of the home directory"
            )
        case "write", "unpack":
            (
                "the release cannot be \(step == "write" ? "written" : "unpacked") there\(said(words))",
                "free 300 MB where the home directory is, and run the same command again"
            )
        case "short", "checksum", "connection":
            (
                "the release did not arrive whole, and what arrived was removed\(said(words))",
                "run the same command again; do not change the file meanwhile"
            )
        case "content":
            (
                "the release has no bin/skein in its one directory",
                "give --copy-binary what Scripts/package has made"
            )
        default:
            ("the release was not put in place\(said(words))", "run the same command again")
        }
    }
}

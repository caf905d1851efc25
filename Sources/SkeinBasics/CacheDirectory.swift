import Foundation

/// Where Skein keeps what it can fetch or make again: models, data and tokens.
package enum CacheDirectory {
    /// `SKEIN_CACHE`, else `skein` in `XDG_CACHE_HOME`, else `~/.cache/skein`.
    package static var root: String {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["SKEIN_CACHE"], !path.isEmpty { return path }
        if let path = environment["XDG_CACHE_HOME"], !path.isEmpty { return path + "/skein" }
        return NSHomeDirectory() + "/.cache/skein"
    }
}

import SkeinBasics
import Testing

@Suite struct EndpointTests {
    private static let endpoints: [(String, Endpoint?)] = [
        ("h", Endpoint(host: "h", port: 7534)), ("h:0", Endpoint(host: "h", port: 0)),
        ("h:65535", Endpoint(host: "h", port: 65535)), ("h:65536", nil), ("h:", nil), (":1", nil),
        ("", nil), ("h:-1", nil), ("h:+1", nil), ("h: 1", nil), ("::1", nil), ("a:b:1", nil),
        ("[::1]", Endpoint(host: "::1", port: 7534)), ("[::1]:8", Endpoint(host: "::1", port: 8)),
        ("[::1]8", nil), ("[::1", nil), ("[h]:1", nil), ("-h:1", nil), ("h;rm:1", nil),
        ("h\n:1", nil), (String(repeating: "h", count: 254), nil),
        ("h:99999999999999999999", nil), ("8080", nil), ("8080:1", nil),
        ("1.2.3.4", Endpoint(host: "1.2.3.4", port: 7534)),
    ]

    @Test("an address is a host and a port", arguments: endpoints.indices)
    func endpoint(index: Int) {
        let (text, expected) = Self.endpoints[index]
        #expect(Endpoint(text) == expected, "\(text)")
        if let expected { #expect(Endpoint(expected.text) == expected) }
    }

    @Test("where there is no port, each option has its own")
    func defaultPort() {
        #expect(Endpoint("h", defaultPort: 8080) == Endpoint(host: "h", port: 8080))
        #expect(Endpoint("[::1]", defaultPort: 8080) == Endpoint(host: "::1", port: 8080))
        #expect(Endpoint("h:1", defaultPort: 8080) == Endpoint(host: "h", port: 1))
    }
}

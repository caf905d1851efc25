import SkeinBasics
import Testing

@testable import SkeinNetwork

@Suite("network addresses")
struct NetworkAddressTests {
    @Test(
        "host and port are read and printed",
        arguments: [
            ("10.0.0.7:40112", "10.0.0.7", 40112), ("[::1]:80", "::1", 80),
            ("node-3.example:0", "node-3.example", 0), (":7447", nil, 7447),
        ] as [(String, String?, UInt16)])
    func reads(text: String, host: String?, port: UInt16) throws {
        let address = try NetworkAddress(parsing: text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.description == text)
    }

    @Test(
        "text that is not an address is refused with status usage",
        arguments: [
            "", "host", "host:", "host:x", "host:65536", "host:-1", "host:+1", "::1:80", "[::1]",
            "[::1:80", "[host]:80", "[]:80", "a b:80", "a\u{0}b:80", "hö:80", "a/b:80",
            String(repeating: "a", count: 254) + ":80",
        ])
    func refuses(text: String) {
        let error = #expect(throws: SocketError.self) { try NetworkAddress(parsing: text) }
        #expect(error?.explanation.status == .usage)
        #expect(error?.explanation.remedy.contains("HOST:PORT") == true)
    }

    @Test(
        "numeric addresses resolve to themselves, and loopback is known",
        arguments: [
            ("127.0.0.1:40112", true), ("127.9.8.7:1", true), ("10.0.0.7:40112", false),
            ("[::1]:40112", true), ("[fd00::7]:40112", false),
        ])
    func resolves(text: String, isLoopback: Bool) throws {
        let addresses = try NetworkAddress(parsing: text).resolved(for: .dialling)
        #expect(addresses.map(\.description) == [text])
        #expect(addresses.map(\.isLoopback) == [isLoopback])
        let port = try NetworkAddress(parsing: text).port
        #expect(addresses.map(\.port) == [port])
    }

    @Test("an IPv4 address mapped into IPv6 is printed as IPv4")
    func mapped() throws {
        let addresses = try NetworkAddress(parsing: "[::ffff:127.0.0.1]:7").resolved(
            for: .dialling)
        #expect(addresses.map(\.description) == ["127.0.0.1:7"])
        #expect(!addresses.map(\.isLoopback).contains(false))
    }

    @Test(
        "hosts are told apart by an IPv4 address, or by the first half of an IPv6 one",
        arguments: [
            ("10.0.0.7:1", [10, 0, 0, 7]), ("[::ffff:10.0.0.7]:2", [10, 0, 0, 7]),
            ("[fd00:1:2:3::9]:3", [0xFD, 0, 0, 1, 0, 2, 0, 3]),
            ("[fd00:1:2:3:4:5:6:7]:3", [0xFD, 0, 0, 1, 0, 2, 0, 3]),
        ] as [(String, [UInt8])])
    func hosts(text: String, network: [UInt8]) throws {
        let addresses = try NetworkAddress(parsing: text).resolved(for: .dialling)
        #expect(addresses.map(\.network) == [network])
    }

    @Test("names resolve")
    func names() throws {
        let addresses = try NetworkAddress(parsing: "localhost:7").resolved(for: .dialling)
        #expect(!addresses.isEmpty)
        #expect(!addresses.map(\.isLoopback).contains(false))
    }

    @Test("an unknown name is an error")
    func unknownName() throws {
        let address = try NetworkAddress(parsing: "nowhere.invalid:7")
        let error = #expect(throws: SocketError.self) { try address.resolved(for: .dialling) }
        guard case .nameNotResolved(host: "nowhere.invalid", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.explanation.status == .peerGone)
    }

    @Test("without a name server only numbers are resolved")
    func numeric() throws {
        for text in ["127.0.0.1:7", "[::1]:7"] {
            let address = try NetworkAddress(parsing: text)
            #expect(try address.resolved(for: .dialling, asksNobody: true).count == 1)
        }
        #expect(throws: SocketError.self) {
            try NetworkAddress(parsing: "localhost:7").resolved(for: .dialling, asksNobody: true)
        }
    }

    @Test("port 0 cannot be dialled")
    func portZero() throws {
        let address = try NetworkAddress(parsing: "127.0.0.1:0")
        #expect(throws: SocketError.self) { try address.resolved(for: .dialling) }
        let addresses = try address.resolved(for: .listening)
        #expect(!addresses.isEmpty)
    }

    @Test("the address of every interface is not loopback")
    func anyInterface() throws {
        let addresses = try NetworkAddress(parsing: ":0").resolved(for: .listening)
        #expect(!addresses.isEmpty)
        #expect(!addresses.map(\.isLoopback).contains(true))
    }
}

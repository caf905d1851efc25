/// Checks numbers of a configuration file; every error carries the field's name in that file.
package struct ConfigurationCheck: Sendable {
    package let path: String
    /// What stands before each field's name: the object that the fields are in, and a dot.
    private let prefix: String

    package init(path: String, prefix: String = "") {
        self.path = path
        self.prefix = prefix
    }

    package func size(_ field: String, _ value: Int?, limit: Int) throws -> Int {
        guard let value else { throw missing(field) }
        guard (1...limit).contains(value) else {
            throw bad(field, "1 to \(limit)", String(value))
        }
        return value
    }

    /// Checks the rank of an adapter, whose limit all formats share.
    package func adapterRank(_ field: String, _ value: Int?) throws -> Int {
        try size(field, value, limit: Limits.adapterRank)
    }

    package func positive(_ field: String, _ value: Double, below limit: Double) throws -> Double {
        guard value > 0, value < limit else {
            throw bad(field, "above 0 and below \(limit)", String(value))
        }
        return value
    }

    package func number(
        _ field: String, _ value: Double, from least: Double, below limit: Double
    ) throws -> Double {
        guard value >= least, value < limit else {
            throw bad(field, "from \(least) to below \(limit)", String(value))
        }
        return value
    }

    package func missing(_ field: String) -> FormatError {
        .missingField(path: path, field: prefix + field)
    }

    package func bad(_ field: String, _ expected: String, _ found: String) -> FormatError {
        .badField(path: path, field: prefix + field, expected: expected, found: found)
    }

    package func unsupported(_ field: String, _ found: String, _ supported: String) -> FormatError {
        .unsupported(path: path, field: prefix + field, found: found, supported: supported)
    }
}

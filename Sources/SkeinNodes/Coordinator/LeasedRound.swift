import SkeinCoordination
import SkeinTraining

/// A round as both threads of a coordinator see it.
struct LeasedRound: Sendable {
    struct Expected: Sendable {
        let tokens: Int
        let lossTokens: Int
    }

    let number: UInt64
    let label: RoundLabel
    let kind: WorkKind
    let step: Int
    /// Rows of each piece of work.
    let rows: [[TokenizedRow]]
    let expected: [Expected]
    let publication: ParameterPublication

    init(
        number: UInt64, label: RoundLabel, kind: WorkKind, step: Int, rows: [[TokenizedRow]],
        publication: ParameterPublication
    ) {
        self.number = number
        self.label = label
        self.kind = kind
        self.step = step
        self.rows = rows
        expected = rows.map { rows in
            Expected(
                tokens: rows.reduce(0) { $0 + $1.ids.count },
                lossTokens: rows.reduce(0) { $0 + $1.lossTokenCount })
        }
        self.publication = publication
    }

    /// The round as the coordinator's state sees it.
    var forState: Round {
        Round(number: number, label: label, costs: expected.map(\.tokens))
    }

    /// The work at `index` as it is sent.
    func grant(_ index: Int, attempt: UInt32) -> LeaseGrant {
        LeaseGrant(
            key: WorkKey(round: number, index: UInt32(index)), attempt: attempt,
            kind: kind, step: UInt32(truncatingIfNeeded: step),
            parameterVersion: publication.version,
            rows: rows[index].map {
                LeaseGrant.Row(
                    number: UInt32(truncatingIfNeeded: $0.number), ids: $0.ids,
                    targets: $0.targets)
            })
    }
}

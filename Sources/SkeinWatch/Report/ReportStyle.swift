/// The report's own style, after `PageStyle`: for a phone, a wide screen and paper.
enum ReportStyle {
    static let text = #"""
        h1 { font-size: 1.4rem; margin-bottom: .3rem; }
        h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
        h3 { font-size: .95rem; margin: 1rem 0 .3rem; overflow-wrap: anywhere; }
        p { margin: .3rem 0; } .warning { color: var(--bad); }
        .runs { list-style: none; padding: 0; margin: .5rem 0; }
        .runs li { overflow-wrap: anywhere; }
        figure { break-inside: avoid; } figcaption { font-weight: 600; }
        svg text { font: 12px system-ui, sans-serif; }
        .line, .marked { fill: none; stroke-width: 2; }
        .faint { fill: none; stroke-width: 1; opacity: .35; } .dashed { stroke-dasharray: 6 4; }
        .c0 { stroke: var(--one); } .c1 { stroke: var(--two); } .c2 { stroke: var(--three); }
        .c3 { stroke: var(--four); } .c4 { stroke: var(--five); } .c5 { stroke: var(--six); }
        .c6 { stroke: var(--seven); } .c7 { stroke: var(--quiet); }
        .f0 { fill: var(--one); } .f1 { fill: var(--two); } .f2 { fill: var(--three); } .f3 { fill: var(--four); }
        .f4 { fill: var(--five); } .f5 { fill: var(--six); } .f6 { fill: var(--seven); } .f7 { fill: var(--quiet); }
        .t0 { color: var(--one); } .t1 { color: var(--two); } .t2 { color: var(--three); }
        .t3 { color: var(--four); } .t4 { color: var(--five); } .t5 { color: var(--six); }
        .t6 { color: var(--seven); } .t7 { color: var(--quiet); }
        table { min-width: 50%; }
        caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        th, td { padding: .3rem 1rem .3rem 0; vertical-align: top; }
        td { overflow-wrap: anywhere; min-width: 7rem; } th[scope=row] { white-space: nowrap; }
        .strip { min-width: 16rem; width: 100%; } .strip svg { height: 1.1rem; }
        .samples { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr));
          gap: 0 .7rem; }
        summary { margin: .6rem 0; }
        @media print { .scroll { overflow: visible; } }
        """#
}

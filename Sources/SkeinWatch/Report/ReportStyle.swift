/// The report's style: light and dark, for a phone, a wide screen and paper.
enum ReportStyle {
    static let text = #"""
        :root { color-scheme: light dark; --ground: #fbfaf8; --card: #fff; --ink: #1c1b19; --quiet: #5c5953;
          --line: #dcd8d0; --c0: #1f5fa8; --c1: #b4451f; --c2: #2c6e3f; --c3: #7a3fc4; --c4: #8a6100;
          --c5: #a1215f; --c6: #0d6d78; --c7: #5c5953; --bad: #a8261c; --focus: #7a3fc4; }
        @media (prefers-color-scheme: dark) { :root { --ground: #161614; --card: #1f1e1c; --ink: #ecebe7;
          --quiet: #a9a59c; --line: #3a3834; --c0: #7db4f2; --c1: #f09a6c; --c2: #84cf98; --c3: #c49bff;
          --c4: #e0bb5b; --c5: #f48fc0; --c6: #6fd0dc; --c7: #a9a59c; --bad: #ff9287; --focus: #c49bff; } }
        * { box-sizing: border-box; }
        html { font: 16px/1.45 system-ui, sans-serif; background: var(--ground); color: var(--ink); }
        body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 76rem; }
        h1 { font-size: 1.4rem; margin: 1rem 0 .3rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
        h3 { font-size: .95rem; margin: 1rem 0 .3rem; overflow-wrap: anywhere; }
        p { margin: .3rem 0; } .quiet { color: var(--quiet); font-size: .9rem; }
        .warning { color: var(--bad); }
        .runs { list-style: none; padding: 0; margin: .5rem 0; }
        .runs li { overflow-wrap: anywhere; }
        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
          gap: .7rem; }
        figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
          padding: .5rem .6rem .3rem; break-inside: avoid; }
        figcaption { font-size: .9rem; font-weight: 600; }
        svg { display: block; width: 100%; height: auto; overflow: visible; }
        svg text { font: 12px system-ui, sans-serif; fill: var(--quiet); }
        .grid { stroke: var(--line); } .line, .marked { fill: none; stroke-width: 2; }
        .faint { fill: none; stroke-width: 1; opacity: .35; } .dashed { stroke-dasharray: 6 4; }
        .c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); }
        .c3 { stroke: var(--c3); } .c4 { stroke: var(--c4); } .c5 { stroke: var(--c5); }
        .c6 { stroke: var(--c6); } .c7 { stroke: var(--c7); }
        .f0 { fill: var(--c0); } .f1 { fill: var(--c1); } .f2 { fill: var(--c2); } .f3 { fill: var(--c3); }
        .f4 { fill: var(--c4); } .f5 { fill: var(--c5); } .f6 { fill: var(--c6); } .f7 { fill: var(--c7); }
        .t0 { color: var(--c0); } .t1 { color: var(--c1); } .t2 { color: var(--c2); }
        .t3 { color: var(--c3); } .t4 { color: var(--c4); } .t5 { color: var(--c5); }
        .t6 { color: var(--c6); } .t7 { color: var(--c7); }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums;
          min-width: 50%; }
        caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        th { text-align: left; font-weight: 600; color: var(--quiet); }
        th, td { padding: .3rem 1rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        td { overflow-wrap: anywhere; min-width: 7rem; } th[scope=row] { white-space: nowrap; }
        .strip { min-width: 16rem; width: 100%; } .strip svg { height: 1.1rem; }
        .text { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card);
          border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .6rem; margin: .4rem 0;
          font-size: .9rem; }
        .text b { display: block; color: var(--quiet); font-weight: 600; font-size: .85rem; }
        .samples { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr));
          gap: 0 .7rem; }
        summary { cursor: pointer; color: var(--quiet); margin: .6rem 0; }
        :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
        @media (max-width: 40rem) { html { font-size: 15px; } body { padding: 0 .7rem 2rem; } }
        @media print { .scroll { overflow: visible; } }
        """#
}

/// The part of the status page's script that follows the run: events, tiles, tables.
enum PageScript {
    static let text = #"""
        const run = { steps: { step: [], loss: [], learning_rate: [], gradient_norm: [],
          tokens_per_second: [], seconds: [], workers: [] },
          validations: { step: [], validation_loss: [] }, samples: [], rounds: [], snapshot: null };
        // For tests and curious people.
        window.skein = run;
        const charts = [
          [new Chart("Loss", 4, [["each step and smoothed", "k1"], ["validation", "k2"]]),
            () => [run.steps.loss, run.validations.step, run.validations.validation_loss]],
          [new Chart("Learning rate", 8, []), () => [run.steps.learning_rate]],
          [new Chart("Gradient norm", 4, []), () => [run.steps.gradient_norm]],
          [new Chart("Tokens per second", 0, []), () => [run.steps.tokens_per_second]],
        ];
        for (const [chart] of charts) $("charts").append(chart.node);

        function duration(seconds) {
          if (seconds === null || seconds === undefined) return "–";
          const s = Math.max(0, Math.round(seconds)), two = n => String(n).padStart(2, "0");
          if (s < 60) return s + " s";
          if (s < 3600) return Math.floor(s / 60) + " min " + two(s % 60) + " s";
          if (s < 86400) return Math.floor(s / 3600) + " h " + two(Math.floor(s / 60) % 60) + " min";
          return Math.floor(s / 86400) + " d " + two(Math.floor(s / 3600) % 24) + " h";
        }
        function bytes(count) {
          if (count === null || count === undefined) return "–";
          return count < 1 << 30 ? Math.round(count / (1 << 20)) + " MiB"
            : (count / (1 << 30)).toFixed(2) + " GiB";
        }
        // One process trains without workers and leases: of these there is nothing to show.
        function isAlone(snapshot) { return snapshot.run.term === null; }
        function tiles(id, pairs) {
          const list = $(id), names = pairs.map(([name]) => name).join("\n");
          if (list.dataset.names !== names) {
            list.dataset.names = names;
            list.replaceChildren(...pairs.map(([name]) =>
              tag("div", {}, tag("dt", {}, name), tag("dd", {}, ""))));
          }
          pairs.forEach(([, value], k) => {
            const place = list.children[k].lastChild;
            if (place.textContent !== value) place.textContent = value;
          });
        }
        function cells(row, values) {
          while (row.children.length < values.length) row.append(tag("td", {}));
          values.forEach((value, k) => {
            if (row.children[k].textContent !== value) row.children[k].textContent = value;
          });
        }

        function showSnapshot(s) {
          run.snapshot = s;
          const r = s.run;
          $("output").textContent = r.output;
          document.title = r.step + "/" + r.step_count + " – Skein " + r.output;
          // A worker's name is written as the table below has it.
          const isName = text => s.workers.some(w => text.startsWith(w.name + " "));
          const sentence = text =>
            (isName(text) ? text.charAt(0) : text.charAt(0).toUpperCase()) + text.slice(1) + ".";
          const why = sentence(s.brief);
          $("why").textContent = why; $("why").title = sentence(s.why);
          // The sentence changes every second: only another reason or culprit is news to a listener.
          const reason = Object.keys(s.waiting.reason)[0], facts = s.waiting.reason[reason] || {};
          const news = reason + (facts.worker && facts.worker.name ? facts.worker.name : "");
          if (run.news !== news) { run.news = news; $("news").textContent = why; }
          $("phase").textContent = s.run.phase;
          $("progress").max = Math.max(1, r.step_count); $("progress").value = r.step;
          tiles("tiles", [
            ["step", r.step + " of " + r.step_count],
            ["epoch", r.epoch === null ? "–" : r.epoch + (r.epoch_count ? " of " + r.epoch_count : "")],
            ["loss", figure(r.loss, 4)],
            // A run may hold out no rows.
            ...(r.validation_loss === null ? [] : [["validation loss", figure(r.validation_loss, 4)]]),
            ...(r.best_step === null ? [] : [["best validation",
              figure(r.best_validation_loss, 4) + " at step " + r.best_step]]),
            ["learning rate", figure(r.learning_rate, 8)], ["gradient norm", figure(r.gradient_norm, 4)],
            ["tokens/s", figure(r.tokens_per_second, 0)], ["remaining", duration(r.eta_seconds)],
            ["computing for", duration(r.elapsed_seconds)],
            ["memory", s.process ? bytes(s.process.resident_bytes) : "–"],
            ["most memory", s.process ? bytes(s.process.peak_resident_bytes) : "–"],
            ...(r.other_engines_from_step === null ? []
              : [["one hash", "given up from step " + r.other_engines_from_step]]),
          ]);
          tiles("ledger", [
            ["micro-batches in the ledger", figure(r.micro_batches, 0)],
            ["tokens", figure(r.tokens, 0)], ["with loss", figure(r.loss_tokens, 0)],
            ...(isAlone(s) ? [] : [
              ["leases", figure(s.totals.leases, 0)], ["leased again", figure(s.totals.releases, 0)],
              ["second leases", figure(s.totals.speculative, 0)],
              ["duplicates", figure(s.totals.duplicates, 0)], ["refused", figure(s.totals.refused, 0)],
              ["too late", figure(s.totals.stale, 0)]]),
          ]);
          document.body.classList.toggle("alone", isAlone(s));
          showWorkers(s);
        }

        function showWorkers(s) {
          const paused = new Map(s.paused.map(p => [p.name, p]));
          const rows = s.workers.map(w => ({
            name: w.name, state: w.state, address: w.address, heard: figure(w.last_heard_seconds, 1) + " s ago",
            computes: w.state === "preparing" ? bytes(w.prepared_bytes) + " of the model"
              : (w.leases || []).map(l => "mb " + l.micro_batch + " " + Math.round(l.progress * 100) + " %")
                .join(", ") || "–",
            threads: w.threads, pace: w.tokens_per_second, accepted: w.accepted, refused: w.refused,
            losses: w.losses }));
          for (const a of s.absent) rows.push({ name: a.name, state: a.is_lost ? "lost" : "left",
            address: a.address, heard: duration(a.seconds) + " ago", computes: paused.has(a.name)
              ? "must pause for " + duration(paused.get(a.name).seconds_left) : a.reason,
            accepted: a.accepted, refused: a.refused, losses: a.losses });
          rows.sort((one, other) => one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
          $("s-workers").hidden = isAlone(s);
          $("worker-count").textContent = s.worker_count + " connected";
          const body = $("workers"), known = new Map([...body.children].map(r => [r.dataset.name, r]));
          const wanted = rows.slice(0, 200).map(w => {
            const row = known.get(w.name) || tag("tr", { "data-name": w.name }, tag("td", { class: "name" }));
            row.firstChild.style.setProperty("--worker", colour(w.name));
            row.dataset.state = w.state;
            cells(row, [w.name, w.state, w.computes, figure(w.threads, 0), figure(w.pace, 0), w.heard,
              figure(w.accepted, 0), figure(w.refused, 0), figure(w.losses, 0), w.address]);
            row.children[1].className = "state"; row.children[1].dataset.state = w.state;
            return row;
          });
          if (rows.length > wanted.length) wanted.push(tag("tr", {},
            tag("td", { colspan: 10 }, "and " + (rows.length - wanted.length) + " more")));
          if (wanted.length !== body.children.length || wanted.some((r, k) => body.children[k] !== r))
            body.replaceChildren(...wanted);
        }

        function showHistory(h) {
          if (h.whole) {
            for (const key in run.steps) run.steps[key] = [];
            for (const key in run.validations) run.validations[key] = [];
            run.samples = []; run.rounds = [];
          }
          for (const key in run.steps) run.steps[key].push(...h.steps[key]);
          for (const key in run.validations) run.validations[key].push(...h.validations[key]);
          run.samples.push(...h.samples);
          run.rounds = run.rounds.concat(h.rounds).slice(-32);
          for (const [chart, columns] of charts) {
            const [y, vx, vy] = columns();
            chart.set(run.steps.step, y, vx, vy);
            chart.draw(false);
          }
          const s = run.steps, last = s.step.length;
          $("figures").replaceChildren(...s.step.slice(-20).map((step, i) => {
            const k = Math.max(0, last - 20) + i, row = tag("tr", {});
            cells(row, [String(step), figure(s.loss[k], 6), figure(s.learning_rate[k], 8),
              figure(s.gradient_norm[k], 5), figure(s.tokens_per_second[k], 1), figure(s.seconds[k], 2),
              String(s.workers[k])]);
            row.lastChild.className = "cluster";
            return row;
          }).reverse());
          if (h.whole || h.rounds.length) $("rounds").replaceChildren(...run.rounds.slice(-12).reverse().map(r =>
            tag("tr", {}, tag("td", {}, (r.kind === "step" ? "" : "validation ") + r.step),
              tag("td", {}, figure(r.seconds, 2)), tag("td", { class: "wide" }, bars(r)),
              tag("td", { class: "cluster" }, r.last === null ? "–"
                : new Set(r.spans.map(span => span[1])).size < 2 ? r.last
                : r.last + ", " + figure(r.last_seconds, 2) + " s after the others"))));
          if (h.whole || h.samples.length) {
            $("s-samples").hidden = !run.samples.length;
            $("samples").replaceChildren(...run.samples.slice(-16).reverse().map(one =>
              tag("div", { class: "text sample" }, tag("b", {}, "step " + one.step + " · " + one.prompt),
                one.text === null ? "nothing: the logits are not finite" : one.text)));
          }
        }

        function showData(d) {
          $("s-data").hidden = false;
          tiles("data", d.facts);
          $("warnings").replaceChildren(...d.warnings.map(text => tag("li", {}, text)));
          $("rows").replaceChildren(...d.rows.map(parts => {
            const row = tag("p", { class: "text" });
            for (const [text, isTrained] of parts) row.append(isTrained ? tag("mark", {}, text) : text);
            return row;
          }));
        }

        let token = null;
        function takeToken() {
          const found = /[#&]token=([^&]*)/.exec(location.hash);
          if (found) {
            // A secret with a percent sign of its own, as people paste it.
            try { token = decodeURIComponent(found[1]); } catch { token = found[1]; }
          }
          if (found) remember("skein", token); else token = remembered("skein") ?? token;
          // Not in the address bar, where others can read it.
          if (found) history.replaceState(null, "", location.pathname);
          return found !== null;
        }
        function ask() { $("ask").hidden = false; link("lost", "the token is missing or wrong"); }
        function link(state, words) { $("link").dataset.state = state; $("link").textContent = words; }

        function take(event) {
          // Not by expressions with ^ and $: for those a line also ends at U+2028, which texts may have.
          const field = name => event.split("\n").find(line => line.startsWith(name))?.slice(name.length);
          const name = field("event: "), data = field("data: ");
          if (name === undefined || data === undefined) return;
          const value = JSON.parse(data);
          switch (name) {
            case "snapshot": showSnapshot(value); break;
            case "history": showHistory(value); break;
            case "data": showData(value); break;
            case "end": run.isOver = true; break;
          }
        }
        // There is news every second. A host that is gone without a word says nothing, and fetch would
        // wait for it for ever.
        const mostSilence = 20;
        async function follow() {
          const silence = new AbortController();
          let alarm = null;
          const heard = () => {
            clearTimeout(alarm);
            alarm = setTimeout(() => silence.abort(new Error("it has said nothing for " + mostSilence + " s")),
              mostSilence * 1000);
          };
          try { await listen(silence.signal, heard); } finally { clearTimeout(alarm); }
        }
        async function listen(signal, heard) {
          heard();
          if (token && !isSecret(token)) { ask(); throw null; }
          const headers = token ? { Authorization: "Bearer " + token } : {};
          const answer = await fetch("events", { headers, cache: "no-store", signal });
          if (answer.status === 401) { ask(); throw null; }
          if (!answer.ok) throw new Error((await answer.text()).trim());
          $("ask").hidden = true; run.isOver = false; link("live", "live");
          const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
          let rest = "";
          for (;;) {
            const { value, done } = await reader.read();
            if (done) return;
            heard();
            const events = (rest + value).split("\n\n");
            rest = events.pop();
            events.forEach(take);
          }
        }
        async function stay() {
          for (let pause = 1; ; pause = Math.min(10, pause * 2)) {
            try {
              await follow(); pause = 1;
              link("lost", run.isOver ? "the run has ended" : "the run's process is gone; trying again");
            } catch (problem) {
              if (problem === null) return;
              if (!run.isOver) link("lost", "no connection to the run (" + problem.message + "); trying again");
            }
            await new Promise(done => setTimeout(done, pause * 1000));
          }
        }
        $("ask").addEventListener("submit", event => {
          event.preventDefault();
          // Asked twice, the page would follow twice.
          $("ask").hidden = true;
          token = $("token").value.trim();
          remember("skein", token);
          stay();
        });
        // A token that is pasted into the address of the open page.
        addEventListener("hashchange", () => { if (takeToken()) location.reload(); });
        takeToken();
        stay();
        """#
}

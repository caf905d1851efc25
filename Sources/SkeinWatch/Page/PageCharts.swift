/// The part of the status page's script that draws: curves and the bars of the last steps.
enum PageCharts {
    static let text = #"""
        const NS = "http://www.w3.org/2000/svg";
        function make(name, attributes, ...children) {
          return fill(document.createElementNS(NS, name), attributes, children);
        }
        function figure(number, digits) {
          if (number === null || number === undefined) return "–";
          const size = Math.abs(number);
          if (size !== 0 && (size < 1e-3 || size >= 1e6)) return number.toExponential(digits > 3 ? 3 : 2);
          return number.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: 0 });
        }
        // Steps of an axis at 1, 2 or 5 times a power of ten.
        function ticks(low, high, most) {
          const span = high - low || Math.abs(high) || 1;
          const raw = span / most, power = Math.pow(10, Math.floor(Math.log10(raw)));
          const step = [1, 2, 5, 10].map(f => f * power).find(f => f >= raw);
          const found = [];
          // Numbers beyond 2^53 do not count on.
          for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9 && found.length <= most + 1; k++)
            found.push(k * step);
          return found;
        }
        // A curve over steps, with a second one of single points, and a cursor for the arrow keys.
        class Chart {
          constructor(title, digits, keys) {
            this.title = title; this.digits = digits;
            this.x = []; this.y = []; this.vx = []; this.vy = [];
            this.cursor = null; this.isStale = true;
            this.readout = tag("output", { "aria-live": "off" });
            this.svg = make("svg", { viewBox: "0 0 520 200", role: "img", tabindex: "0" });
            const key = tag("p", { class: "key" });
            for (const [name, kind] of keys) key.append(tag("b", { class: kind }, "— "), name + "  ");
            this.node = tag("figure", {}, tag("figcaption", {}, tag("span", {}, title), this.readout),
              this.svg, key);
            this.svg.addEventListener("keydown", event => this.move(event));
            this.svg.addEventListener("pointermove", event => this.point(event));
            this.svg.addEventListener("pointerleave", () => { this.cursor = null; this.draw(true); });
          }
          set(x, y, vx, vy) {
            this.x = x; this.y = y; this.vx = vx || []; this.vy = vy || [];
            // A run that was resumed from an earlier step is shorter.
            if (this.cursor !== null) this.cursor = x.length ? Math.min(this.cursor, x.length - 1) : null;
            this.isStale = true;
          }
          move(event) {
            const last = this.x.length - 1;
            if (last < 0) return;
            const from = this.cursor === null ? last : this.cursor;
            const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last,
              PageUp: from - 10, PageDown: from + 10 }[event.key];
            if (to === undefined) return;
            event.preventDefault();
            this.cursor = Math.min(last, Math.max(0, to));
            this.readout.setAttribute("aria-live", "polite");
            this.draw(true);
          }
          point(event) {
            if (!this.scale || !this.x.length) return;
            const box = this.svg.getBoundingClientRect();
            const at = this.scale.step((event.clientX - box.left) / box.width * 520);
            let best = 0;
            for (let k = 0; k < this.x.length; k++)
              if (Math.abs(this.x[k] - at) < Math.abs(this.x[best] - at)) best = k;
            this.cursor = best; this.draw(true);
          }
          draw(force) {
            if (!this.isStale && !force) return;
            this.isStale = false;
            const finite = this.y.concat(this.vy).filter(v => v !== null);
            if (!finite.length) {
              this.readout.textContent = "nothing yet";
              this.svg.replaceChildren();
              return;
            }
            let low = Infinity, high = -Infinity;
            for (const v of finite) { low = Math.min(low, v); high = Math.max(high, v); }
            if (low === high) { low -= Math.abs(low) * .1 || 1; high += Math.abs(high) * .1 || 1; }
            const first = Math.min(this.x[0] ?? this.vx[0], this.vx[0] ?? this.x[0]);
            const last = Math.max(this.x[this.x.length - 1] ?? 0, this.vx[this.vx.length - 1] ?? 0);
            const L = 52, R = 512, T = 8, B = 178;
            const px = s => last === first ? (L + R) / 2 : L + (s - first) / (last - first) * (R - L);
            const py = v => B - (v - low) / (high - low) * (B - T);
            this.scale = { step: p => first + (p - L) / (R - L) * (last - first) };
            const parts = [];
            for (const v of ticks(low, high, 4)) {
              parts.push(make("line", { class: "grid", x1: L, x2: R, y1: py(v), y2: py(v) }));
              parts.push(make("text", { x: L - 6, y: py(v) + 4, "text-anchor": "end" }, figure(v, 5)));
            }
            for (const s of ticks(first, last, 6)) if (Number.isInteger(s))
              parts.push(make("text", { x: px(s), y: 196, "text-anchor": "middle" }, String(s)));
            parts.push(make("path", { class: "raw", d: Chart.path(this.x, this.y, px, py) }));
            parts.push(make("path", { class: "smooth",
              d: Chart.path(this.x, Chart.smooth(this.y), px, py) }));
            parts.push(make("path", { class: "valid", d: Chart.path(this.vx, this.vy, px, py) }));
            for (let k = 0; k < this.vx.length; k++) if (this.vy[k] !== null)
              parts.push(make("circle", { class: "dot", r: 3, cx: px(this.vx[k]), cy: py(this.vy[k]) }));
            const at = this.cursor ?? this.x.length - 1;
            if (this.cursor !== null)
              parts.push(make("line", { class: "cursor", x1: px(this.x[at]), x2: px(this.x[at]),
                y1: T, y2: B }));
            this.readout.textContent = this.x.length
              ? "step " + this.x[at] + ": " + figure(this.y[at], this.digits) : "";
            const label = this.title + ", " + this.x.length + " steps, lowest " + figure(low, this.digits)
              + ", highest " + figure(high, this.digits) + ", last " +
              figure(this.y[this.y.length - 1], this.digits);
            this.svg.setAttribute("aria-label", label);
            this.svg.replaceChildren(...parts);
          }
          static path(x, y, px, py) {
            let d = "", pen = "M";
            for (let k = 0; k < x.length; k++) {
              if (y[k] === null) { pen = "M"; continue; }
              d += pen + px(x[k]).toFixed(1) + " " + py(y[k]).toFixed(1); pen = "L";
            }
            return d;
          }
          static smooth(y) {
            // An average over about the last ten steps; divided by its weights, the first ones count in full.
            let sum = 0, weight = 0;
            return y.map(v => {
              if (v === null) return null;
              sum = sum * .9 + v * .1; weight = weight * .9 + .1;
              return sum / weight;
            });
          }
        }
        // A colour for each worker's name, the same in every browser.
        function hue(name) {
          let sum = 7;
          for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
          return sum * 137 % 360;
        }
        function colour(name) { return "hsl(" + hue(name) + " 55% 52%)"; }
        function bars(round) {
          const names = [...new Set(round.spans.map(s => s[1]))].sort();
          const height = Math.max(1, names.length), wide = 400, span = round.seconds || 1;
          const svg = make("svg", { viewBox: "0 0 " + wide + " " + height * 10, preserveAspectRatio: "none",
            role: "img" });
          for (const [index, worker, attempt, from, to, ending] of round.spans) {
            const x = from / span * wide, width = Math.max(1, (to - from) / span * wide - 1);
            const bar = make("rect", { x: x, y: names.indexOf(worker) * 10 + 1, width: width, height: 8 });
            bar.style.fill = colour(worker);
            const isGood = ending === "accepted" || ending === "arrived";
            const group = make("g", isGood ? {} : { class: "bad" }, bar);
            group.append(make("title", {}, worker + ": micro-batch " + index + ", attempt " + attempt + ", "
              + figure(to - from, 2) + " s, " + ending));
            svg.append(group);
          }
          const by = names.map(name => name + " " + round.spans.filter(s => s[1] === name).length);
          svg.setAttribute("aria-label", round.spans.length
            ? "micro-batches: " + by.join(", ") : round.pieces + " micro-batches in this process");
          return svg;
        }
        """#
}

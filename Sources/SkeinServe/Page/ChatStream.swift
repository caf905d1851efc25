/// The part of the chat page's script that talks to the server: requests, errors, the stream.
enum ChatStream {
    static let text = #"""
        let key = remembered("skein-key");
        function setKey(value) { key = value; remember("skein-key", value); }

        // What went wrong: a sentence for a person, and a detail for who looks closer. `after`: the
        // seconds until it is worth trying again, if the server says so.
        class Trouble extends Error {
          constructor(message, status = 0, detail = "", after = null) {
            super(message);
            this.status = status; this.detail = detail; this.after = after;
          }
          // An error in OpenAI's shape, or whatever a proxy in between answers.
          static of(error, text, status, reason, after) {
            const said = typeof error === "string" ? error : error?.message;
            const words = typeof said === "string" && said.trim()
              || text.trim().slice(0, 500) || reason;
            const parts = [status ? "HTTP " + status : "", error?.type, error?.code,
              error?.param ? "parameter " + error.param : ""];
            return new Trouble(words || "The server gave no reason.", status,
              [...new Set(parts.filter(part => part).map(String))].join(" · "), after);
          }
          static async ofAnswer(answer) {
            const text = await answer.text().catch(() => "");
            let error = null;
            try { error = JSON.parse(text).error; } catch { /* not JSON: the text is shown */ }
            return Trouble.of(error, text, answer.status, answer.statusText,
              seconds(answer.headers.get("Retry-After")));
          }
        }
        // Retry-After is a number of seconds or a date (RFC 9110, section 10.2.3).
        function seconds(text) {
          if (text === null) return null;
          if (/^\s*\d+\s*$/.test(text)) return Number(text);
          const date = Date.parse(text);
          return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
        }

        async function call(path, body, signal) {
          if (key && !isSecret(key)) throw new Trouble("This is not an API key.", 401);
          const headers = {};
          if (key) headers.Authorization = "Bearer " + key;
          if (body) headers["Content-Type"] = "application/json";
          let answer;
          try {
            answer = await fetch(path, { method: body ? "POST" : "GET", headers, cache: "no-store",
              body: body ? JSON.stringify(body) : null, signal });
          } catch (problem) {
            if (signal?.aborted) throw problem;
            throw new Trouble("The server cannot be reached. Is it still running?", 0,
              problem.message);
          }
          if (!answer.ok) throw await Trouble.ofAnswer(answer);
          return answer;
        }
        function pause(milliseconds, signal) {
          return new Promise((done, fail) => {
            const alarm = setTimeout(done, milliseconds);
            signal.addEventListener("abort", () => { clearTimeout(alarm); fail(signal.reason); },
              { once: true });
          });
        }
        // A server that is full says when to come back: `waiting` is told each second that is left,
        // `sending` each time that it is tried. A person who would wait longer is asked first.
        const mostTries = 6, longestPause = 60;
        async function callPatiently(path, body, signal, sending, waiting) {
          for (let attempt = 1; ; attempt++) {
            try {
              sending();
              return await call(path, body, signal);
            } catch (problem) {
              const isFull = problem.status === 429
                || problem.status === 503 && problem.after !== null;
              const wanted = problem.after ?? 2 ** (attempt - 1);
              if (!isFull || attempt === mostTries || wanted > longestPause) throw problem;
              for (let left = Math.max(1, Math.ceil(wanted)); left > 0; left--) {
                waiting(left, problem.message);
                await pause(1000, signal);
              }
            }
          }
        }

        // The data of server-sent events, cut anywhere: inside a letter, a line or an end of line.
        async function* events(body) {
          const reader = body.pipeThrough(new TextDecoderStream()).getReader();
          let rest = "", data = [];
          try {
            for (;;) {
              const { value, done } = await reader.read();
              if (done) return;
              // A carriage return at the end may be half of an end of line.
              const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
              rest = lines.pop();
              for (const line of lines) {
                if (line === "") {
                  if (data.length) yield data.join("\n");
                  data = [];
                } else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
              }
            }
          } finally {
            // Who stops reading lets the server stop, too.
            reader.cancel().catch(() => { /* it has ended */ });
          }
        }
        """#
}

// The page's Python as the page sees it: a worker, started once for all steppers of a page.

class Engine {
  /** `address`: of the script that has everything; `worker`: the worker's source. */
  constructor(address, worker) {
    Object.assign(this, { address, source: worker });
    this.opened = new Map(); // by key: what hears of a stepper
    this.started = null;
  }

  /** Starts it, the first time; the promise is kept once commands are answered. */
  start() {
    this.started ??= new Promise((resolve, reject) => {
      globalThis.labEngine = (files) => {
        // A worker's script can't come from the disk, but from the page itself.
        const address = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
        this.worker = new Worker(address);
        this.worker.onerror = (event) => reject(new Error(event.message ?? "the worker has failed"));
        this.worker.onmessage = ({ data }) => {
          if (data.kind === "shown") this.opened.get(data.key)?.(data.part, data.values);
          else if (data.kind === "wanted") this.bring(data.name);
          else if (data.kind === "reading") this.hear(data);
          else if (data.kind === "answered") this.answered.resolve(data.answer);
          else if (data.kind === "ready") resolve((this.isReady = true));
          else (this.answered ?? { reject }).reject(new Error(data.text));
        };
        this.worker.postMessage({ kind: "begin", files });
      };
      document.head.append(h("script", { src: this.address, onerror: () => reject(new Error("it can't be loaded")) }));
    });
    return this.started;
  }

  /** Begins a stepper, or begins it anew; hear(part, values) is called with all that it shows. */
  open(key, asked, hear) {
    this.opened.set(key, hear);
    this.worker.postMessage({ kind: "open", key, asked });
  }

  send(key, message) {
    this.worker.postMessage({ kind: "send", key, message });
  }

  /** Stops a stepper's search of all states. */
  stop(key) {
    this.worker.postMessage({ kind: "stop", key });
  }

  /** The judgement of an exercise's cell, as page/exercise_cell.py tells it. */
  check(asked) {
    return this.ask({ kind: "check", asked });
  }

  /** What a module of the kit answers of files; hear({done, all}) is called with its progress. */
  read(asked, hear) {
    this.hear = hear;
    return this.ask({ kind: "read", ...asked });
  }

  /** What a module of the kit answers to a question; one after the other. */
  askModule(module, question) {
    const next = () => this.ask({ kind: "ask", module, question });
    this.asking = (this.asking ?? Promise.resolve()).then(next, next);
    return this.asking;
  }

  ask(message) {
    this.worker.postMessage(message);
    return new Promise((resolve, reject) => (this.answered = { resolve, reject }));
  }

  /** Ends it, whatever it is doing. */
  end() {
    this.worker?.terminate();
  }

  /** Loads the module of a search for the worker, which can load nothing from the disk. */
  bring(name) {
    globalThis.labSearch = (found, made) => this.worker.postMessage({ kind: "found", name: found, made });
    const src = `${this.address.replace(/[^/]*$/, "")}searches/${name}.js`;
    document.head.append(h("script", { src, onerror: () => globalThis.labSearch(name, null) }));
  }
}

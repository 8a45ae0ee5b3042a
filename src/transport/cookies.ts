const MAX_COOKIES = 50;
const MAX_CHARACTERS = 4096;

/**
 * The cookies that one connection's server has set: a load balancer knows by them which of several machines has the session.
 * They go back to the origin that set them, with every request, and end with the connection; whatever else an attribute says,
 * only the end of a cookie matters.
 */
export class Cookies {
  readonly #values = new Map<string, string>();
  /** What to send; empty for nothing. */
  header = "";

  keep(set: readonly string[]): void {
    for (const line of set) {
      const [pair = "", ...attributes] = line.split(";");
      const split = pair.indexOf("=");
      const name = pair.slice(0, split).trim();
      if (split < 1 || name === "") continue;
      this.#values.delete(name); // The newest comes last.
      if (!hasEnded(attributes.join(";"))) this.#values.set(name, pair.slice(split + 1).trim());
    }
    for (const name of this.#values.keys()) {
      if (this.#values.size <= MAX_COOKIES && this.#text().length <= MAX_CHARACTERS) break;
      this.#values.delete(name);
    }
    this.header = this.#text();
  }

  #text(): string {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}

/** RFC 6265 section 5.3: the age counts before the date, and what is none says nothing. */
function hasEnded(attributes: string): boolean {
  const age = /(?:^|;)\s*max-age=(-?\d+)\s*(?:;|$)/i.exec(attributes)?.[1];
  if (age !== undefined) return Number(age) <= 0;
  return Date.parse(/(?:^|;)\s*expires=([^;]*)/i.exec(attributes)?.[1] ?? "") <= Date.now();
}

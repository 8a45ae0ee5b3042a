const MASK = "[redacted]";
const MIN_CHARACTERS = 8;
const MAX_SECRETS = 4096;

/** Removes known secrets from what people and models read. One per plugin; the sources of secrets add to it. */
export class Redactor {
  readonly #secrets = new Set<string>();
  #ordered: readonly string[] | undefined;

  /** Values shorter than 8 characters are not taken for secrets: masking them would garble ordinary text. */
  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (secret.length < MIN_CHARACTERS || this.#secrets.has(secret)) continue;
      if (this.#secrets.size >= MAX_SECRETS) this.#dropOldest();
      this.#secrets.add(secret);
      this.#ordered = undefined;
    }
  }

  /** The text with every known secret masked, in its plain, URL-encoded and JSON-escaped spelling. */
  text(text: string): string {
    if (this.#secrets.size === 0) return text;
    // Longest first, so that a secret which contains another is masked whole.
    this.#ordered ??= [...spellings(this.#secrets)].sort((a, b) => b.length - a.length);
    let clean = text;
    for (const secret of this.#ordered) if (clean.includes(secret)) clean = clean.replaceAll(secret, MASK);
    return clean;
  }

  /** A copy of plain data with every string and key masked; the values of the `except` members stay as they are. */
  data<T>(value: T, except: ReadonlySet<string> = new Set()): T {
    if (this.#secrets.size === 0) return value;
    return this.#copy(value, except) as T;
  }

  /** What is excepted is meant at the top only: a server may use the same names further down. */
  #copy(value: unknown, except: ReadonlySet<string> | undefined): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, undefined));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => [
      this.text(key),
      except?.has(key) ? item : this.#copy(item, undefined),
    ]);
    return Object.fromEntries(entries);
  }

  #dropOldest(): void {
    for (const oldest of this.#secrets) {
      this.#secrets.delete(oldest);
      return;
    }
  }
}

function* spellings(secrets: Iterable<string>): Iterable<string> {
  for (const secret of secrets) {
    yield secret;
    const encoded = encodeSafely(secret);
    if (encoded !== secret) yield encoded;
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (escaped !== secret) yield escaped;
  }
}

function encodeSafely(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // A lone surrogate has no URL spelling.
  }
}

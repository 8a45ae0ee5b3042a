/** Caches one list page by its bytes: an answer that differs from the last one only in its id is the same page, and is not parsed again. */
export class RememberedPage {
  /** A larger answer is not remembered. */
  roomBytes = Number.POSITIVE_INFINITY;
  /** Of the newest answer, whether it is remembered or not. */
  answerBytes = 0;
  #raw: Buffer | string | undefined;
  #idStart = 0;
  #idEnd = 0;
  #result: unknown;
  #verified = false;

  get bytes(): number {
    return this.#raw?.length ?? 0;
  }

  /** The remembered result, if `raw` is the remembered answer with `id` in place of the old id; otherwise `undefined`. */
  match(raw: Buffer | string, id: number): unknown {
    const old = this.#raw;
    if (old === undefined || typeof old !== typeof raw) return undefined;
    const digits = String(id);
    const shift = digits.length - (this.#idEnd - this.#idStart);
    if (raw.length !== old.length + shift || !sameAround(raw, old, this.#idStart, this.#idEnd, digits))
      return undefined;
    if (!this.#verified && !this.#verify(old)) return undefined;
    return this.#result;
  }

  /** Remembers a parsed answer, if its id can be found near either end of it. */
  keep(raw: Buffer | string, id: number, result: unknown): void {
    this.forget();
    this.answerBytes = raw.length;
    if (raw.length > this.roomBytes) return;
    const span = findId(raw, String(id));
    if (span === undefined) return;
    // A copy: a line is often a slice of a larger buffer.
    this.#raw = typeof raw === "string" ? raw : Buffer.from(raw);
    [this.#idStart, this.#idEnd] = span;
    this.#result = result;
  }

  forget(): void {
    this.#raw = undefined;
    this.#result = undefined;
    this.#verified = false;
  }

  /**
   * Verifies, once, that the digits found by the regular expression really are the id of the response: with other digits in their place,
   * parsing must give those as the id.
   */
  #verify(old: Buffer | string): boolean {
    const probe = 987_654_321;
    const text = old.toString();
    const shift = typeof old === "string" ? 0 : old.toString("utf8", 0, this.#idStart).length - this.#idStart;
    const [start, end] = [this.#idStart + shift, this.#idEnd + shift];
    try {
      const parsed = JSON.parse(`${text.slice(0, start)}${probe}${text.slice(end)}`) as { id?: unknown };
      this.#verified = parsed.id === probe;
    } catch {
      this.#verified = false; // The digits were part of something else.
    }
    if (!this.#verified) this.forget();
    return this.#verified;
  }
}

const HEAD_CHARACTERS = 64;
const TAIL_CHARACTERS = 64;
const HEAD_ID = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)/;
const TAIL_ID = /"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

function findId(raw: Buffer | string, digits: string): readonly [number, number] | undefined {
  const head = slice(raw, 0, HEAD_CHARACTERS);
  const first = HEAD_ID.exec(head);
  if (first !== null && first[1] === digits && first[0].length < head.length)
    return [first[0].length - digits.length, first[0].length];
  const tailStart = Math.max(0, raw.length - TAIL_CHARACTERS);
  const tail = slice(raw, tailStart, raw.length);
  const last = TAIL_ID.exec(tail);
  if (last === null || last[1] !== digits) return undefined;
  const start = tailStart + last.index + last[0].indexOf(digits, last[0].indexOf(":"));
  return [start, start + digits.length];
}

function sameAround(raw: Buffer | string, old: Buffer | string, start: number, end: number, digits: string): boolean {
  const rawEnd = start + digits.length;
  if (slice(raw, start, rawEnd) !== digits) return false;
  if (typeof raw === "string" || typeof old === "string")
    return raw.slice(0, start) === old.slice(0, start) && raw.slice(rawEnd) === old.slice(end);
  return raw.compare(old, 0, start, 0, start) === 0 && raw.compare(old, end, old.length, rawEnd, raw.length) === 0;
}

function slice(raw: Buffer | string, start: number, end: number): string {
  return typeof raw === "string" ? raw.slice(start, end) : raw.toString("latin1", start, end);
}

/** Larger messages are joined in a buffer of their own. */
const SHARED_BYTES = 1024 * 1024;
const LEAST_BYTES = 64 * 1024;

let shared: Buffer | undefined;
let lent = false;

/**
 * Passes the pieces to `use` as one buffer, which is reused afterwards: what `use` keeps, it must copy.
 *
 * A list of a thousand tools arrives in pieces before every call, and is usually only compared with the last one. Reusing one buffer
 * saves its allocation, its zeroing by the kernel, and the garbage collections that memory outside the heap causes.
 */
export function joined<T>(pieces: readonly Buffer[], bytes: number, use: (whole: Buffer) => T): T {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return use(first);
  if (bytes > SHARED_BYTES || lent) return use(Buffer.concat(pieces, bytes));
  if (shared === undefined || shared.length < bytes) shared = Buffer.allocUnsafeSlow(roomFor(bytes));
  let end = 0;
  for (const piece of pieces) {
    piece.copy(shared, end);
    end += piece.length;
  }
  lent = true;
  try {
    return use(shared.subarray(0, end));
  } finally {
    lent = false;
  }
}

/** Doubled, so that a list that grows slowly does not allocate each time. */
function roomFor(bytes: number): number {
  let room = LEAST_BYTES;
  while (room < bytes) room *= 2;
  return room;
}

/** This many pieces are merged into one: if a server sends single bytes, each piece takes a hundred times the memory of its byte. */
const MOST_PIECES = 16_384;

/** Collects bytes that arrive in pieces, until they are needed as a whole. Each byte is copied at most twice. */
export class Pieces {
  bytes = 0;
  #pieces: Buffer[] = [];
  /** How many pieces at the front are merged ones. */
  #made = 0;

  push(piece: Buffer): void {
    this.bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#made < MOST_PIECES) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#made)));
    this.#made++;
  }

  /** As `joined`; the collection is empty afterwards. */
  give<T>(use: (whole: Buffer) => T): T {
    const pieces = this.#pieces;
    const { bytes } = this;
    this.clear();
    return joined(pieces, bytes, use);
  }

  clear(): void {
    this.bytes = 0;
    this.#pieces = [];
    this.#made = 0;
  }
}

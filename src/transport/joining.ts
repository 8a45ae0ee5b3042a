/** What is larger is joined in memory of its own. */
const SHARED_BYTES = 1024 * 1024;
const LEAST_BYTES = 64 * 1024;

let shared: Buffer | undefined;
let lent = false;

/**
 * Gives `use` the pieces as one buffer, which is lent: what it keeps of it, it copies before it returns.
 *
 * A list of a thousand tools comes in pieces before every call, and is as a rule only looked at: memory that is used again
 * spares its allocation, the kernel's clearing of it, and collections that only memory outside the heap brings about.
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

/** So many pieces are made one: each takes a hundred times the memory of its byte where a server sends them one by one. */
const MOST_PIECES = 16_384;

/** Bytes that come in pieces, until they are wanted as a whole. Each is copied twice at most. */
export class Pieces {
  bytes = 0;
  #pieces: Buffer[] = [];
  /** How many, at the beginning, were made of others. */
  #made = 0;

  push(piece: Buffer): void {
    this.bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#made < MOST_PIECES) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#made)));
    this.#made++;
  }

  /** As `joined`, and there are none any more. */
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

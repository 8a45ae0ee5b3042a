import type { Transform } from "node:stream";

/** A stream that undoes a content encoding piece by piece; `undefined` for an encoding that was not asked for. */
export async function decoderFor(encoding: string): Promise<Transform | undefined> {
  const zlib = await import("node:zlib");
  // What has arrived is given out at once, as the events of a stream must be.
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH });
    case "deflate":
      return inflateEither(zlib);
    case "br":
      return zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}

/** "deflate" is a zlib stream, but some servers send a raw one: the first byte tells them apart. */
async function inflateEither(zlib: typeof import("node:zlib")): Promise<Transform> {
  const { Transform } = await import("node:stream");
  let inflate: Transform | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (inflate === undefined) {
        const options = { flush: zlib.constants.Z_SYNC_FLUSH };
        inflate = ((chunk[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(options) : zlib.createInflateRaw(options);
        inflate.on("data", (piece: Buffer) => this.push(piece));
        inflate.on("error", (error) => this.destroy(error));
      }
      inflate.write(chunk, (error) => done(error));
    },
    flush(done) {
      if (inflate === undefined) return done();
      inflate.once("end", () => done());
      inflate.end();
    },
    destroy(error, done) {
      inflate?.destroy();
      done(error);
    },
  });
}

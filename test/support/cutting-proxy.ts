import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface Cut {
  /** Where it happens: in what the client sends, or in what the server answers. */
  readonly side: "request" | "response";
  /** Bytes of that side that still pass. */
  readonly afterBytes: number;
  readonly how: "reset" | "close";
}

/** A reverse proxy that passes bytes, holds them back, and cuts connections at a given byte. */
export class CuttingProxy {
  /** Applies from the next byte on; one connection is cut, then it is forgotten. */
  cut: Cut | undefined;
  /** Keeps what the server answers until it has been silent for so long. */
  bufferMs = 0;
  /** What clients sent, whether it passed or not. */
  sent = "";
  readonly #upstreamPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async start(upstreamPort: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(upstreamPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(upstreamPort: number) {
    this.#upstreamPort = upstreamPort;
    this.#server = createServer({ noDelay: true }, (client) => this.#connected(client));
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${path}`;
  }

  async dispose(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #connected(client: Socket): void {
    const upstream = connect({ port: this.#upstreamPort, host: "127.0.0.1", noDelay: true });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("end", () => other.end());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    const cutNow = (cut: Cut): void => {
      this.cut = undefined;
      upstream.destroy();
      if (cut.how === "reset") client.resetAndDestroy();
      else client.end();
    };
    client.on("data", (chunk: Buffer) => {
      this.sent += chunk.toString("latin1");
      this.#pass("request", chunk, upstream, cutNow);
    });
    let held: Buffer[] = [];
    let timer: NodeJS.Timeout | undefined;
    upstream.on("data", (chunk: Buffer) => {
      if (this.bufferMs === 0) return this.#pass("response", chunk, client, cutNow);
      held.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(() => {
        this.#pass("response", Buffer.concat(held), client, cutNow);
        held = [];
      }, this.bufferMs);
    });
  }

  #pass(side: Cut["side"], chunk: Buffer, to: Socket, cutNow: (cut: Cut) => void): void {
    const { cut } = this;
    if (cut === undefined || cut.side !== side) {
      to.write(chunk);
      return;
    }
    if (chunk.length < cut.afterBytes) {
      this.cut = { ...cut, afterBytes: cut.afterBytes - chunk.length };
      to.write(chunk);
      return;
    }
    const last = chunk.subarray(0, cut.afterBytes);
    if (last.length === 0) cutNow(cut);
    else to.write(last, () => cutNow(cut));
  }
}

import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { type FaultExchange, head, type Scenario } from "./http-fault-server.ts";

/** A way for the exchange of one call to fail. */
export interface Fault extends Scenario {
  /** The situation of the error; `undefined` if the exchange ends without one, and without an answer. */
  readonly fails: string | undefined;
  /** How often the tool runs. */
  readonly runs: 0 | 1;
  /** The server goes silent: only giving up ends the exchange. */
  readonly silent?: true;
  readonly outcomeUnknown?: boolean;
}

const JSON_TYPE = { "content-type": "application/json" };
const SSE_TYPE = { "content-type": "text/event-stream" };
const PAGE = `<!doctype html><html><head><title>Bad gateway</title><style>p{}</style></head><body><p>The upstream &amp; its friends are gone.</p>${"<b>x</b>".repeat(25_000)}</body></html>`;

/** The tool runs, then something is sent that is no answer. */
function after(runs: (exchange: FaultExchange, answer: string) => void): Pick<Scenario, "post"> {
  return { post: (exchange) => runs(exchange, exchange.answer()) };
}

/** The head that belongs to the answer, with none of it. */
function headOf(answer: string): string {
  return head(200, { ...JSON_TYPE, "content-length": String(answer.length) });
}

function status(code: number, headers: Readonly<Record<string, string>> = {}, body = "no"): Fault {
  const outcomeUnknown = code === 408 || (code >= 500 && code !== 501 && code !== 505);
  return { fails: "http.status", runs: 0, outcomeUnknown, post: (exchange) => exchange.respond(code, headers, body) };
}

const broken = { fails: "closed", outcomeUnknown: true } as const;
const unreadable = { fails: "protocol.unreadable", outcomeUnknown: true } as const;
const silent = { fails: "cancelled", silent: true } as const;

/** Ways in which the connection breaks. */
const CONNECTION: Readonly<Record<string, Fault>> = {
  "reset-before-body": { ...broken, runs: 0, early: (exchange) => exchange.reset() },
  "close-before-body": { ...broken, runs: 0, early: (exchange) => exchange.close() },
  "reset-before-head": { ...broken, runs: 1, ...after((exchange) => exchange.reset()) },
  "close-before-head": { ...broken, runs: 1, ...after((exchange) => exchange.close()) },
  "reset-in-head": {
    ...broken,
    runs: 1,
    ...after((exchange) => {
      exchange.write("HTTP/1.1 200 OK\r\ncontent-ty");
      exchange.reset();
    }),
  },
  "close-in-head": {
    ...broken,
    runs: 1,
    ...after((exchange) => {
      exchange.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
      exchange.close();
    }),
  },
  "reset-after-head": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.write(headOf(answer));
      exchange.reset();
    }),
  },
  "close-after-head": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.write(headOf(answer));
      exchange.close();
    }),
  },
  "reset-in-body": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.write(headOf(answer) + answer.slice(0, 20));
      exchange.reset();
    }),
  },
  "json-truncated": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.respond(200, { ...JSON_TYPE, "content-length": String(answer.length + 100) }, answer);
      exchange.close();
    }),
  },
  "chunk-truncated": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.begin(200, JSON_TYPE);
      exchange.write(`${answer.length.toString(16)}\r\n${answer.slice(0, 10)}`);
      exchange.close();
    }),
  },
  "chunks-without-end": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.begin(200, JSON_TYPE);
      exchange.chunk(answer);
      exchange.close();
    }),
  },
  upgrade: {
    ...broken,
    runs: 1,
    ...after((exchange) =>
      exchange.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"),
    ),
  },
};

/** Ways in which what arrives is no HTTP, or no message. */
const BYTES: Readonly<Record<string, Fault>> = {
  "no-http": { ...unreadable, runs: 1, ...after((exchange) => exchange.write("SSH-2.0-OpenSSH_9.7\r\n")) },
  "bad-header-line": {
    ...unreadable,
    runs: 1,
    ...after((exchange) => exchange.write("HTTP/1.1 200 OK\r\ncon tent: x\r\n\r\n")),
  },
  "huge-head": {
    ...unreadable,
    runs: 1,
    ...after((exchange) => exchange.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(40_000)}\r\n\r\n`)),
  },
  "bad-chunk-size": {
    ...unreadable,
    runs: 1,
    ...after((exchange) => {
      exchange.begin(200, JSON_TYPE);
      exchange.write("zz\r\nhello\r\n");
    }),
  },
  "json-broken": { ...unreadable, runs: 1, ...after((exchange, answer) => exchange.json(`${answer.slice(0, -5)}`)) },
  "content-length-too-small": {
    ...unreadable,
    runs: 1,
    ...after((exchange, answer) =>
      exchange.respond(200, { ...JSON_TYPE, "content-length": String(answer.length - 5) }, answer),
    ),
  },
  "json-no-message": { ...unreadable, runs: 1, ...after((exchange) => exchange.json('{"ok":true}')) },
  "call-html": {
    ...unreadable,
    runs: 1,
    ...after((exchange) =>
      exchange.respond(200, { "content-type": "text/html" }, "<html><title>Sign in</title><p>Please."),
    ),
  },
  "text-200": {
    ...unreadable,
    runs: 1,
    ...after((exchange) => exchange.respond(200, { "content-type": "text/plain" }, "It worked!")),
  },
  "gzip-broken": {
    ...unreadable,
    runs: 1,
    ...after((exchange) => exchange.respond(200, { ...JSON_TYPE, "content-encoding": "gzip" }, "not gzip at all")),
  },
  "gzip-truncated": {
    ...unreadable,
    runs: 1,
    ...after((exchange, answer) =>
      exchange.respond(200, { ...JSON_TYPE, "content-encoding": "gzip" }, gzipSync(answer).subarray(0, -12)),
    ),
  },
  "encoding-unknown": {
    ...unreadable,
    runs: 1,
    ...after((exchange, answer) => exchange.json(answer, 200, { "content-encoding": "zstd" })),
  },
  "empty-200": { fails: undefined, runs: 1, ...after((exchange) => exchange.json("")) },
  "empty-gzip": {
    fails: undefined,
    runs: 1,
    ...after((exchange) => exchange.json("", 200, { "content-encoding": "gzip" })),
  },
  "no-content": {
    fails: undefined,
    runs: 1,
    ...after((exchange) => exchange.write("HTTP/1.1 204 No Content\r\n\r\n")),
  },
  accepted: { fails: undefined, runs: 1, ...after((exchange) => exchange.respond(202)) },
};

/** Refusals and gateways. */
const STATUSES: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries(
    [
      400, 402, 403, 404, 405, 406, 408, 409, 410, 411, 413, 415, 418, 422, 425, 426, 429, 431, 451, 500, 501, 502, 503,
      504, 505, 507, 520,
    ].map((code) => [`call-${code}`, status(code)]),
  ),
  ...Object.fromEntries(
    [408, 425, 429, 500, 502, 503, 504].map((code) => [`call-${code}-retry`, status(code, { "retry-after": "0" })]),
  ),
  "call-500-html": status(500, { "content-type": "text/html" }, PAGE),
  "call-503-cut": {
    ...status(503),
    post: (exchange) => {
      exchange.respond(503, { "content-length": "100" }, "half");
      exchange.reset();
    },
  },
  "call-503-hangs": { ...status(503), post: (exchange) => exchange.respond(503, { "content-length": "100" }, "half") },
  "call-401": {
    fails: "auth.required",
    runs: 0,
    post: (exchange) => exchange.respond(401, { "www-authenticate": 'Bearer realm="x"' }),
  },
  "call-403-scope": {
    fails: "auth.required",
    runs: 0,
    post: (exchange) => exchange.respond(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="a b"' }),
  },
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].map((code): [string, Fault] => [
      `redirect-${code}`,
      {
        fails: "http.redirect",
        runs: 0,
        post: (exchange) => exchange.respond(code, { location: `${exchange.seen.path}/` }),
      },
    ]),
  ),
  "early-413": {
    ...status(413),
    early: (exchange) => {
      exchange.respond(413, { connection: "close" }, "too large");
      exchange.close();
    },
  },
};

/** Event streams that end, break or go silent. */
const STREAMS: Readonly<Record<string, Fault>> = {
  "sse-empty": {
    fails: undefined,
    runs: 1,
    ...after((exchange) => {
      exchange.begin();
      exchange.finish();
    }),
  },
  "sse-comment-end": {
    fails: undefined,
    runs: 1,
    ...after((exchange) => {
      exchange.begin();
      exchange.chunk(": working\n\n");
      exchange.finish();
    }),
  },
  "sse-reset": {
    ...broken,
    runs: 1,
    ...after((exchange) => {
      exchange.begin();
      exchange.chunk(": working\n\n");
      exchange.reset();
    }),
  },
  "sse-reset-in-event": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.begin();
      exchange.chunk(`data: ${answer.slice(0, 30)}`);
      exchange.reset();
    }),
  },
  "sse-close-in-event": {
    ...broken,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.begin();
      exchange.chunk(`data: ${answer}`);
      exchange.close();
    }),
  },
  "sse-id-not-resumable": {
    fails: "closed",
    outcomeUnknown: true,
    runs: 1,
    ...after((exchange) => {
      exchange.begin();
      exchange.event("", { id: "1", retry: 1 });
      exchange.finish();
    }),
  },
  "sse-id-resume-500": {
    fails: "closed",
    outcomeUnknown: true,
    runs: 1,
    ...after((exchange) => {
      exchange.begin();
      exchange.event("", { id: "1", retry: 1 });
      exchange.reset();
    }),
    get: (exchange) => exchange.respond(500),
  },
};

/** A server that goes silent at each stage. */
const SILENCES: Readonly<Record<string, Fault>> = {
  // Read on, or the end of the connection would not be seen.
  "hang-before-body": { ...silent, runs: 0, early: (exchange) => void exchange.socket.resume() },
  "hang-before-head": { ...silent, runs: 1, ...after(() => undefined) },
  "hang-in-head": { ...silent, runs: 1, ...after((exchange) => exchange.write("HTTP/1.1 200 OK\r\ncontent-")) },
  "hang-after-head": {
    ...silent,
    runs: 1,
    ...after((exchange, answer) => exchange.write(headOf(answer))),
  },
  "hang-in-body": {
    ...silent,
    runs: 1,
    ...after((exchange, answer) => exchange.write(headOf(answer) + answer.slice(0, 9))),
  },
  "hang-in-event": {
    ...silent,
    runs: 1,
    ...after((exchange, answer) => {
      exchange.begin();
      exchange.chunk(`data: ${answer.slice(0, 9)}`);
    }),
  },
  "sse-keep-alives": {
    ...silent,
    runs: 1,
    ...after((exchange) => {
      exchange.begin();
      every(exchange, 20, () => exchange.chunk(": still here\n\n"));
    }),
  },
  "body-trickle": {
    ...silent,
    runs: 1,
    ...after((exchange) => {
      exchange.begin(200, JSON_TYPE);
      every(exchange, 20, () => exchange.chunk(" "));
    }),
  },
  "resume-hangs": {
    ...silent,
    runs: 1,
    ...after((exchange) => {
      exchange.begin();
      exchange.event("", { id: "1", retry: 1 });
      exchange.finish();
    }),
    get: () => undefined,
  },
};

export const FAULTS: Readonly<Record<string, Fault>> = {
  ...CONNECTION,
  ...BYTES,
  ...STATUSES,
  ...STREAMS,
  ...SILENCES,
};

/** Odd, but fine: every call is answered. */
export const ODDITIES: Readonly<Record<string, Scenario>> = {
  plain: {},
  "no-content-type": { post: (exchange) => exchange.respond(200, {}, exchange.answer()) },
  "ct-json-vendor": {
    post: (exchange) => exchange.respond(200, { "content-type": "application/vnd.acme.mcp+json" }, exchange.answer()),
  },
  "ct-text-json": { post: (exchange) => exchange.respond(200, { "content-type": "text/json" }, exchange.answer()) },
  "ct-variants": {
    post: (exchange) =>
      exchange.respond(200, { "content-type": 'Application/JSON ; charset="UTF-8"; q=1' }, exchange.answer()),
  },
  "ct-sse-charset": {
    post: (exchange) => stream(exchange, {}, (answer) => `data: ${answer}\n\n`, "Text/Event-Stream;charset=utf-8"),
  },
  "json-bom": { post: (exchange) => exchange.json(`\ufeff${exchange.answer()}`) },
  "json-blanks": { post: (exchange) => exchange.json(`\r\n  ${exchange.answer()}\n`) },
  "json-chunked": { post: (exchange) => inPieces(exchange, JSON_TYPE, exchange.answer(), 7) },
  "http-1.0": {
    post: (exchange) => {
      exchange.write(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${exchange.answer()}`);
      exchange.close();
    },
  },
  "until-close": {
    post: (exchange) => {
      exchange.write(
        `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n${exchange.answer()}`,
      );
      exchange.close();
    },
  },
  continues: {
    post: (exchange) => {
      exchange.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n");
      exchange.good();
    },
  },
  "gzip-json": {
    post: (exchange) =>
      exchange.respond(200, { ...JSON_TYPE, "content-encoding": "GZIP" }, gzipSync(exchange.answer())),
  },
  "deflate-json": {
    post: (exchange) =>
      exchange.respond(200, { ...JSON_TYPE, "content-encoding": "deflate" }, deflateSync(exchange.answer())),
  },
  "deflate-raw-json": {
    post: (exchange) =>
      exchange.respond(200, { ...JSON_TYPE, "content-encoding": "deflate" }, deflateRawSync(exchange.answer())),
  },
  "br-json": {
    post: (exchange) =>
      exchange.respond(200, { ...JSON_TYPE, "content-encoding": "br" }, brotliCompressSync(exchange.answer())),
  },
  "identity-json": { post: (exchange) => exchange.json(exchange.answer(), 200, { "content-encoding": "identity" }) },
  "gzip-sse": {
    post: (exchange) =>
      exchange.respond(
        200,
        { ...SSE_TYPE, "content-encoding": "gzip" },
        gzipSync(`: hello\n\ndata: ${exchange.answer()}\n\n`),
      ),
  },
  "sse-plain": { post: (exchange) => stream(exchange, {}, (answer) => `event: message\ndata: ${answer}\n\n`) },
  "sse-stays-open": {
    post: (exchange) => {
      exchange.begin();
      exchange.event(exchange.answer());
    },
  },
  "sse-crlf": { post: (exchange) => stream(exchange, {}, (answer) => `event: message\r\ndata: ${answer}\r\n\r\n`) },
  "sse-cr": { post: (exchange) => stream(exchange, {}, (answer) => `event: message\rdata: ${answer}\r\r`) },
  "sse-bom": { post: (exchange) => stream(exchange, {}, (answer) => `\ufeffdata: ${answer}\n\n`) },
  "sse-no-space": { post: (exchange) => stream(exchange, {}, (answer) => `data:${answer}\n\n`) },
  "sse-multi-data": {
    post: (exchange) => stream(exchange, {}, (answer) => `data: ${answer.replace(/,"/g, ',\ndata: "')}\n\n`),
  },
  "sse-unknown-fields": {
    post: (exchange) => stream(exchange, {}, (answer) => `wibble: 1\nretry: soon\n:c\nid\ndata: ${answer}\nx\n\n`),
  },
  "sse-bytes": {
    post: (exchange) => inPieces(exchange, SSE_TYPE, `\ufeff: ü\r\n\r\ndata: ${exchange.answer()}\r\n\r\n`, 1),
  },
  "sse-no-final-blank": { post: (exchange) => stream(exchange, {}, (answer) => `data: ${answer}\n`) },
  "sse-foreign-first": {
    post: (exchange) =>
      stream(exchange, {}, (answer) => `data: {"jsonrpc":"2.0","id":424242,"result":{}}\n\ndata: ${answer}\n\n`),
  },
  "sse-garbage-first": {
    post: (exchange) => stream(exchange, {}, (answer) => `data: {oops\n\ndata: hello\n\ndata: ${answer}\n\n`),
  },
  "sse-other-types": {
    post: (exchange) =>
      stream(
        exchange,
        {},
        (answer) => `event: ping\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\ndata: ${answer}\n\n`,
      ),
  },
  "keep-alive-short": { post: (exchange) => exchange.good({ "keep-alive": "timeout=1" }) },
};

function stream(
  exchange: FaultExchange,
  headers: Readonly<Record<string, string>>,
  text: (answer: string) => string,
  type = "text/event-stream",
): void {
  exchange.begin(200, { "content-type": type, ...headers });
  exchange.chunk(text(exchange.answer()));
  exchange.finish();
}

function inPieces(
  exchange: FaultExchange,
  headers: Readonly<Record<string, string>>,
  text: string,
  size: number,
): void {
  const bytes = Buffer.from(text);
  exchange.begin(200, headers);
  for (let at = 0; at < bytes.length; at += size) exchange.chunk(bytes.subarray(at, at + size));
  exchange.finish();
}

function every(exchange: FaultExchange, milliseconds: number, act: () => void): void {
  const timer = setInterval(act, milliseconds);
  exchange.socket.once("close", () => clearInterval(timer));
}

import type { Authorizer } from "../authorizer.ts";
import type { HostServices } from "../contract.ts";
import type { Deadlines } from "../deadlines.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { ClientIdentity } from "../protocol/dialect.ts";
import { parseMessages } from "../protocol/jsonrpc.ts";
import type { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type ConnectOptions, connect } from "../session/connect.ts";
import { InputPort } from "../session/input.ts";
import type { Session } from "../session/session.ts";
import { type CreateOptions, transportFactory } from "../transport/create.ts";
import type { Rejection, Transport, TransportFactory } from "../transport/transport.ts";
import { Connection } from "./connection.ts";
import { logToHost } from "./host-log.ts";
import type { Attempt, Connect } from "./shared-attempt.ts";

export interface OpenConnectionOptions {
  readonly services: HostServices;
  readonly limits: Limits;
  readonly clientInfo: ClientIdentity["info"];
  readonly redactor: Redactor;
  readonly deadlines: Deadlines;
  readonly authorizer: (spec: ServerSpec, attempt: Attempt) => Promise<Authorizer>;
}

/** Makes the function that opens connections: it picks the transport by the server's settings and wires the host's services to it. */
export function connector(options: OpenConnectionOptions): Connect {
  return async (attempt) => {
    const { spec, scope } = attempt;
    const { services, limits, redactor } = options;
    redactor.add(spec.secrets);
    const input = new InputPort({ server: spec.name, services, limits, sessionId: scope.sessionId, cwd: scope.cwd });
    const factory = transportFactory(spec, { limits, redactor, ...signIn(options, attempt) });
    const session = await openSession(factory, {
      server: spec.name,
      pin: spec.protocol,
      hint: attempt.hint,
      client: clientIdentity(options, input),
      limits,
      input,
      stopOnCancel: spec.stopOnCancel,
      wait: attempt.wait,
      deadlines: options.deadlines,
      log: (entry) => logToHost(services, redactor, { ...entry, server: spec.name }),
      cancellation: attempt.cancellation,
      onTransport: attempt.onTransport,
      onClosed: attempt.onClosed,
      onExpired: attempt.onExpired,
      rejectionOf: factory.rejectionOf,
      create: factory.create,
    });
    return new Connection({ spec, session, input, limits, wait: attempt.wait });
  };
}

/** Connects; if the server refuses Streamable HTTP, falls back to the HTTP+SSE transport of revision 2024-11-05. */
async function openSession(factory: TransportFactory, options: ConnectOptions): Promise<Session> {
  try {
    return await connect(options);
  } catch (error) {
    if (factory.createLegacy === undefined || !mayBeLegacy(factory.rejectionOf(error), options.limits)) throw error;
    if (factory.named) throw await clearest(factory.createLegacy, options, error);
    const { createLegacy } = factory;
    let spoken = false;
    const create = (): Transport =>
      createLegacy(() => {
        spoken = true;
      });
    try {
      return await connect({ ...options, create });
    } catch (legacyError) {
      // The fallback was only a guess: unless it was right, or the caller cancelled, the first refusal is the error that helps.
      throw spoken || options.cancellation.cancelled ? legacyError : error;
    }
  }
}

/** Probes for HTTP+SSE where the entry forbids it: an error that says the server speaks it, else the first refusal. */
async function clearest(createLegacy: () => Transport, options: ConnectOptions, refusal: unknown): Promise<unknown> {
  const transport = createLegacy();
  try {
    await transport.open({ message: () => true, closed: () => undefined }, options.cancellation.signal);
    return new AdapterError("connect.legacy", { server: options.server });
  } catch {
    return refusal; // It does not speak that either.
  } finally {
    await transport.close();
  }
}

function mayBeLegacy(rejection: Rejection | undefined, limits: Limits): boolean {
  if (rejection === undefined || ![400, 404, 405].includes(rejection.status)) return false;
  return parseMessages(rejection.body, limits) === undefined;
}

function signIn(options: OpenConnectionOptions, attempt: Attempt): Pick<CreateOptions, "signIn"> {
  const { spec, wait } = attempt;
  if (spec.endpoint.kind !== "http" || spec.endpoint.oauth === false) return {};
  return { signIn: { eager: spec.endpoint.oauth !== undefined, load: () => options.authorizer(spec, attempt), wait } };
}

function clientIdentity({ clientInfo, services }: OpenConnectionOptions, input: InputPort): ClientIdentity {
  return {
    info: clientInfo,
    capabilities: input.capabilities,
    ...(services.log === undefined ? {} : { logLevel: "info" }),
  };
}

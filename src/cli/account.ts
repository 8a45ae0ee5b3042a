import type { AccountOptions, SignInState } from "../auth/account.ts";
import { defined } from "../defined.ts";
import { AdapterError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import { CLIENT_INFO } from "../version.ts";
import { specOf, type Where } from "./servers.ts";

/** What the sign-in room needs to know about one remote server. @throws AdapterError `invalid_params` for what needs none. */
export async function accountOf({ name: server, endpoint, secrets }: ServerSpec): Promise<AccountOptions> {
  if (endpoint.kind === "stdio") {
    throw new AdapterError("cli.signIn", {
      server,
      reason: 'it is a program (stdio), whose keys go into "env" in its entry',
    });
  }
  const { url, oauth } = endpoint;
  if (oauth === false) throw new AdapterError("cli.signIn", { server, reason: 'its entry says "oauth": false' });
  const { DiskStore } = await import("../auth/store/disk-store.ts");
  const { sendPlain } = await import("../transport/send-plain.ts");
  const redactor = new Redactor();
  redactor.add(secrets);
  return {
    server,
    url,
    ...defined({ settings: oauth }),
    store: new DiskStore({ limits: LIMITS }),
    clientInfo: CLIENT_INFO,
    limits: LIMITS,
    redactor,
    send: sendPlain,
  };
}

/** The stored sign-in to a configured server; contacts nobody. @throws AdapterError */
export async function storedSignIn(server: string, where: Where): Promise<SignInState> {
  const { signInState } = await import("../auth/account.ts");
  return signInState(await accountOf(await specOf(server, where)));
}

import type { Authorizer } from "../authorizer.ts";
import type { HostServices } from "../contract.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { ClientIdentity } from "../protocol/dialect.ts";
import type { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Scope } from "./registry.ts";

export interface SignInOptions {
  readonly services: HostServices;
  readonly limits: Limits;
  readonly redactor: Redactor;
  readonly clientInfo: ClientIdentity["info"];
  readonly scope: Scope;
  readonly onWaiting: (host: string) => void;
}

export async function makeAuthorizer(spec: ServerSpec, _options: SignInOptions): Promise<Authorizer> {
  throw new AdapterError("auth.required", { server: spec.name, status: 401, wwwAuthenticate: "" });
}

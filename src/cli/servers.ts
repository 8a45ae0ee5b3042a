import type { ConfigView } from "../config/store.ts";
import { LIMITS } from "../limits.ts";
import type { ServerSpec } from "../server-spec.ts";

export interface Where {
  readonly cwd: string;
  /** One file that counts alone; relative to `cwd`. */
  readonly configPath?: string | undefined;
}

/** The configured servers, starting none. @throws AdapterError `config_error` about an explicit file. */
export async function loadConfig({ cwd, configPath }: Where): Promise<ConfigView> {
  const { ConfigStore } = await import("../config/store.ts");
  return new ConfigStore({ limits: LIMITS }).load({ cwd, configPath });
}

/** The settings of one server, ready to use. @throws AdapterError `server_not_found`, `config_error` */
export async function specOf(server: string, where: Where): Promise<ServerSpec> {
  const view = await loadConfig(where);
  const entry = view.servers.get(server);
  if (entry !== undefined) return entry.spec({ cwd: where.cwd });
  const { unknownServer } = await import("../config/store.ts");
  throw unknownServer(server, view);
}

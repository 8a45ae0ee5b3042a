import { resolve } from "node:path";
import { ConfigStore, type ConfigView, unknownServer } from "../config/store.ts";
import { specForUrl } from "../config/url-target.ts";
import { AdapterError, isSituation } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import { soon } from "../soon.ts";
import { startDenied } from "./approval.ts";
import type { Registry, SlotStatus } from "./registry.ts";
import type { Scope } from "./scope.ts";
import type { Target } from "./target.ts";

export interface SettingsOptions {
  readonly limits: Limits;
  readonly redactor: Redactor;
  readonly registry: Registry;
}

/** Scopes remembered for each state of the files. */
const REMEMBERED = 1024;

/** Resolves targets to server settings by the config files as they are now, and closes connections whose entries were removed or disabled. */
export class Settings {
  readonly #store: ConfigStore;
  readonly #redactor: Redactor;
  readonly #registry: Registry;
  /** For each state of the files, the scopes whose connections were already compared with it. */
  readonly #views = new WeakMap<ConfigView, Set<string>>();
  #resolving: { readonly scope: Scope; readonly target: Target; readonly spec: Promise<ServerSpec> } | undefined;

  constructor({ limits, redactor, registry }: SettingsOptions) {
    this.#store = new ConfigStore({ limits });
    this.#redactor = redactor;
    this.#registry = registry;
  }

  /** All configured servers. @throws AdapterError as `ConfigStore.load` does. */
  async view(scope: Scope, configPath?: string): Promise<ConfigView> {
    try {
      return this.#seen(scope, await this.#store.load({ cwd: scope.cwd, configPath }), configPath);
    } catch (error) {
      if (isSituation(error, "config.missing")) this.#closeGone(scope, NOTHING, configPath);
      throw error;
    }
  }

  /**
   * The settings of a target, ready to connect. Calls for one server that arrive together share one look at the
   * files, taken after the last of them: what was written before a call is seen by it.
   * @throws AdapterError `server_not_found`, `server_disabled`, `config_error`, `invalid_params`.
   */
  resolve(scope: Scope, target: Target): Promise<ServerSpec> {
    const latest = this.#resolving;
    if (latest !== undefined && latest.scope === scope && isSame(latest.target, target)) return latest.spec;
    const spec = soon(() => {
      if (this.#resolving?.spec === spec) this.#resolving = undefined;
      return this.#resolve(scope, target);
    });
    this.#resolving = { scope, target, spec };
    return spec;
  }

  /**
   * Looks again after a person was asked: what they agreed to must be what the files say when it is started.
   * @throws AdapterError `denied`, and what `resolve` does.
   */
  async assertCurrent(scope: Scope, target: Target, approved: ServerSpec): Promise<void> {
    const { fingerprint, configPath } = await this.resolve(scope, target);
    if (fingerprint !== approved.fingerprint || configPath !== approved.configPath)
      throw startDenied(approved, "changed");
  }

  #resolve(scope: Scope, { server = "", configPath, url }: Target): ServerSpec | Promise<ServerSpec> {
    if (url !== undefined) return this.#known(specForUrl(url));
    const view = this.#store.current({ cwd: scope.cwd, configPath });
    if (view !== undefined) return this.#specOf(scope, this.#seen(scope, view, configPath), server);
    return this.view(scope, configPath).then((loaded) => this.#specOf(scope, loaded, server));
  }

  #specOf(scope: Scope, view: ConfigView, server: string): ServerSpec {
    const entry = view.servers.get(server);
    if (entry === undefined) throw unknownServer(server, view);
    if (entry.error !== undefined) throw entry.error;
    if (!entry.enabled) throw new AdapterError("server.disabled", { server: entry.name, configPath: entry.switchedIn });
    return this.#known(entry.spec(scope));
  }

  /** Tells the redactor the secrets of these settings before anything about them is shown. */
  #known(spec: ServerSpec): ServerSpec {
    this.#redactor.add(spec.secrets);
    return spec;
  }

  #seen(scope: Scope, view: ConfigView, configPath: string | undefined): ConfigView {
    let scopes = this.#views.get(view);
    if (scopes === undefined) {
      scopes = new Set();
      this.#views.set(view, scopes);
    }
    if (!scopes.has(scope.key)) {
      // Forgetting a scope only costs one more comparison.
      if (scopes.size >= REMEMBERED) scopes.clear();
      scopes.add(scope.key);
      this.#closeGone(scope, view, configPath);
    }
    return view;
  }

  /** Compares the open connections of a scope with its files. Those made in another working directory are compared with the files there. */
  #closeGone(scope: Scope, view: ConfigView, configPath: string | undefined): void {
    const elsewhere = new Map<string, Scope>();
    for (const slot of this.#registry.status(scope)) {
      const { scope: made, spec } = slot;
      if (configPath !== undefined || made.cwd === scope.cwd) this.#closeIfGone(scope, view, slot, configPath);
      else if (isOf(view, spec)) elsewhere.set(made.cwd, made);
    }
    // Files that cannot be read close nothing; who calls from that folder is told of them.
    for (const made of elsewhere.values()) this.#closeGoneOf(made).catch(() => undefined);
  }

  /** The same for the connections made in one working directory; it does not go on to others, since two could lead to each other for ever. */
  async #closeGoneOf(scope: Scope): Promise<void> {
    const view = await this.#store.load({ cwd: scope.cwd });
    for (const slot of this.#registry.status(scope))
      if (slot.scope.cwd === scope.cwd) this.#closeIfGone(scope, view, slot, undefined);
  }

  #closeIfGone(scope: Scope, view: ConfigView, slot: SlotStatus, configPath: string | undefined): void {
    const { spec, target } = slot;
    const entry = view.servers.get(spec.name);
    const isOwn = entry?.configPath === spec.configPath;
    if (entry?.enabled === true && isOwn) return;
    // A caller that named its config file is not affected by another file that overrides the entry.
    const isOverridden = entry !== undefined && !(isOwn && entry.switchedIn === spec.configPath);
    if (isOverridden && configPath === undefined && target.configPath !== undefined) return;
    const isRead = isOf(view, spec);
    if (isRead && entry?.enabled !== true) void this.#registry.close(scope, spec);
    // Overridden by another file, or its own file is not read any more, perhaps only for a moment: running calls go on.
    else if (isRead || (view.isComplete && isFoundBy(slot, scope, configPath))) this.#registry.release(scope, spec);
  }
}

/** The view of a file that does not exist. */
const NOTHING: ConfigView = { servers: new Map(), problems: [], files: [], isComplete: true };

/** Whether a connection was made for the same `configPath` (or none) and working directory. */
function isFoundBy({ target, scope: made }: SlotStatus, { cwd }: Scope, configPath: string | undefined): boolean {
  if (target.url !== undefined) return false;
  if (configPath === undefined || target.configPath === undefined)
    return configPath === target.configPath && made.cwd === cwd;
  return resolve(made.cwd, target.configPath) === resolve(cwd, configPath);
}

/** Whether the server's config file is one of those that were read. */
function isOf({ files }: ConfigView, { configPath }: ServerSpec): boolean {
  return configPath !== undefined && files.includes(configPath);
}

function isSame(one: Target, other: Target): boolean {
  return one.server === other.server && one.configPath === other.configPath && one.url === other.url;
}

/** What a tool call is about: a configured server, or a URL. */
export interface Target {
  readonly server?: string | undefined;
  readonly configPath?: string | undefined;
  readonly url?: string | undefined;
}

/** The owner of connections: one host session, one project folder, or a program without either. Scopes never share a connection. */
export interface Scope {
  /** `session:<id>`, `project:<real cwd>` or `library`. */
  readonly key: string;
  readonly cwd: string;
  readonly sessionId?: string;
}

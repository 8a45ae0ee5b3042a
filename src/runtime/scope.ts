/** Whose connections: those of one host session, of one project, or of a program without either. */
export interface Scope {
  /** `session:<id>`, `project:<real cwd>` or `library`. */
  readonly key: string;
  readonly cwd: string;
  readonly sessionId?: string;
}

/** Everything a command line can say besides its words. */
export interface Options {
  readonly config?: string;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly json?: boolean;
  /** Seconds. */
  readonly timeout?: number;
  readonly root?: readonly string[];
  readonly trust?: boolean;
  readonly cwd?: string;
  readonly query?: string;
  readonly tool?: string;
  readonly kind?: string;
  readonly all?: boolean;
  readonly output?: string;
  readonly id?: string | number;
  readonly write?: boolean;
  readonly overwrite?: boolean;
  /** `false`: `--no-browser`. */
  readonly browser?: boolean;
  /** What stands behind `--`: a program that is the server of this run, and its arguments. */
  readonly program?: readonly string[];
}

/** Whether `--url` or `-- PROGRAM` gives the server, so that no SERVER word is expected. */
export function saysServer({ url, program }: Options): boolean {
  return url !== undefined || program !== undefined;
}

export type CommandName = "list" | "call" | "request" | "run" | "doctor" | "import" | "login" | "logout";

/** A command line that makes sense so far. */
export interface Invocation {
  readonly command: CommandName;
  readonly words: readonly string[];
  readonly options: Options;
}

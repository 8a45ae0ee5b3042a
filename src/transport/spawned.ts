import type { Readable, Writable } from "node:stream";

/** A started process with its three pipes. */
export interface SpawnedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly hasExited: () => boolean;
  /** Resolves with the end of the process itself; its pipes may still hold data, or be held open by its children. */
  readonly exited: Promise<ExitStatus>;
}

export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

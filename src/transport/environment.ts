import type { StdioEndpoint } from "../server-spec.ts";

/** What a program needs to run at all; it arrives even where an entry restricts the environment. */
const BASE_POSIX = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LANG", "TZ"];
const BASE_WINDOWS = [
  ...[
    "PATH",
    "PATHEXT",
    "COMSPEC",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "TEMP",
    "TMP",
    "OS",
    "USERNAME",
    "USERDOMAIN",
  ],
  ...["USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC"],
  ...[
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
  ],
  ...["NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "COMPUTERNAME", "LANG", "HOME", "SHELL", "TERM", "USER", "TZ"],
];

/**
 * The environment of a server process: the host's, or the base set and the named variables, with the entry's `env` over it.
 * Windows compares names without case, so that `Path` and `PATH` never arrive both.
 */
export function serverEnvironment(
  endpoint: Pick<StdioEndpoint, "env" | "inheritEnv">,
  host: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): Record<string, string> {
  const windows = platform === "win32";
  const fold = (name: string): string => (windows ? name.toUpperCase() : name);
  const { env, inheritEnv } = endpoint;
  const named =
    inheritEnv === true ? undefined : new Set([...(windows ? BASE_WINDOWS : BASE_POSIX), ...inheritEnv].map(fold));
  const inherited = (name: string): boolean =>
    named === undefined || named.has(fold(name)) || fold(name).startsWith("LC_");

  // A null prototype: a variable may have any name, `__proto__` too.
  const result: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(host)) if (value !== undefined && inherited(name)) result[name] = value;
  for (const [name, value] of Object.entries(env)) {
    if (windows) for (const other of Object.keys(result)) if (fold(other) === fold(name)) delete result[other];
    result[name] = value;
  }
  return result;
}

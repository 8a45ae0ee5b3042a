import { win32 } from "node:path";

const EXTENSIONS = ".COM;.EXE;.BAT;.CMD";

/**
 * The program behind a bare name, by PATH and PATHEXT; nothing where they do not lead to one. Windows by itself would look into
 * the working directory first, which may be a cloned repository. What names a path is left as it is.
 */
export function findOnWindows(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  isFile: (path: string) => boolean,
): string | undefined {
  if (/[\\/:]/.test(command)) return command;
  const variable = (name: string): string =>
    Object.entries(env)
      .find(([key]) => key.toUpperCase() === name)?.[1]
      ?.replaceAll('"', "") ?? "";
  const extended = (variable("PATHEXT") || EXTENSIONS).split(";").map((extension) => command + extension);
  const folders = variable("PATH").split(";").filter(win32.isAbsolute);
  // A script without an extension often lies beside the one with it that Windows can run.
  for (const names of [command.includes(".") ? [command, ...extended] : extended, [command]])
    for (const folder of folders)
      for (const name of names) if (isFile(win32.join(folder, name))) return win32.join(folder, name);
  return undefined;
}

/** A program of Windows itself, by its full path for the same reason. */
export function systemProgram(name: string): string {
  return win32.join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", `${name}.exe`);
}

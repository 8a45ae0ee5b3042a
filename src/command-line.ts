/** A command as a person reads it: quoted where a blank or a special character would mislead. */
export function commandLine(command: string, args: readonly string[] = []): string {
  return [command, ...args].map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}

/**
 * A command that a person is to paste into a shell, which expands nothing in it: an address may come from anywhere. On Windows
 * for cmd and PowerShell alike.
 */
export function shellLine(words: readonly string[], platform: NodeJS.Platform = process.platform): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word, platform))).join(" ");
}

function quoted(word: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return `"${word.replace(/[`$]/g, "`$&")}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

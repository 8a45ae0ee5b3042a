/** A command as a person reads it: quoted where a blank or a special character would mislead. */
export function commandLine(command: string, args: readonly string[] = []): string {
  return [command, ...args].map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}

/** Unquoted, these mean nothing to cmd.exe; a batch file may compare such a word, and quotes would be in its way. */
const PLAIN = /^[\w#$*+\-./:?@\\]*[\w#$*+\-./:?@]$/;

/**
 * The words after `cmd.exe` that run a batch file with every argument verbatim; they must not be quoted again. cmd.exe reads
 * a line twice: this one, and that of the file which hands its arguments on. Quotes make both take what is special as it is, and
 * one within them is doubled, which both of them and the program behind read as one; a caret would be gone after the first.
 * @throws Error for a line end, which ends the command whatever stands around it.
 */
export function batchCommand(file: string, args: readonly string[]): readonly string[] {
  const line = [quoted(file), ...args.map((arg) => (PLAIN.test(arg) ? arg : quoted(arg)))].join(" ");
  return ["/d", "/e:on", "/v:off", "/s", "/c", `"${line}"`];
}

export function isBatchFile(path: string): boolean {
  return /\.(bat|cmd)$/i.test(path);
}

function quoted(text: string): string {
  if (/[\r\n]/.test(text)) {
    throw Object.assign(new Error("it is a batch file, which takes no argument with a line end"), { code: "EINVAL" });
  }
  const inner = text
    // Before a quote the program behind halves backslashes.
    .replace(/(?<!\\)\\+(?="|$)/g, "$&$&")
    .replaceAll('"', '""')
    // An empty piece of a variable that is always there: no percent sign has another one to make a name with.
    .replaceAll("%", "%%cd:~,%");
  return `"${inner}"`;
}

export interface LogEntry {
  readonly level: string;
  readonly message: string;
}

/** A `notifications/message` of a server as one line for a host's log (Utilities, Logging). */
export function logEntry({ level, data, logger }: Readonly<Record<string, unknown>>): LogEntry {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return {
    level: typeof level === "string" ? level : "info",
    message: typeof logger === "string" ? `${logger}: ${text}` : text,
  };
}

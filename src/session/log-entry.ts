/** RFC 5424, as the specification names them. */
const LEVELS: ReadonlySet<string> = new Set([
  ...["debug", "info", "notice", "warning"],
  ...["error", "critical", "alert", "emergency"],
]);

export interface LogEntry {
  /** One of the levels; `info` for anything else. */
  readonly level: string;
  readonly message: string;
}

/** A `notifications/message` of a server as one line for a host's log (Utilities, Logging). */
export function logEntry({ level, data, logger }: Readonly<Record<string, unknown>>): LogEntry {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return {
    level: typeof level === "string" && LEVELS.has(level) ? level : "info",
    message: typeof logger === "string" ? `${logger}: ${text}` : text,
  };
}

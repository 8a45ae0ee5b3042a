import type { Json } from "../json.ts";
import type { Place } from "../place.ts";
import type { Flaw } from "../shape.ts";

/** How another tool writes its MCP servers down. */
export interface Dialect {
  /** Its files, lowest rank first; most of them do not exist. */
  files(place: Place): readonly DialectFile[];
  /** The servers of one of its files, brought into our format. */
  servers(document: Json, place: Place): Iterable<ImportedServer>;
}

export interface DialectFile {
  readonly path: string;
  /** Whether it lies in the user's or in the project's folders, which decides about trust. */
  readonly level: "user" | "project";
  readonly format: "json" | "toml";
}

export interface ImportedServer {
  readonly name: string;
  /** In our own format. */
  readonly raw: Json;
  /** What cannot be brought into our format. */
  readonly flaw?: Flaw;
}

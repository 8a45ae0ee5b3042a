#!/usr/bin/env node
import * as nodeModule from "node:module";
import { compileCacheFolder } from "./compile-cache-folder.ts";

/** From Node 22.8 on. */
type CanKeep = { readonly enableCompileCache?: (folder: string) => unknown };

// A file of no more than this, so that all that it loads is compiled already from the second run on.
const folder = compileCacheFolder(process.env, process.platform);
if (folder !== undefined) (nodeModule as CanKeep).enableCompileCache?.(folder);
await import("./command.ts");

import { spawn } from "node:child_process";
import { systemProgram } from "../transport/find-on-windows.ts";

/**
 * Opens a page in the person's browser, with the system's own opener and without a shell. Resolves with whether there is an
 * opener; that it shows the page cannot be known. Nothing of it keeps the process alive.
 */
export async function openInBrowser(url: string): Promise<boolean> {
  if (!/^https?:\/\//i.test(url)) return false;
  const [command, args] = opener(url);
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: process.env, stdio: "ignore", detached: true, windowsHide: true });
    child.once("error", () => resolve(false)); // No opener on this machine: the person has the address.
    child.once("spawn", () => resolve(true));
    child.unref();
  });
}

function opener(url: string): [command: string, args: string[]] {
  if (process.platform === "darwin") return ["open", [url]];
  if (process.platform === "win32") return [systemProgram("rundll32"), ["url.dll,FileProtocolHandler", url]];
  return ["xdg-open", [url]];
}

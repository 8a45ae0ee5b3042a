/** Whether there was a process to signal; a negative pid means a group. Signal 0 only asks. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // ESRCH: gone. EPERM on macOS: only zombies are left. ENOSYS on Windows: it cannot be sent there.
  }
}

/** Whether the group still had a member to signal. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(-pid, signal);
}

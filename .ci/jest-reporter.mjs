/** Ends a jest run with the line that .ci/run adds up. A test file that could not run counts as one failure. */
export default class LastLine {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    process.stdout.write(`${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed\n`);
  }
}

import { expect, test } from "@jest/globals";
import { stderrEnding } from "../src/stderr-ending.ts";

test.each([
  [
    "of Node",
    `/srv/index.js:3
  throw new Error("API_KEY is missing");
  ^

Error: API_KEY is missing
    at main (/srv/index.js:3:9)
    at Object.<anonymous> (/srv/index.js:5:1)
    at new Promise (<anonymous>)
    at async Promise.all (index 0)
    at node:internal/main/run_main_module:28:49 {
  code: 'E_KEY'
}

Node.js v20.20.2`,
    `/srv/index.js:3
  throw new Error("API_KEY is missing");
  ^

Error: API_KEY is missing
  code: 'E_KEY'
}

Node.js v20.20.2`,
  ],
  [
    "of Java",
    `Exception in thread "main" java.lang.IllegalStateException: API_KEY is missing
\tat com.example.Server.main(Server.java:12)
\tat java.base/java.lang.Thread.run(Unknown Source)`,
    'Exception in thread "main" java.lang.IllegalStateException: API_KEY is missing',
  ],
  [
    "of .NET",
    `Unhandled exception. System.InvalidOperationException: API_KEY is missing
   at Server.Program.Main(String[] args) in /srv/Program.cs:line 7
   at System.Threading.Tasks.Task.Wait()`,
    "Unhandled exception. System.InvalidOperationException: API_KEY is missing",
  ],
  [
    "of Go",
    `panic: no podman available

goroutine 1 [running]:
main.run(0x1db9140, {0x12b9708?, 0x4?})
\t/go/src/server/root.go:62 +0x865
github.com/spf13/cobra.(*Command).Execute(...)
\t/go/pkg/cobra@v1.10.2/command.go:1071
exit status 2`,
    "panic: no podman available\n\ngoroutine 1 [running]:\nexit status 2",
  ],
])("a server's stack trace %s is left out of what a message shows of its stderr", (_, stderr, shown) => {
  expect(stderrEnding(stderr)).toBe(shown);
});

test.each([
  "Look at https://example.com/keys",
  "Keys:\n  at least one (of two) is missing",
  "Traceback (most recent call last):\n  File \"server.py\", line 1, in <module>\nKeyError: 'API_KEY'",
])("what is no stack trace stays: %j", (stderr) => {
  expect(stderrEnding(stderr)).toBe(stderr);
});

test("a usage beneath the reason does not hide it", () => {
  const usage =
    "      --log-file string   Set to stderr to log to the standard error stream. Useful if the last one failed.\n";
  const shown = stderrEnding(`Error: no current-context is set\nUsage:\n${usage.repeat(40)}`);
  expect(shown).toMatch(/^Error: no current-context is set\n…/);
});

test("the reason stands before the newest of a long stderr that does not name it", () => {
  const tries = Array.from(
    { length: 60 },
    (_, n) => ` → /srv/node_modules/better-sqlite3/lib/${n}/better_sqlite3.node`,
  );
  const shown = stderrEnding(`Starting\nError: Could not locate the bindings file. Tried:\n${tries.join("\n")}`);
  expect(shown).toMatch(/^Error: Could not locate the bindings file\. Tried:\n…/);
  expect(shown.endsWith(`${tries.at(-1)}`)).toBe(true);
  expect(shown.length).toBeLessThanOrEqual(2002);
});

test("a line of a bundle that Node quotes before an error is left out", () => {
  const source = "x".repeat(5000);
  for (const caret of ["    ^", " ".repeat(2000)])
    expect(stderrEnding(`${source}\n${caret}\n\nError: API_KEY is missing`)).toBe("Error: API_KEY is missing");
});

test("the ending of an odd stderr takes no time to speak of", () => {
  const odd = [
    " ",
    "\n",
    "^",
    "a",
    "    at ",
    "error",
    "    at a(",
    ":1",
    "\t^\n",
    "at x (",
    "_",
    "(",
    "Error:x",
    "a\n\t.go:1",
  ];
  for (const piece of odd) {
    const begun = process.cpuUsage();
    stderrEnding(piece.repeat(8192 / piece.length));
    const { user } = process.cpuUsage(begun);
    expect(user).toBeLessThan(500_000);
  }
});

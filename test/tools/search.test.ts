import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import type { ServerSpec } from "../../src/server-spec.ts";
import { rank } from "../../src/tools/search.ts";
import { unknownTool } from "../../src/tools/visibility.ts";

interface Listed {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly parameters: readonly string[];
}
interface Query {
  readonly query: string;
  readonly half: "development" | "unseen";
  /** By server: the tools of which one is meant. */
  readonly right: Readonly<Record<string, readonly string[]>>;
}

const FIXTURES = new URL("../fixtures/", import.meta.url);
const LISTS = readdirSync(new URL("tool-lists/", FIXTURES))
  .filter((file) => file.endsWith(".jsonl"))
  .map((file) => ({ server: file.slice(0, -".jsonl".length), tools: toolsOf(file) }));
const QUERIES = JSON.parse(readFileSync(new URL("tool-queries.json", FIXTURES), "utf8")) as Query[];

function toolsOf(file: string): { server: string; name: string; item: Readonly<Record<string, unknown>> }[] {
  const lines = readFileSync(new URL(`tool-lists/${file}`, FIXTURES), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const { parameters, ...tool } = JSON.parse(line) as Listed;
    const properties = Object.fromEntries(parameters.map((name) => [name, {}]));
    return { server: file.slice(0, -".jsonl".length), name: tool.name, item: { ...tool, inputSchema: { properties } } };
  });
}

describe("a search", () => {
  const items = [
    { name: "create_issue", description: "Opens a new issue in a repository." },
    { name: "list_issues", description: "Lists issues of a repository." },
    { name: "delete_branch", description: "Removes a branch; mentions an issue by the way." },
    { name: "getWeather", title: "Weather forecast", description: "Tells the temperature." },
    { name: "search", description: "Finds files.", inputSchema: { properties: { pattern: {}, repository: {} } } },
  ].map((item) => ({ item }));
  const found = (query: string): string[] => rank(query, items).map(({ item }) => item.name);

  test("finds a tool by name, title, description and parameter names, and nothing else", () => {
    expect(found("issue")).toEqual(["list_issues", "create_issue", "delete_branch"]);
    expect(found("create an issue")[0]).toBe("create_issue");
    expect(found("weather forecast")).toEqual(["getWeather"]);
    expect(found("temperature")).toEqual(["getWeather"]);
    expect(found("pattern")).toEqual(["search"]);
    expect(found("repositories")).toHaveLength(3);
  });

  test("puts the name before the title, that before the description, and that before a parameter", () => {
    const places = [
      { name: "d", inputSchema: { properties: { invoice: {} } } },
      { name: "c", description: "Prints an invoice." },
      { name: "b", title: "Invoice" },
      { name: "one_long_name_of_many_words_with_invoice_in_it" },
    ].map((item) => ({ item }));
    expect(rank("invoice", places).map(({ item }) => item.name)).toEqual([
      "one_long_name_of_many_words_with_invoice_in_it",
      "b",
      "c",
      "d",
    ]);
  });

  test("finds nothing where no word fits, and everything where there is no word", () => {
    expect(found("zebra")).toEqual([]);
    expect(found(" ?! ")).toHaveLength(5);
    expect(found("what are those")).toEqual([]);
  });

  test("is not misled by words that say nothing", () => {
    expect(found("please get me the weather")).toEqual(["getWeather"]);
    expect(found("this branch")).toEqual(["delete_branch"]);
  });

  test.each([
    ["show the tags", ["get_tag", "create_tag", "delete_tag"]],
    ["add a tag", ["create_tag"]],
    ["remove tags", ["delete_tag"]],
    ["tags", ["get_tag"]],
    ["make a folder", ["create_directory"]],
    ["reboot the vm", ["restart_machine"]],
    ["set up a machine", ["create_machine"]],
    ["auto reply", ["autoreply_on"]],
    ["repo", ["fork_repository"]],
    ["insert a row", ["create_record"]],
    ["undo the last commit", ["reset_commit"]],
    ["remember a fact", ["add_fact"]],
  ])("understands other words for the same: %j", (query, expected) => {
    const names = [
      ...["create_tag", "delete_tag", "get_tag", "create_directory", "create_machine", "list_machines"],
      ...[
        "restart_machine",
        "autoreply_on",
        "fork_repository",
        "create_record",
        "show_commit",
        "reset_commit",
        "add_fact",
      ],
    ];
    const ranked = rank(
      query,
      names.map((name) => ({ item: { name } })),
    ).map(({ item }) => item.name);
    expect(ranked.slice(0, expected.length)).toEqual(expected);
  });

  test.each([
    ["open issues", "list_issues"],
    ["open merge requests", "list_merge_requests"],
    ["open tabs", "list_tabs"],
    ["open an issue", "create_issue"],
    ["open a merge request", "create_merge_request"],
    ["open the settings", "open_settings"],
  ])("tells what is open from what is to be opened: %j", (query, expected) => {
    const names = [
      ...["create_issue", "get_issue", "update_issue", "list_issues", "create_merge_request", "get_merge_request"],
      ...["list_merge_requests", "create_tab", "list_tabs", "open_settings"],
    ];
    const items = names.map((name) => ({ item: { name, description: "It is open, or it is closed." } }));
    expect(rank(query, items)[0]?.item.name).toBe(expected);
  });

  test.each([
    ["find issues", ["list_issues", "get_issue"]],
    ["search for a branch", ["list_branches"]],
    ["find code", ["search_code"]],
  ])("takes a list where nothing searches: %j", (query, expected) => {
    const names = ["get_issue", "create_issue", "list_issues", "delete_branch", "list_branches", "list_code_owners"];
    const ranked = rank(
      query,
      [...names, "search_code"].map((name) => ({ item: { name } })),
    ).map(({ item }) => item.name);
    expect(ranked.slice(0, expected.length)).toEqual(expected);
  });

  test("reads other scripts, and the names of servers where several are searched", () => {
    const everywhere = [
      { server: "files", item: { name: "読む", description: "ファイルを読む。" } },
      { server: "files", item: { name: "ÜBERSICHT", description: "Zeigt alles — wirklich." } },
      { server: "github", item: { name: "search_code" } },
      { server: "gitlab", item: { name: "search_code" } },
    ];
    const servers = (query: string): string[] => rank(query, everywhere).map(({ server }) => server);
    expect(rank("読む", everywhere)[0]?.item.name).toBe("読む");
    expect(rank("übersicht", everywhere)[0]?.item.name).toBe("ÜBERSICHT");
    expect(servers("search code gitlab")).toEqual(["gitlab", "github"]);
  });

  test("never fails, whatever an item or a query is", () => {
    const odd = [{}, { name: 5, title: [], description: {}, inputSchema: null }, { inputSchema: { properties: [1] } }];
    const more = [{ arguments: [null, 1, { name: {} }] }, { inputSchema: { properties: { a: { enum: [null, {}] } } } }];
    const candidates = [...odd, ...more].map((item) => ({ item }));
    for (const query of ["a", "\ud800", "__proto__ constructor", "x".repeat(100_000), "get ".repeat(10_000)])
      expect(rank(query, candidates)).toEqual(expect.any(Array));
  });
});

describe("a search in the lists of public servers", () => {
  const isRight = ({ right }: Query, { server, name }: { server: string; name: string }): boolean =>
    right[server]?.includes(name) ?? false;
  const share = (hits: readonly boolean[]): number => hits.filter(Boolean).length / hits.length;
  const inOne = (queries: readonly Query[]): boolean[] =>
    queries.flatMap((query) =>
      LISTS.filter(({ server }) => query.right[server] !== undefined).map(({ tools }) =>
        rank(query.query, tools)
          .slice(0, 3)
          .some((tool) => isRight(query, tool)),
      ),
    );
  const all = LISTS.flatMap(({ tools }) => tools);

  test("has queries for every list, and knows the tools that they mean", () => {
    expect(QUERIES.length).toBeGreaterThanOrEqual(80);
    expect(all.length).toBeGreaterThan(800);
    const meant = QUERIES.flatMap(({ right }) =>
      Object.entries(right).flatMap(([server, names]) => names.map((name) => `${server}/${name}`)),
    );
    const known = new Set(all.map(({ server, name }) => `${server}/${name}`));
    expect(meant.filter((one) => !known.has(one))).toEqual([]);
    const asked = new Set(QUERIES.flatMap(({ right }) => Object.keys(right)));
    expect([...asked].sort()).toEqual(LISTS.map(({ server }) => server).sort());
  });

  test("has a right tool of a server among the first three for 90 % of the queries, also of those it was not made with", () => {
    expect(share(inOne(QUERIES))).toBeGreaterThanOrEqual(0.9);
    expect(share(inOne(QUERIES.filter(({ half }) => half === "unseen")))).toBeGreaterThanOrEqual(0.9);
  });

  test("still has one among the eight that are shown for 85 % where all servers are searched at once", () => {
    const unseen = QUERIES.filter(({ half }) => half === "unseen");
    const hits = unseen.map((query) => rank(query.query, all).map((tool) => isRight(query, tool)));
    expect(share(hits.map((right) => right.slice(0, 8).includes(true)))).toBeGreaterThanOrEqual(0.85);
    expect(share(hits.map((right) => right.slice(0, 3).includes(true)))).toBeGreaterThanOrEqual(0.7);
  });
});

describe("the near names of a tool that there is not", () => {
  test.each([
    ["playwright", "browser_open", "browser_navigate"],
    ["filesystem", "rename_file", "move_file"],
    ["filesystem", "list_files", "list_directory"],
    ["memory", "add_entity", "create_entities"],
    ["gitlab", "comment_on_issue", "create_issue_note"],
  ])("of %s hold those that say %s in other words", (server, asked, meant) => {
    const tools = LISTS.find((list) => list.server === server)?.tools ?? [];
    const items = new Map(tools.map(({ name, item }) => [name, item]));
    const spec = { name: server } as ServerSpec;
    const { details } = unknownTool(spec, asked, { kind: "tools", items, duplicates: [], leftOut: [], pages: [] });
    expect(details["near"]).toContain(meant);
    expect((details["near"] as unknown[]).length).toBeLessThanOrEqual(5);
  });
});

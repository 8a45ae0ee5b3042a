import { describe, expect, jest, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { harnesses, jsonOf, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const METHOD_NOT_FOUND = expect.objectContaining({ code: -32601 });

describe("matching answers", () => {
  test("answers whose ids come back as strings are accepted [B01]", async () => {
    const host = make().serve("strings", "messages", "string-ids");
    expect(textOf(await host.call("strings", "echo", { text: "matched" }))).toBe("matched");
  });

  test("only the canonical decimal string of an id is that id [B01]", async () => {
    const host = make().serve("odd", "messages", "odd-ids");
    expect(textOf(await host.call("odd", "echo"))).toBe("right");
  });

  test("second answers and answers to nothing are dropped [B05]", async () => {
    const host = make().serve("foreign", "messages", "foreign-answers");
    for (const text of ["one", "two"]) expect(textOf(await host.call("foreign", "echo", { text }))).toBe(text);
    const status = await host.run("mcp_list", { action: "status" });
    expect(status.details).toMatchObject({ connections: [{ server: "foreign", state: "connected", pending: 0 }] });
  });

  test.each([null, "server-error", 4711])(
    "an answer under the id %j, which is nobody's, is told with the timeout",
    async (id) => {
      const host = make().serve("odd", "messages", "answers");
      await host.list("odd"); // The short timeout is for the call, not for the start.
      const answer = { id, error: { code: -32700, message: "cannot read that" } };
      const { code, message } = await host.callFailure("odd", "echo", { answer }, { timeoutSeconds: 1 });
      expect(code).toBe("timeout");
      expect(message).toContain("cannot read that");
    },
  );

  test("the late error of an earlier request is not", async () => {
    const host = make().serve("late", "messages", "answers");
    await host.list("late");
    const { id } = host.received("late", "tools/list")[0]?.message ?? {};
    const answer = { id, error: { code: -32700, message: "too late" } };
    const { message } = await host.callFailure("late", "echo", { answer }, { timeoutSeconds: 1 });
    expect(message).not.toContain("too late");
  });

  test("concurrent calls get their own answers, in whatever order they come", async () => {
    const host = make().serve("reversed", "messages", "reversed");
    const texts = Array.from({ length: 20 }, (_, at) => `call ${at}`);
    const results = await Promise.all(
      texts.map((text) => host.call("reversed", "echo", { text, count: texts.length })),
    );
    expect(results.map(textOf)).toEqual(texts);
    expect(host.received("reversed", "initialize")).toHaveLength(1);
  });

  test("an answer inside a JSON array is read, whatever revision was negotiated [B11]", async () => {
    const host = make();
    for (const revision of ["2025-03-26", "2025-11-25"]) {
      host.serve(`batch-${revision}`, "messages", `batch ${revision}`);
      expect(textOf(await host.call(`batch-${revision}`, "echo", { text: revision }))).toBe(revision);
    }
  });

  test("every question of a batch is answered [B11]", async () => {
    const host = make().serve("batch", "messages", "batch-of-questions 2025-03-26");
    expect(textOf(await host.call("batch", "echo"))).toBe("a,b,c");
  });

  test.each([
    ["an error that is a string", { error: "broken" }, "rpc_error", "broken"],
    ["an error without a code", { error: { message: "no code" } }, "rpc_error", "no code"],
    ["an error without a message", { error: { code: -32000 } }, "rpc_error", "-32000"],
    ["an empty error", { error: {} }, "rpc_error", ""],
    ["neither result nor error", {}, "protocol_error", "tools/call"],
  ])("an answer with %s ends its call at once and keeps the connection", async (_, answer, expected, words) => {
    const host = make().serve("answers", "messages", "answers");
    const { code, message } = await host.callFailure("answers", "echo", { answer });
    expect(code).toBe(expected);
    expect(message).toContain(words);
    expect(
      textOf(await host.call("answers", "echo", { answer: { result: { content: [{ type: "text", text: "ok" }] } } })),
    ).toBe("ok");
    expect(host.pids("answers")).toHaveLength(1);
  });

  test("what is nested without end is cut off, wherever it stands, and overflows no stack", async () => {
    const logged: string[] = [];
    const services: HostServices = { log: ({ message }) => logged.push(message), listRoots: async () => [] };
    const host = make({ services }).serve("deep", "messages", "deep");
    const result = await host.call("deep", "good", { kind: "result" });
    expect(textOf(result)).toContain("kept");
    expect(JSON.stringify(result)).toContain("[nested too deeply]");
    expect(textOf(await host.call("deep", "good", { kind: "content" }))).toContain("odd");
    expect((await host.callFailure("deep", "good", { kind: "error" })).code).toBe("rpc_error");
    const list = await host.list("deep");
    expect(JSON.stringify(list.details)).toContain('"name":"good"');
    expect(logged).toHaveLength(3);
    expect(host.pids("deep")).toHaveLength(1);
  });

  test("a call whose arguments have no JSON text fails alone, and leaves nothing behind", async () => {
    const host = make().serve("plain", "processes", "plain");
    const { code, message } = await host.callFailure("plain", "echo", { big: 1n });
    expect(code).toBe("invalid_params");
    expect(message).toContain("cannot be sent as JSON");
    expect(textOf(await host.call("plain", "echo", { text: "next" }))).toBe("next");
    expect(host.received("plain", "tools/call")).toHaveLength(1);
    const { connections } = jsonOf(await host.run("mcp_list", { action: "status" })) as { connections: object[] };
    expect(connections).toMatchObject([{ server: "plain", pending: 0 }]);
  });

  test("a result beside a null error is a result", async () => {
    const host = make().serve("answers", "messages", "answers");
    const answer = { error: null, result: { content: [{ type: "text", text: "both" }] } };
    expect(textOf(await host.call("answers", "echo", { answer }))).toBe("both");
  });
});

describe("questions of a server", () => {
  test("ping is answered and the rest refused with their ids echoed exactly, the pending call's own id included [B07]", async () => {
    const host = make().serve("asks", "messages", "questions");
    const answers = JSON.parse(textOf(await host.call("asks", "echo"))) as {
      id: unknown;
      result?: unknown;
      error?: unknown;
    }[];
    const [call] = host.received("asks", "tools/call");
    expect(answers.map(({ id }) => id)).toEqual(["p1", 7702, "s-3", call?.message?.id, "u 5"]);
    expect(answers[0]?.result).toEqual({});
    for (const answer of answers.slice(1)) expect(answer.error).toEqual(METHOD_NOT_FOUND);
  });

  test("every ping before the answer to initialize is answered, what stands beside it afterwards, and a question right after it too", async () => {
    const logged: string[] = [];
    const services: HostServices = {
      listRoots: async () => [{ uri: "file:///root" }],
      log: ({ message }) => logged.push(message),
    };
    const host = make({ services }).serve("early", "messages", "early-questions");
    expect(textOf(await host.call("early", "echo", { text: "hi" }))).toBe("hi");
    const answers = host
      .ledger("early")
      .filter(({ event, message }) => event === "in" && message?.method === undefined);
    expect(answers.map(({ message }) => message)).toMatchObject([
      { id: "early", result: {} },
      { id: "first", result: {} },
      { id: "second", result: {} },
      { id: "third", result: {} },
      { id: "early-roots", result: { roots: [{ uri: "file:///root" }] } },
      { id: "roots", result: { roots: [{ uri: "file:///root" }] } },
    ]);
    expect(logged).toEqual(["beside a ping"]);
  });

  test("what comes early and in pieces is kept as it came, whatever comes after it", async () => {
    const logged: string[] = [];
    const services: HostServices = { log: ({ message }) => logged.push(message.slice(0, 3)) };
    const host = make({ services }).serve("long", "messages", "long-and-early");
    await host.list("long");
    expect(logged).toEqual(["aaa", "bbb"]);
  });

  test("of what a server says too early, and asks while nothing is answered, only so many bytes are kept", async () => {
    let logged = 0;
    let go = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      go = resolve;
    });
    let asked = 0;
    const services: HostServices = {
      log: () => void logged++,
      listRoots: async () => {
        asked++;
        await answered;
        return [];
      },
    };
    const host = make({ services, limits: { questionBytes: 45_000 } }).serve("large", "messages", "large-talk");
    await host.list("large");
    expect(logged).toBe(4);
    const call = host.call("large", "echo");
    await waitFor("the questions are here", () => asked >= 4);
    // Behind them in the same pipe: once it is answered, they all were read.
    await host.list("large");
    expect(asked).toBe(4);
    go();
    expect(textOf(await call)).toBe("talked");
  });

  test("a flood of pings during a call does not disturb it", async () => {
    const host = make().serve("pings", "messages", "ping-flood");
    expect(textOf(await host.call("pings", "echo"))).toBe("pinged");
    expect(textOf(await host.call("pings", "echo"))).toBe("pinged");
  });

  /** The answers to some questions, asked of a host with these services. */
  async function answers(
    services: HostServices,
    questions: readonly object[],
    more: object = {},
  ): Promise<{ result?: unknown; error?: unknown }[]> {
    const host = make({ services }).serve("asks", "messages", "ask");
    await host.list("asks");
    return jsonOf(await host.call("asks", "ask", { questions }, more as Record<string, unknown>)) as unknown as {
      result?: unknown;
      error?: unknown;
    }[];
  }

  const FORM = {
    method: "elicitation/create",
    params: {
      message: "Name?",
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string" }, size: { type: "integer", default: 3 } },
        required: ["name"],
      },
    },
  };
  const ROOTS = { method: "roots/list" };
  const SAMPLE = {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 5 },
  };

  test("the services a host offers are declared, and nothing else", async () => {
    const host = make({ services: { listRoots: async () => [], createMessage: async () => ({}) } }).serve(
      "one",
      "messages",
      "ask",
    );
    await host.list("one");
    expect(host.received("one", "initialize")[0]?.message?.params?.["capabilities"]).toEqual({
      roots: {},
      sampling: {},
    });
    const other = make().serve("one", "messages", "ask");
    await other.list("one");
    expect(other.received("one", "initialize")[0]?.message?.params?.["capabilities"]).toEqual({});
  });

  test("a host's answers reach the server, and what a form leaves out gets its default", async () => {
    const contexts: unknown[] = [];
    const services: HostServices = {
      listRoots: async (context) => {
        contexts.push(context);
        return [{ uri: "file:///a", name: "a" }];
      },
      elicit: async (params, context) => {
        contexts.push(context);
        return { action: "accept", content: { name: String(params["message"]) } };
      },
      createMessage: async (_params, context) => {
        contexts.push(context);
        return { role: "assistant", content: { type: "text", text: "sampled" }, model: "m" };
      },
    };
    expect(await answers(services, [ROOTS, FORM, SAMPLE])).toEqual([
      { id: "q0", result: { roots: [{ uri: "file:///a", name: "a" }] } },
      { id: "q1", result: { action: "accept", content: { name: "Name?", size: 3 } } },
      { id: "q2", result: { role: "assistant", content: { type: "text", text: "sampled" }, model: "m" } },
    ]);
    for (const context of contexts)
      expect(context).toMatchObject({
        server: "asks",
        sessionId: expect.stringContaining("session of"),
        cwd: expect.any(String),
      });
  });

  test("what a person declines or cancels is told as that", async () => {
    const elicit = (action: "decline" | "cancel"): HostServices => ({
      elicit: async () => ({ action, content: { name: "never sent" } }),
    });
    expect(await answers(elicit("decline"), [FORM])).toEqual([{ id: "q0", result: { action: "decline" } }]);
    expect(await answers(elicit("cancel"), [FORM])).toEqual([{ id: "q0", result: { action: "cancel" } }]);
  });

  test("services that throw, or give nonsense, become answers all the same", async () => {
    const nonsense = {
      listRoots: async () => "none",
      elicit: async () => "yes",
      createMessage: async () => undefined,
    } as unknown as HostServices;
    expect(await answers(nonsense, [ROOTS, FORM, SAMPLE])).toMatchObject([
      { error: { code: -32603 } },
      { result: { action: "decline" } },
      { error: { code: -32603 } },
    ]);
    const fail = async (): Promise<never> => {
      throw new Error("the host failed");
    };
    const failing: HostServices = { listRoots: fail, elicit: fail, createMessage: fail };
    const failed = { error: { code: -32603, message: "The host could not answer" } };
    expect(await answers(failing, [ROOTS, FORM, SAMPLE])).toMatchObject([
      failed,
      { result: { action: "cancel" } },
      failed,
    ]);
    const throwing = {
      listRoots: () => {
        throw new Error("at once");
      },
    } as unknown as HostServices;
    expect(await answers(throwing, [ROOTS])).toMatchObject([{ error: { code: -32603 } }]);
  });

  test("content that does not fit the requested form is not sent", async () => {
    const services: HostServices = { elicit: async () => ({ action: "accept", content: { name: 5 } }) };
    expect(await answers(services, [FORM])).toEqual([{ id: "q0", result: { action: "decline" } }]);
  });

  test("a form without a usable schema, or an unknown mode, is refused and the host not asked", async () => {
    let asked = 0;
    const elicit = async (): Promise<{ action: "accept" }> => {
      asked++;
      return { action: "accept" };
    };
    const services: HostServices = { elicit };
    const bad = [
      { message: "?" },
      { message: "?", requestedSchema: { type: "object" } },
      { message: "?", mode: "hologram" },
      { mode: "url", url: "no url" },
    ];
    const refused = await answers(
      services,
      bad.map((params) => ({ method: "elicitation/create", params })),
    );
    for (const answer of refused) expect(answer).toMatchObject({ error: { code: -32602 } });
    expect(asked).toBe(0);
  });

  test("a host that never answers holds a question up for part of the call's time only", async () => {
    const aborted: string[] = [];
    const never =
      (name: string) =>
      (...args: unknown[]): Promise<never> => {
        (args.at(-1) as { signal: AbortSignal }).signal.addEventListener("abort", () => aborted.push(name));
        return new Promise<never>(() => undefined);
      };
    const services: HostServices = { elicit: never("elicit"), listRoots: never("roots") };
    const given = await answers(services, [FORM, ROOTS], { timeoutSeconds: 5 });
    expect(given).toMatchObject([{ result: { action: "cancel" } }, { error: { code: -32603 } }]);
    expect(aborted).toEqual(["elicit", "roots"]);
  });

  test("large answers to a server that reads slowly take their time, and the connection goes on", async () => {
    const bytes = 3 * 1024 * 1024;
    const createMessage = async (): Promise<Record<string, unknown>> => ({
      content: { type: "text", text: "x".repeat(bytes) },
    });
    const host = make({ services: { createMessage }, limits: { noticeMs: 100, aliveMs: 20_000 } });
    host.serve("slow", "messages", "slow-reader");
    const asking = host.call("slow", "echo", { pauseMs: 1500, questions: 3 });
    await waitFor("the call has arrived", () => host.received("slow", "tools/call").length > 0);
    // Its line waits behind half an answer; so does the notice that it was given up.
    const other = host.callStep("slow", "echo");
    setTimeout(() => other.cancel(), 300);
    expect(textOf(await asking)).toBe(`${bytes},${bytes},${bytes}`);
    other.destroy();
    expect(textOf(await host.call("slow", "echo"))).toBe("quick");
    expect(host.pids("slow")).toHaveLength(1);
  });

  test("a question that its server takes back is withdrawn from the host, and not answered", async () => {
    const open = new Set<string>();
    const ask = (name: string, signal: AbortSignal): Promise<never> => {
      open.add(name);
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          open.delete(name);
          reject(new Error("nobody waits"));
        });
      });
    };
    const services: HostServices = {
      elicit: (_params, { signal }) => ask("form", signal),
      createMessage: (_params, { signal }) => ask("sample", signal),
    };
    const host = make({ services }).serve("asks", "messages", "asks-and-withdraws");
    const asking = host.call("asks", "ask", {
      questions: [
        { id: "1", ...FORM },
        { id: 1, ...SAMPLE },
      ],
    });
    await waitFor("the host is asked both", () => open.size === 2);
    expect(textOf(await host.call("asks", "withdraw"))).toBe("withdrawn");
    expect(textOf(await asking)).toBe("went on without an answer");
    expect([...open]).toEqual([]);
    await host.call("asks", "withdraw");
    expect(host.ledger("asks").filter(({ message }) => message?.method === undefined && message !== undefined)).toEqual(
      [],
    );
  });

  test("an open question is withdrawn from the host when the connection ends", async () => {
    let withdrawn = false;
    let asked = (): void => undefined;
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const services: HostServices = {
      elicit: (_params, { signal }) => {
        asked();
        signal.addEventListener("abort", () => {
          withdrawn = true;
        });
        return new Promise(() => undefined);
      },
    };
    const host = make({ services }).serve("asks", "messages", "ask");
    const step = host.callStep("asks", "ask", { questions: [FORM] });
    await asking;
    await host.shutdown();
    expect(withdrawn).toBe(true);
    expect(step.poll()).toMatchObject({ tag: "err", code: "closed" });
    step.destroy();
  });
});

describe("notifications of a server", () => {
  test("odd notifications, and a cancellation of our own request, are ignored [B09]", async () => {
    const host = make().serve("odd", "messages", "odd-notifications");
    expect(textOf(await host.call("odd", "echo"))).toBe("survived");
  });

  test("20,000 log messages before the answer reach the host's log and nothing else [B09]", async () => {
    let logged = 0;
    const log = (entry: { level: string; server: string; message: string }): void => {
      if (entry.server === "flood" && entry.level === "info") logged++;
    };
    const host = make({ services: { log } }).serve("flood", "messages", "notification-flood");
    expect(textOf(await host.call("flood", "echo"))).toBe("after the flood");
    expect(logged).toBe(20_000);
  });

  test("a log message of a level that does not exist is taken for information", async () => {
    const levels: string[] = [];
    const log = ({ level }: { level: string }): void => void levels.push(level);
    const host = make({ services: { log } }).serve("agent", "agent");
    for (const level of ["critical", "warn", "x".repeat(100_000), 7])
      await host.call("agent", "log", { level, message: "m" });
    expect(levels).toEqual(["critical", "info", "info", "info"]);
  });

  test("500 changes of the list cause no discovery [B09]", async () => {
    const host = make().serve("storm", "messages", "list-changed-storm");
    expect(textOf(await host.call("storm", "echo"))).toBe("after the storm");
    expect(host.received("storm", "tools/list")).toHaveLength(1);
  });

  test.each([
    ["throws", () => raise("disk full")],
    ["rejects", async () => raise("disk full")],
  ])("a log service that %s does not lose the answer, and the host is told once", async (_, log) => {
    const warn = jest.spyOn(process, "emitWarning").mockReturnValue();
    try {
      const host = make({ services: { log } }).serve("batch", "messages", "batch");
      expect(textOf(await host.call("batch", "echo", { text: "kept" }))).toBe("kept");
      expect(warn.mock.calls.map(([warning]) => warning)).toEqual([expect.stringContaining("disk full")]);
    } finally {
      warn.mockRestore();
    }
  });
});

function raise(reason: string): never {
  throw new Error(reason);
}

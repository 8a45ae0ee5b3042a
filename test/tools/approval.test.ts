import { describe, expect, jest, test } from "@jest/globals";
import type { ApprovalRequest, HostServices, ServerContext } from "../../src/contract.ts";
import { harnesses, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();

interface Asked {
  readonly request: ApprovalRequest;
  readonly context: ServerContext;
}

/** A host that answers every question in the same way, and what it was asked. */
function asking(answer: (request: ApprovalRequest) => unknown): {
  services: HostServices;
  asked: Asked[];
  actions: () => string[];
} {
  const asked: Asked[] = [];
  const approve = async (request: ApprovalRequest, context: ServerContext): Promise<boolean> => {
    asked.push({ request, context });
    return (await answer(request)) as boolean;
  };
  return { services: { approve }, asked, actions: () => asked.map(({ request }) => request.action) };
}

describe("approval", () => {
  test("is asked before a server starts and before a tool is called, with what will run and the arguments", async () => {
    const { services, asked } = asking(() => true);
    const host = make({ services }).serve("plain", "processes", "plain");
    expect(textOf(await host.call("plain", "echo", { text: "approved" }))).toBe("approved");
    expect(asked.map(({ request }) => request)).toEqual([
      {
        server: "plain",
        action: "start",
        command: process.execPath,
        args: [expect.stringContaining("processes.mjs"), "plain"],
        env: { LEDGER: expect.stringContaining("plain.ledger") },
        configPath: host.configPath,
      },
      { server: "plain", action: "call", tool: "echo", arguments: { text: "approved" } },
    ]);
    for (const { context } of asked)
      expect(context).toMatchObject({
        server: "plain",
        cwd: host.folder,
        sessionId: expect.stringContaining("session"),
      });
  });

  test.each([
    ["false", () => false],
    ["something else than true", () => "yes"],
    ["a failure", () => Promise.reject(new Error("no terminal"))],
  ])("that is answered with %s ends in denied, and nothing was started", async (_, answer) => {
    const { services } = asking(answer);
    const host = make({ services }).serve("plain", "processes", "plain");
    for (const { code, message } of [await host.callFailure("plain", "echo"), await host.listFailure("plain")]) {
      expect(code).toBe("denied");
      expect(message).toContain('"plain"');
    }
    expect(host.ledger("plain")).toEqual([]);
  });

  test("that fails is told to the host's author, whom the denial tells nothing of it", async () => {
    const warn = jest.spyOn(process, "emitWarning").mockReturnValue();
    try {
      const { services } = asking(() => Promise.reject(new Error("no terminal")));
      await make({ services }).serve("plain", "processes", "plain").listFailure("plain");
      expect(warn.mock.calls).toEqual([["rpi-mcp-adapter: the host's approve service failed: no terminal"]]);
    } finally {
      warn.mockRestore();
    }
  });

  test("of a call that is refused ends in denied, and nothing was sent", async () => {
    const { services } = asking(({ action }) => action === "start");
    const host = make({ services }).serve("plain", "processes", "plain");
    const failure = await host.callFailure("plain", "echo");
    expect(failure).toMatchObject({ code: "denied", details: { server: "plain", tool: "echo" } });
    const raw = await host.failure("mcp_request", {
      configPath: host.configPath,
      server: "plain",
      method: "tools/call",
      params: { name: "echo" },
    });
    expect(raw.code).toBe("denied");
    expect(host.received("plain", "tools/call")).toEqual([]);
  });

  test("of a start is asked once for each entry and session, and anew when the entry changes", async () => {
    const { services, actions } = asking(() => true);
    const host = make({ services }).serve("plain", "processes", "plain", { autoApprove: ["*"] });
    await host.call("plain", "echo");
    await host.call("plain", "echo");
    await host.run("mcp_list", { configPath: host.configPath, server: "plain", action: "close" });
    await host.call("plain", "echo");
    expect(actions()).toEqual(["start"]);
    host.serve("plain", "processes", "plain", { autoApprove: ["*"], env: { OTHER: "1" } });
    await host.call("plain", "echo");
    expect(actions()).toEqual(["start", "start"]);
    host.context = { cwd: host.folder, sessionId: "another" };
    await host.call("plain", "echo");
    expect(actions()).toEqual(["start", "start", "start"]);
  });

  test("of a start that was refused is asked again by the next call", async () => {
    let allow = false;
    const { services, actions } = asking(() => allow);
    const host = make({ services }).serve("plain", "processes", "plain", { autoApprove: ["*"] });
    expect((await host.callFailure("plain", "echo")).code).toBe("denied");
    allow = true;
    await host.call("plain", "echo");
    expect(actions()).toEqual(["start", "start"]);
  });

  test("of a start is asked once by parallel first calls", async () => {
    const { services, actions } = asking(() => new Promise((resolve) => setTimeout(() => resolve(true), 100)));
    const host = make({ services }).serve("plain", "processes", "plain", { autoApprove: ["echo"] });
    await Promise.all(Array.from({ length: 10 }, () => host.call("plain", "echo")));
    expect(actions()).toEqual(["start"]);
    expect(host.pids("plain")).toHaveLength(1);
  });

  test.each([
    [
      "disabled",
      (host: PluginHarness) => host.serve("plain", "processes", "plain", { enabled: false }),
      "server_disabled",
    ],
    ["removed", (host: PluginHarness) => host.configure("plain", undefined), "server_not_found"],
    ["another program", (host: PluginHarness) => host.serve("plain", "processes", "stubborn"), "denied"],
  ])("of a start whose entry is %s meanwhile starts nothing", async (_, edit, code) => {
    const { services, actions } = asking(() => {
      edit(host);
      return true;
    });
    const host = make({ services }).serve("plain", "processes", "plain");
    const params = { configPath: host.configPath, server: "plain" };
    const failures = [await host.callFailure("plain", "echo")];
    host.serve("plain", "processes", "plain", { env: { OTHER: "1" } });
    failures.push(await host.listFailure("plain"));
    host.serve("plain", "processes", "plain", { env: { OTHER: "2" } });
    failures.push(await host.failure("mcp_request", { ...params, method: "ping" }));
    for (const failure of failures)
      expect(failure).toMatchObject({ code, message: expect.stringContaining('"plain"') });
    expect(actions()).toEqual(["start", "start", "start"]);
    expect(host.ledger("plain")).toEqual([]);
  });

  test("of a start stands where the entry changes in what is not the start alone", async () => {
    const { services, actions } = asking(({ action }) => {
      if (action === "start") host.serve("plain", "processes", "plain", { timeout: 30 });
      return true;
    });
    const host = make({ services }).serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    expect(actions()).toEqual(["start", "call"]);
  });

  test("is not asked of a call that autoApprove names, by pattern or by name", async () => {
    const { services, asked } = asking(() => true);
    const host = make({ services }).serve("crash", "processes", "crash", { autoApprove: ["f*e", "*-std"] });
    await host.call("crash", "fine");
    expect(asked.map(({ request }) => request.action)).toEqual(["start"]);
    await host.callFailure("crash", "half");
    expect(asked.map(({ request }) => request.tool)).toEqual([undefined, "half"]);
  });

  test("that is still open when the call is cancelled is withdrawn, and nothing is started or sent", async () => {
    for (const stage of ["start", "call"]) {
      let withdrawn = false;
      let open = false;
      const approve = (request: ApprovalRequest, { signal }: ServerContext): Promise<boolean> => {
        if (request.action !== stage) return Promise.resolve(true);
        open = true;
        signal.addEventListener("abort", () => {
          withdrawn = true;
        });
        return new Promise(() => undefined);
      };
      const host = make({ services: { approve } }).serve("plain", "processes", "plain");
      const step = host.callStep("plain", "echo");
      await waitFor("the question is open", () => open);
      step.cancel();
      expect(step.poll()).toMatchObject({ tag: "err", code: "cancelled" });
      step.destroy();
      expect(withdrawn).toBe(true);
      expect(host.received("plain", "tools/call")).toEqual([]);
      if (stage === "start") expect(host.ledger("plain")).toEqual([]);
    }
  });

  test("that one caller withdraws is asked again for the other", async () => {
    let questions = 0;
    const approve = (_request: ApprovalRequest, { signal }: ServerContext): Promise<boolean> => {
      questions++;
      return questions === 1
        ? new Promise((resolve) => signal.addEventListener("abort", () => resolve(false)))
        : Promise.resolve(true);
    };
    const host = make({ services: { approve } }).serve("plain", "processes", "plain", { autoApprove: ["*"] });
    const first = host.callStep("plain", "echo");
    const second = host.call("plain", "echo", { text: "second" });
    await waitFor("the question is open", () => questions === 1);
    first.cancel();
    first.destroy();
    expect(textOf(await second)).toBe("second");
    expect(questions).toBe(2);
  });
});

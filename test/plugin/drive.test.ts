import { EventEmitter, getEventListeners, getMaxListeners, setMaxListeners } from "node:events";
import { describe, expect, it } from "@jest/globals";
import type { StepHandle, StepResult } from "../../src/contract.ts";
import { drive } from "../../src/plugin/drive.ts";

/** A handle of another plugin's, which settles when it is cancelled. */
function foreign(poll: () => StepResult): StepHandle & { readonly calls: string[] } {
  const calls: string[] = [];
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return {
    calls,
    settled,
    poll,
    cancel: () => {
      calls.push("cancel");
      settle();
    },
    destroy: () => void calls.push("destroy"),
  };
}

const DEAF = { addEventListener: () => undefined, removeEventListener: () => undefined };

function unlimited(): AbortSignal {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  return signal;
}

describe("driving a handle", () => {
  it("that nobody watches ends with its end, and destroys it", async () => {
    const result = { content: [] };
    const handle = foreign(() => ({ tag: "done", result }));
    const driven = drive(handle);
    handle.cancel();
    expect(await driven).toBe(result);
    expect(handle.calls).toEqual(["cancel", "destroy"]);
  });

  it("may be done for any number of handles with one signal, without a warning, and leaves the signal as it was", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const before = 10;
    setMaxListeners(before, signal);
    const driven = Array.from({ length: before + 5 }, () =>
      drive(
        foreign(() => ({ tag: "done", result: { content: [] } })),
        { signal },
      ),
    );
    expect(getMaxListeners(signal)).toBeGreaterThanOrEqual(getEventListeners(signal, "abort").length);
    controller.abort();
    await Promise.all(driven);
    expect(getMaxListeners(signal)).toBe(before);
  });

  it("leaves a signal without a limit of listeners without one, where Node tells that it has none", async () => {
    // As newer Nodes do of every signal: the limit is told as 0.
    const signal = Object.assign(new EventEmitter().setMaxListeners(0), { aborted: false, ...DEAF });
    const handle = foreign(() => ({ tag: "done", result: { content: [] } }));
    const driven = drive(handle, { signal: signal as unknown as AbortSignal });
    expect(signal.getMaxListeners()).toBe(0);
    handle.cancel();
    await driven;
    expect(signal.getMaxListeners()).toBe(0);
  });

  it.each([
    ["without a limit of listeners", unlimited],
    ["that only looks like one", () => ({ aborted: false, ...DEAF })],
  ])("works with a signal %s", async (_, signal) => {
    const result = { content: [] };
    const handle = foreign(() => ({ tag: "done", result }));
    const driven = drive(handle, { signal: signal() as AbortSignal });
    handle.cancel();
    expect(await driven).toBe(result);
  });

  it.each([
    ["whose poll throws", () => Promise.resolve(), "this handle is broken"],
    ["that breaks its promise", () => Promise.reject(new Error("never")), "this handle is broken"],
  ])("%s is destroyed too", async (_, settled, message) => {
    const handle = {
      ...foreign(() => {
        throw new Error("this handle is broken");
      }),
      settled: settled(),
    };
    await expect(drive(handle)).rejects.toThrow(message);
    expect(handle.calls).toEqual(["destroy"]);
  });

  it("whose poll throws while the step runs fails this call, and not the process", async () => {
    const handle = foreign(() => {
      throw new Error("this handle is broken");
    });
    await expect(drive(handle, { onPartial: () => undefined })).rejects.toThrow("this handle is broken");
    expect(handle.calls).toEqual(["cancel", "destroy"]);
  });

  const broken = (): never => {
    throw new Error("this receiver is broken");
  };
  it.each([
    ["throws", broken],
    ["rejects with", async () => broken()],
  ])("ends with what its receiver of partial results %s, and cancels the step", async (_, onPartial) => {
    const handle = foreign(() => ({ tag: "pending" }));
    const partial = { content: [] };
    handle.poll = (onPartial) => {
      onPartial?.(partial);
      return { tag: "pending" };
    };
    await expect(drive(handle, { onPartial })).rejects.toThrow("this receiver is broken");
    expect(handle.calls).toEqual(["cancel", "destroy"]);
  });
});

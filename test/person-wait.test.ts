import { describe, expect, test } from "@jest/globals";
import { PersonWait } from "../src/person-wait.ts";

const TIMEOUT_MS = 60_000;

describe("a deadline that has come", () => {
  test("stands where no person was ever awaited", () => {
    expect(new PersonWait().putOff(TIMEOUT_MS)).toBe(0);
  });

  test("is put off whole while a person is awaited, by however many", () => {
    const wait = new PersonWait();
    const [first, second] = [wait.begin(), wait.begin()];
    first();
    first();
    expect(wait.putOff(TIMEOUT_MS)).toBe(TIMEOUT_MS);
    second();
    expect(wait.putOff(TIMEOUT_MS)).toBeLessThanOrEqual(TIMEOUT_MS);
  });

  test("begins anew with the end of the wait", () => {
    const wait = new PersonWait();
    wait.begin()();
    expect(wait.putOff(TIMEOUT_MS)).toBeGreaterThan(0);
    expect(wait.putOff(0)).toBe(0);
  });
});

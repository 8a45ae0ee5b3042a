import { homedir } from "node:os";
import { parse, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { homeFolder } from "../src/home-folder.ts";

const unknown = (): never => {
  throw Object.assign(new Error("A system error occurred: uv_os_homedir returned ENOENT"), {
    code: "ERR_SYSTEM_ERROR",
  });
};

test("the home folder is the one that Node says", () => {
  expect(homeFolder()).toBe(homedir());
});

test.each(["", ".", "home"])(
  "where HOME is %j it is the one of the system's users, so that no project's file is taken for the user's",
  (variable) => {
    expect(homeFolder([() => variable, () => resolve("own")])).toBe(resolve("own"));
  },
);

test("a user whom the system does not know has the root, and no error", () => {
  expect(homeFolder([unknown, unknown])).toBe(parse(resolve(".")).root);
});

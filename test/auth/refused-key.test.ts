import { expect, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses } from "../support/plugin-harness.ts";

const make = harnesses();
const SAID = '{"error":"Your key has expired. Get a new one at https://keys.example"}';

function refusing(headers: Readonly<Record<string, string>>, body: string): Scenario {
  return {
    on: "*",
    post: (exchange) => exchange.respond(401, headers, body),
    get: (exchange) => exchange.respond(404, {}, "nothing here"),
  };
}

const server = FaultServer.forTests({
  plain: refusing({}, SAID),
  basic: refusing({ "www-authenticate": 'Basic realm="x"' }, SAID),
  page: refusing({ "content-type": "text/html" }, "<html><script>x</script><h1>Your key has expired.</h1></html>"),
  long: refusing({}, "x".repeat(200_000)),
  empty: refusing({}, ""),
  hangs: refusing({ "content-length": "1000" }, "Your key"),
  oauth: refusing({ "www-authenticate": 'Bearer resource_metadata="http://localhost/none"' }, '{"error":"no token"}'),
});

async function refusal(path: string, services: HostServices, oauth?: false): Promise<string> {
  const host = make({ services });
  host.configure("keyed", {
    type: "http",
    url: server.url(path),
    headers: { "X-Key": "old" },
    ...(oauth === false ? { oauth } : {}),
  });
  const { code, message } = await host.listFailure("keyed");
  expect(code).toBe("auth_required");
  return message;
}

test.each<[string, HostServices, false | undefined]>([
  ["nobody can be asked", {}, undefined],
  ["a sign-in fails", { openUrl: async () => undefined }, undefined],
  ["no sign-in is wanted", {}, false],
])("what a server says of a key that it refuses is told (%s)", async (_, services, oauth) => {
  for (const path of ["plain", "basic"]) expect(await refusal(path, services, oauth)).toContain(`says: ${SAID}`);
});

test("it is told in bounded length, without markup, and only where it says something", async () => {
  expect(await refusal("page", {})).toMatch(/ It says: Your key has expired\.$/);
  expect((await refusal("long", {})).length).toBeLessThan(600);
  expect(await refusal("empty", {})).not.toContain("says");
  expect(await refusal("hangs", {})).toMatch(/ It says: Your key…$/);
});

test("a challenge that leads to a sign-in says enough by itself", async () => {
  for (const services of [{}, { openUrl: async () => undefined }])
    expect(await refusal("oauth", services)).not.toContain("no token");
});

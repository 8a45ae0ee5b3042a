import { describe, expect, it } from "@jest/globals";
import {
  emptyRecord,
  type StoredClient,
  type StoredGrant,
  withClient,
  withDoubtIn,
  withGrant,
} from "../../../src/auth/store/record.ts";

const EMPTY = emptyRecord("https://mcp.example/");

function client(clientId: string, more: Partial<StoredClient> = {}): StoredClient {
  return { issuer: "https://as.example", kind: "registered", clientId, ...more };
}

function grant(clientId: string, more: Partial<StoredGrant> = {}): StoredGrant {
  return { ...client(clientId), resource: EMPTY.url, accessToken: "a", ...more } as StoredGrant;
}

describe("what is kept of the sign-ins to a server", () => {
  it("is the newest grant of each client and resource, and of the others the last", () => {
    let record = withGrant({ ...EMPTY, wantedScope: "write" }, grant("1", { accessToken: "old" }));
    const elsewhere = grant("1", { resource: "https://mcp.example/other" });
    record = withGrant(withGrant(record, elsewhere), grant("1", { accessToken: "new" }));
    expect(record).toEqual({ ...EMPTY, grants: [grant("1", { accessToken: "new" }), elsewhere] });
    for (const id of ["2", "3", "4", "5"]) record = withGrant(record, grant(id));
    expect(record.grants.map(({ clientId }) => clientId)).toEqual(["5", "4", "3", "2", "1"]);
  });

  it("is the newest registration at an authorization server, beside what tokens are renewed with and what the entry names", () => {
    const others = [client("theirs", { issuer: "https://other.example" }), client("mine", { kind: "preregistered" })];
    const record = { ...EMPTY, clients: [client("used"), client("unused"), ...others] };
    const signedIn = { ...record, grants: [grant("used", { refreshToken: "r" }), grant("unused")] };
    expect(withClient(signedIn, client("new")).clients).toEqual([client("new"), client("used"), ...others]);
    const changed = client("mine", { kind: "preregistered", redirectUri: "x" });
    expect(withClient(record, changed).clients).toEqual([changed, client("used"), client("unused"), others[0]]);
  });

  it("is a client that came to nothing only as long as tokens are renewed with it", () => {
    const record = { ...EMPTY, clients: [client("1"), client("2")], grants: [grant("1", { refreshToken: "r" })] };
    expect(withDoubtIn(record, client("1")).clients).toEqual([client("1", { doubtful: true }), client("2")]);
    expect(withDoubtIn(record, client("2")).clients).toEqual([client("1")]);
  });
});

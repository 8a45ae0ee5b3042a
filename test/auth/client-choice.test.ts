import { describe, expect, it } from "@jest/globals";
import { clientOf, mayUse } from "../../src/auth/client-choice.ts";
import type { AuthContext } from "../../src/auth/context.ts";
import { emptyRecord, type StoredClient, type StoredGrant } from "../../src/auth/store/record.ts";
import type { OAuthSettings } from "../../src/server-spec.ts";

const ISSUER = "https://as.example";
const DOCUMENT = "https://client.example/metadata.json";

describe("tokens in the store", () => {
  it.each<[string, boolean, OAuthSettings, Partial<StoredGrant>]>([
    ["of a registered client are used where the entry names none", true, {}, {}],
    ["are used where the entry names their authorization server", true, { issuer: ISSUER }, {}],
    ["of another authorization server than the entry's are not", false, { issuer: "https://other.example" }, {}],
    ["of a registered client are not used once the entry names its own", false, { clientId: "mine" }, {}],
    ["of the entry's own client are used", true, { clientId: "mine" }, { kind: "preregistered", clientId: "mine" }],
    ["of its own client of before are not", false, { clientId: "new" }, { kind: "preregistered", clientId: "mine" }],
    ["are not once it names no client any more", false, {}, { kind: "preregistered", clientId: "mine" }],
    [
      "of its metadata document are used",
      true,
      { clientMetadataUrl: DOCUMENT },
      { kind: "metadata", clientId: DOCUMENT },
    ],
    [
      "of another document are not",
      false,
      { clientMetadataUrl: `${DOCUMENT}2` },
      { kind: "metadata", clientId: DOCUMENT },
    ],
    ["of a document are not once it names none", false, {}, { kind: "metadata", clientId: DOCUMENT }],
  ])("%s (%j)", (_, used, settings, more) => {
    const grant = { kind: "registered", clientId: "c", issuer: ISSUER, ...more } as StoredGrant;
    expect(mayUse(grant, { settings } as AuthContext)).toBe(used);
  });

  it("are renewed as the client of their own authorization server, where another gave one the same name", () => {
    const [mine, others] = [ISSUER, "https://other.example"].map(
      (issuer): StoredClient => ({ kind: "registered", clientId: "1", issuer, clientSecret: `of ${issuer}` }),
    ) as [StoredClient, StoredClient];
    const grant = { kind: "registered", clientId: "1", issuer: ISSUER } as StoredGrant;
    const record = { ...emptyRecord("https://mcp.example/"), clients: [others, mine] };
    expect(clientOf(grant, { settings: {} } as AuthContext, record)).toBe(mine);
  });
});

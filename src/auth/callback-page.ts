/** What the person's browser shows after the authorization server sent it back. */
export interface CallbackPage {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

const CLOSE = "You may close this page and go back to where you came from.";

export const PAGES = {
  done: { status: 200, title: "Signed in", text: CLOSE },
  failed: { status: 400, title: "Sign-in failed", text: `Nothing was changed. The reason is shown there. ${CLOSE}` },
  again: { status: 409, title: "Already answered", text: `This sign-in has had its answer. ${CLOSE}` },
  stranger: {
    status: 400,
    title: "Not part of this sign-in",
    text: "This address does not belong to a sign-in that is waiting. Nothing was done with it. You may close this page.",
  },
  missing: { status: 404, title: "Nothing here", text: "Only the answer of a sign-in is expected at this address." },
} as const satisfies Record<string, CallbackPage>;

/** A page without scripts, links, remote parts or anything of the request. */
export function renderPage({ title, text }: CallbackPage): string {
  const style =
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${style}</style></head><body><h1>${title}</h1><p>${text}</p></body></html>
`;
}

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer", // The address of the page holds the code.
  "cache-control": "no-store",
  connection: "close",
};

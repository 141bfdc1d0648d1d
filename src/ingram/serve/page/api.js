// Asking the service. A refusal is an Error with the service's own line.

import { byId } from "./dom.js";

const KEY = "ingram-token";

function wantToken() {
  const dialog = byId("token-dialog");
  return new Promise((resolve) => {
    byId("token-form").onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem(KEY, byId("token").value);
      byId("token").value = "";
      dialog.close();
      resolve();
    };
    dialog.oncancel = (event) => event.preventDefault();
    if (!dialog.open) dialog.showModal();
  });
}

let waiting = null; // one dialog, however many requests were refused

async function asked(path, options) {
  const token = sessionStorage.getItem(KEY);
  const headers = { ...options.headers };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(path, { ...options, headers });
  if (answer.status === 401) {
    waiting ??= wantToken().finally(() => (waiting = null));
    await waiting;
    return asked(path, options);
  }
  const body = await answer.json().catch(() => ({ error: `the service said ${answer.status}` }));
  if (!answer.ok) throw new Error(body.error);
  return body;
}

export function get(path, params = {}, signal = undefined) {
  const given = Object.entries(params).filter(([, value]) => value != null);
  return asked(`${path}?${new URLSearchParams(given)}`, { signal });
}

export const post = (path, body) =>
  asked(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

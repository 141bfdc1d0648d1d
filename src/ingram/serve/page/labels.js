// IRIs as people write them: the longest prefix that fits, if nothing after it holds / or #.

let known = [];

export function usePrefixes(prefixes) {
  known = Object.entries(prefixes).sort((a, b) => b[1].length - a[1].length);
}

// What could turn or hide the text around it is spelled out.
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const spelled = (text) =>
  text.replace(UNSEEN, (letter) => `\\u${letter.codePointAt(0).toString(16).padStart(4, "0")}`);

export function short(label) {
  for (const [prefix, namespace] of known) {
    if (label.startsWith(namespace) && /^[^/#]+$/.test(label.slice(namespace.length))) {
      return spelled(`${prefix}:${label.slice(namespace.length)}`);
    }
  }
  return spelled(label);
}

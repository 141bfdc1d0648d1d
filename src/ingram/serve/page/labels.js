// IRIs as people write them: the longest prefix that fits, if nothing after it holds / or #.

let known = [];

export function usePrefixes(prefixes) {
  known = Object.entries(prefixes).sort((a, b) => b[1].length - a[1].length);
}

export function short(label) {
  for (const [prefix, namespace] of known) {
    if (label.startsWith(namespace) && /^[^/#]+$/.test(label.slice(namespace.length))) {
      return `${prefix}:${label.slice(namespace.length)}`;
    }
  }
  return label;
}

/** Returns the path of a member for error messages, such as `tools[0].name`. */
export function memberPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  // The name may be untrusted: quote it and limit its length, so that it stays on one line.
  if (!/^[\w$-]{1,100}(\[\w{1,10}\])?$/.test(key))
    return `${path}[${JSON.stringify(key.slice(0, 100))}]`;
  return path === '' ? key : `${path}.${key}`;
}

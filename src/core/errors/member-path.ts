/** The path of a member, as errors name it: `tools[0].name`. */
export function memberPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  // The name may come from anybody: it is neither long nor more than one line.
  if (!/^[\w$-]{1,100}(\[\w{1,10}\])?$/.test(key))
    return `${path}[${JSON.stringify(key.slice(0, 100))}]`;
  return path === '' ? key : `${path}.${key}`;
}
